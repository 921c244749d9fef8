package store

import (
	"cmp"
	"slices"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/cycle"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/store/internal/state"
)

// PlaySpec says how to play the queue forward.
type PlaySpec struct {
	Cycle CycleSpec
	Until time.Time   // the zero time: until no more jobs start
	First int         // so many waiting jobs at most, the first in the queue; 0: all
	Done  func() bool // reports between instants whether to stop; nil: never

	forgets bool // each pass finds out everything again: for tests

	runs func(j *row.Job, ran int64) (int64, error) // how long a job runs in all that has run for a while; nil: its walltime
}

// Played is a waiting job and its start in a play.
type Played struct {
	Job    uint64
	User   string
	Class  string // its own, else its user's
	CPUs   int64  // requested
	Submit time.Time
	Start  time.Time // zero: not before the end of the play
}

// Play plays the queue forward in a transaction that Suppose has begun. Each job runs for its
// walltime, and there is a cycle wherever something ends, begins or may begin. Nothing comes to
// the queue and no job is executed. It returns the waiting jobs by number. Do not use the
// transaction afterwards: it is at the last instant of the play.
func Play(tx *Tx, spec PlaySpec) ([]Played, error) {
	p, err := play(tx, spec)
	if err != nil {
		return nil, err
	}
	list := make([]Played, 0, len(p.waiting))
	for _, j := range p.waiting {
		class := j.Class
		if class == "" {
			if class, err = tx.ClassOf(j.User); err != nil {
				return nil, err
			}
		}
		cpus, err := tx.cpusOf(j)
		if err != nil {
			return nil, err
		}
		list = append(list, Played{Job: j.ID, User: j.User, Class: class, CPUs: cpus, Submit: instant(j.Submit), Start: instant(p.started[j.ID])})
	}
	slices.SortFunc(list, func(a, b Played) int { return cmp.Compare(a.Job, b.Job) })
	return list, nil
}

// playing is a play of the queue.
type playing struct {
	tx      *Tx
	spec    PlaySpec
	waiting []*row.Job       // as they were before the play, in the order of the queue
	behind  int              // how many more wait behind them
	started map[uint64]int64 // first start of each waiting job; 0: none yet
	begins  []int64          // begin times that are still to come
	ends    ends             // of jobs that end before or after their walltime
	overrun map[uint64]int64 // until when jobs that were past their end keep their nodes
	whole   bool             // Done has not stopped it

	memory   *cycle.Memory
	queue    playedQueue
	kinds    map[uint64]string         // of requests, by job; nil if reservations admit some jobs only
	requests map[string]*cycle.Request // of kinds
}

// plays has the play that a transaction is for.
var plays state.Slot[*playing]

// play plays the queue.
func play(tx *Tx, spec PlaySpec) (*playing, error) {
	if !tx.file.Supposed() {
		return nil, ErrReadOnly
	}
	if err := spec.Cycle.asSet(tx); err != nil {
		return nil, err
	}
	p := &playing{tx: tx, spec: spec, started: make(map[uint64]int64), whole: true}
	if err := p.prepare(); err != nil {
		return nil, err
	}
	tx.cyclesAs(&p.spec.Cycle)
	until := int64(row.LastInstant)
	if !spec.Until.IsZero() {
		until = unix(spec.Until)
	}
	idle := 0
	for left := len(p.waiting); left > 0 && tx.now <= until && idle < mostIdle; idle++ {
		if spec.Done != nil && spec.Done() {
			p.whole = false
			break
		}
		n, err := p.step()
		if err != nil {
			return nil, err
		}
		next, ok, err := p.next()
		if err != nil {
			return nil, err
		}
		if left -= n; !ok {
			break
		}
		if n > 0 {
			idle = 0
		}
		tx.now, tx.loaded.overruns, *orders.In(&tx.loaded.kept) = next, nil, nil
		tx.calendar().SetNow(next)
	}
	return p, nil
}

// mostIdle ends a play after so many instants at which no job started. Repeating reservations would
// keep it going for ever.
const mostIdle = 10_000

// prepare lists the waiting jobs and has running ones end at their walltimes, whatever executes them.
func (p *playing) prepare() error {
	tx := p.tx
	*plays.In(&tx.loaded.kept), tx.loaded.queue, tx.opt.plays = p, &p.queue, true
	set, err := tx.settings()
	if err != nil {
		return err
	}
	if !set.FinishOverdue {
		if err := p.goesOn(); err != nil {
			return err
		}
	}
	if err := tx.configure("overdue", "finish"); err != nil {
		return err
	}
	if err := p.keepsRequests(); err != nil {
		return err
	}
	line, err := tx.waiting().line()
	if err != nil {
		return err
	}
	for i, j := range line {
		if p.spec.First > 0 && len(p.waiting) == p.spec.First {
			p.behind = len(line) - i
			for _, j := range line[i:] {
				if err := tx.loaded.jobs.Unlist(row.Waiting, row.WaitingKey(j)); err != nil {
					return err
				}
			}
			break
		}
		was := *j
		p.waiting, p.started[j.ID] = append(p.waiting, &was), 0
		if j.Begin > tx.now {
			p.begins = append(p.begins, j.Begin)
		}
		if j.Attended || j.Attendant != nil {
			alone := *j
			alone.Attended, alone.Attendant = false, nil
			if err := tx.putJob(&alone, j.State); err != nil {
				return err
			}
		}
	}
	return tx.eachJob(func(j *row.Job) error {
		j.Claimed, j.Launched = false, true
		if j.EndsByClock() {
			if err := tx.file.Mark(row.Changes, row.TimeKey(j.End, row.JobOwner(j.ID))); err != nil {
				return err
			}
		} else if err := p.runs(j, tx.now-j.Start); err != nil {
			return err
		}
		return tx.putJob(j, j.State)
	}, JobRunning)
}

// step does what is due at an instant, and returns how many jobs started for the first time.
func (p *playing) step() (n int, err error) {
	tx := p.tx
	if err := (&clockAdvance{tx: tx}).advance(); err != nil {
		return 0, err
	}
	if err := p.finish(); err != nil {
		return 0, err
	}
	c := newPass(tx, p.spec.Cycle)
	for _, step := range []func() error{c.standings, c.putOffs, c.listQueue, c.unclaim, c.shares, c.schedule, c.keepClaims, c.keepPutOffs, c.ages, c.keep, tx.settle} {
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
		if err := p.runs(j, 0); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// next returns the next instant at which something ends, begins or may begin.
func (p *playing) next() (at int64, ok bool, err error) {
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
	if len(p.ends) > 0 {
		soonest(p.ends[0].at)
	}
	for _, t := range p.begins {
		soonest(t)
	}
	err = p.spared(soonest)
	return at, ok, err
}

// cpusOf returns the cpus that a job asks for, 0 if its request can no longer be read.
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
