package store

import (
	"cmp"
	"slices"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/preempt"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/store/internal/sharing"
)

// Played is what becomes of a waiting job when the queue is played forward.
type Played struct {
	Job    uint64
	User   string
	Class  string // the one that it named, else that of its user
	CPUs   int64  // that it asked for
	Submit time.Time
	Start  time.Time // zero: not before the end of the play
}

// Play plays the queue forward in a transaction until an instant: each job runs for its
// walltime, and wherever something ends, begins or may begin there is a cycle as spec says.
// Nothing comes to the queue, and nobody has to execute anything. It returns the jobs that
// wait, by number. The transaction is at that instant then, and worth nothing any more: it
// is one of DryRun.
func Play(tx *Tx, spec CycleSpec, until time.Time) ([]Played, error) {
	if !tx.Writable() {
		return nil, ErrReadOnly
	}
	if err := spec.asSet(tx); err != nil {
		return nil, err
	}
	p := &play{tx: tx, spec: spec, started: make(map[uint64]int64)}
	list, err := p.prepare()
	if err != nil {
		return nil, tx.spoil(err)
	}
	for left := len(list); left > 0 && tx.now <= unix(until); {
		n, err := p.step()
		if err != nil {
			return nil, tx.spoil(err)
		}
		next, ok, err := p.next()
		if err != nil {
			return nil, tx.spoil(err)
		}
		if left -= n; !ok {
			break
		}
		tx.now, tx.loaded.overruns = next, nil
		tx.calendar().SetNow(next)
	}
	for i := range list {
		list[i].Start = instant(p.started[list[i].Job])
	}
	return list, nil
}

// play is a queue that is played forward.
type play struct {
	tx      *Tx
	spec    CycleSpec
	started map[uint64]int64 // when those who waited have started for the first time; 0: not yet
}

// prepare lists who waits, and has running jobs end at their walltime whoever executes them.
func (p *play) prepare() (list []Played, err error) {
	tx := p.tx
	tx.loaded.playing = true
	if err := tx.configure("overdue", "finish"); err != nil {
		return nil, err
	}
	err = tx.eachJob(func(j *row.Job) error {
		if !j.Queued {
			return nil
		}
		class := j.Class
		if class == "" {
			if class, err = tx.ClassOf(j.User); err != nil {
				return err
			}
		}
		cpus, err := tx.cpusOf(j)
		if err != nil {
			return err
		}
		list = append(list, Played{Job: j.ID, User: j.User, Class: class, CPUs: cpus, Submit: instant(j.Submit)})
		p.started[j.ID] = 0
		j.Attended, j.Attendant = false, nil
		return tx.putJob(j, j.State)
	}, JobQueued, JobReserved)
	if err != nil {
		return nil, err
	}
	return list, tx.eachJob(func(j *row.Job) error {
		j.Claimed, j.Launched = false, true
		if j.EndsByClock() {
			if err := tx.file.Mark(row.Changes, row.TimeKey(j.End, row.JobOwner(j.ID))); err != nil {
				return err
			}
		}
		return tx.putJob(j, j.State)
	}, JobRunning)
}

// cpusOf is how many cpus a job asks for, 0 where its request is not understood any more.
func (tx *Tx) cpusOf(j *row.Job) (int64, error) {
	defs, err := tx.Resources()
	if err != nil {
		return 0, err
	}
	spec, err := placer.Parse(defs, placer.Request{Select: j.Select, Place: j.Place})
	if err != nil {
		return 0, passOver(err)
	}
	for _, w := range spec.Totals(defs) {
		if w.Res == index.NCPUs {
			return w.Value.Num, nil
		}
	}
	return 0, nil
}

// step does what there is to do at an instant, and returns how many jobs have started that
// have not before.
func (p *play) step() (n int, err error) {
	tx := p.tx
	if err := (&passage{tx: tx}).advance(); err != nil {
		return 0, err
	}
	late, err := tx.overdue().jobs()
	if err != nil {
		return 0, err
	}
	for _, j := range late {
		if err := tx.overdue().finish(j); err != nil {
			return 0, err
		}
	}
	c := newPass(tx, p.spec)
	for _, step := range []func() error{c.putOffs, c.listQueue, c.shares, c.unclaim, c.schedule, c.keepClaims, c.keepPutOffs, c.ages, c.keep} {
		if err := step(); err != nil {
			return 0, err
		}
	}
	ids, err := tx.toBeLaunched()
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		j, err := tx.job(id)
		if err != nil {
			return 0, err
		}
		if at, waited := p.started[id]; waited && at == 0 {
			p.started[id] = j.Start
			n++
		}
		j.Launched = true
		if err := tx.putJob(j, j.State); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// next is the next instant at which something ends, begins, or may begin.
func (p *play) next() (at int64, ok bool, err error) {
	soonest := func(t int64) {
		if t > p.tx.now && (!ok || t < at) {
			at, ok = t, true
		}
	}
	for _, table := range []row.Table{row.Releases, row.Changes} {
		err := p.tx.file.EachFrom(table, row.TimeKey(p.tx.now+1, 0), nil, func(key, _ []byte) (bool, error) {
			t, _ := row.SplitTimeKey(key)
			soonest(t)
			return false, nil
		})
		if err != nil {
			return 0, false, err
		}
	}
	err = p.tx.file.Each(row.Waiting, nil, func(key, _ []byte) (bool, error) {
		j, err := p.tx.waiting().byKey(key)
		if err == nil {
			soonest(j.Begin)
		}
		return true, err
	})
	if err == nil {
		err = p.spared(soonest)
	}
	return at, ok, err
}

// spared tells of the instants at which running jobs have run for so long that they may make way
// for one that waits.
func (p *play) spared(at func(int64)) error {
	ranks, err := sharing.Ranks(p.tx.file)
	if ranks == nil || err != nil {
		return err
	}
	m := &making{pass: &pass{tx: p.tx}}
	asking := make(map[preempt.Subject]bool)
	err = p.tx.eachJob(func(j *row.Job) error {
		who, err := m.subjectOf(j)
		if err == nil && j.Queued && ranks.Left(who) {
			asking[who] = true
		}
		return err
	}, JobQueued, JobReserved)
	if err != nil || len(asking) == 0 && ranks.Soft() == nil {
		return err
	}
	return p.tx.eachJob(func(j *row.Job) error {
		is, err := m.subjectOf(j)
		if err != nil || !j.Queued {
			return err
		}
		if soft := ranks.Soft(); soft != nil {
			at(j.Start + soft.MinRun)
		}
		for who := range asking {
			if rule := ranks.Over(who, is); rule != nil && !rule.Spares(rule.MinRun, len(j.YieldedTo)) {
				at(j.Start + rule.MinRun)
			}
		}
		return nil
	}, JobRunning)
}

// MadeWay is a job that would be stopped for another.
type MadeWay struct {
	Job     uint64
	Becomes JobState  // queued again, or cancelled
	Until   time.Time // when its nodes are the other's at the latest
	Rule    string    // by which
}

// MayStop reports whether others may come to make way for a job: it waits, and goes before some
// by a rule.
func MayStop(tx *Tx, id uint64) (bool, error) {
	j, err := tx.job(id)
	if err != nil || !j.Queued || j.State != JobQueued && j.State != JobReserved {
		return false, err
	}
	ranks, err := sharing.Ranks(tx.file)
	if ranks == nil || err != nil {
		return false, err
	}
	who, err := (&making{pass: &pass{tx: tx}}).subjectOf(j)
	return ranks.Left(who) || ranks.Soft() != nil, err
}

// WouldStop lists whom a cycle would stop now for a waiting job. It makes one: the transaction is
// worth nothing any more, and is one of DryRun.
func WouldStop(tx *Tx, id uint64) ([]MadeWay, error) {
	p, err := tx.cycle(CycleSpec{})
	if err != nil {
		return nil, err
	}
	out := p.madeWay[id]
	slices.SortFunc(out, func(a, b MadeWay) int { return cmp.Compare(a.Job, b.Job) })
	return out, nil
}
