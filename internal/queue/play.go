package queue

import (
	"cmp"
	"slices"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/cycle"
)

// PlaySpec says how to play the queue forward.
type PlaySpec struct {
	Cycle CycleSpec
	Until time.Time   // zero for: until no more jobs start
	First int         // the most waiting jobs to play, the first in the queue; 0 for all
	Done  func() bool // reports between instants whether to stop; nil never stops

	Forgets bool // each pass examines everything again: for tests

	// total run time of a job that has run for a while; nil for its walltime
	Runs func(j *row.Job, ran int64) (int64, error)
}

// Played is a waiting job and its start in a play.
type Played struct {
	Job    uint64
	User   string
	Class  string // its own, else its user's
	CPUs   int64  // requested
	Submit time.Time
	Start  time.Time // zero if it does not start before the end of the play
}

// Play plays the queue forward in a transaction that Suppose has begun. Each job runs for its
// walltime, and there is a cycle whenever something ends, begins or may begin. No jobs are added to
// the queue or executed. It returns the waiting jobs by number. Do not use the transaction
// afterwards: it is at the last instant of the play.
func (cy Cycle) Play(spec PlaySpec) ([]Played, error) {
	p, err := play(cy.tx, spec)
	if err != nil {
		return nil, err
	}
	list := make([]Played, 0, len(p.Waiting))
	for _, j := range p.Waiting {
		class := j.Class
		if class == "" {
			if class, err = cy.tx.ClassOf(j.User); err != nil {
				return nil, err
			}
		}
		cpus, err := cpusOf(cy.tx, j)
		if err != nil {
			return nil, err
		}
		list = append(list, Played{Job: j.ID, User: j.User, Class: class, CPUs: cpus, Submit: kernel.Instant(j.Submit),
			Start: kernel.Instant(p.Started[j.ID])})
	}
	slices.SortFunc(list, func(a, b Played) int { return cmp.Compare(a.Job, b.Job) })
	return list, nil
}

// Playing is a play of the queue.
type Playing struct {
	Tx      *kernel.Tx
	spec    PlaySpec
	Waiting []*row.Job       // as they were before the play, in the order of the queue
	Behind  int              // number of jobs that wait behind them
	Started map[uint64]int64 // first start of each waiting job; 0 if none yet
	noted   int64            // the next begin time or deadline that the last pass found; 0 for none
	ends    ends             // of jobs that end before or after their walltime
	overrun map[uint64]int64 // until when jobs that were already past their end keep their nodes
	never   map[uint64]bool  // jobs that passes of this play found can never run
	Whole   bool             // it ran to its end: Done did not stop it

	Memory   *cycle.Memory
	lists    lists
	queue    kernel.PlayedQueue
	kinds    map[uint64]string         // of requests, by job; nil if reservations admit some jobs only
	requests map[string]*cycle.Request // of kinds
}

// plays holds the play that a transaction is for.
var plays kernel.Slot[*Playing]

// play plays the queue.
func play(tx *kernel.Tx, spec PlaySpec) (*Playing, error) {
	if !tx.File.Supposed() {
		return nil, file.ErrReadOnly
	}
	if err := spec.Cycle.asSet(tx); err != nil {
		return nil, err
	}
	p := &Playing{Tx: tx, spec: spec, Started: make(map[uint64]int64), never: make(map[uint64]bool), Whole: true}
	if err := p.Prepare(); err != nil {
		return nil, err
	}
	cyclesAs(tx, &p.spec.Cycle)
	until := int64(row.LastInstant)
	if !spec.Until.IsZero() {
		until = kernel.Unix(spec.Until)
	}
	idle, running := 0, uint64(0)
	for left := len(p.Waiting); left > 0 && tx.Now <= until && idle < mostIdle; idle++ {
		if spec.Done != nil && spec.Done() {
			p.Whole = false
			break
		}
		n, err := p.step()
		if err != nil {
			return nil, err
		}
		was := running
		if running, err = p.running(); err != nil {
			return nil, err
		}
		if left -= n; n > 0 || running != was {
			idle = 0
		}
		if idle&hopeEvery == 1 {
			if hope, err := p.hopes(); err != nil || !hope {
				return p, err
			}
		}
		next, ok, err := p.next()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		tx.Now, tx.Loaded.Overruns, *Orders.In(tx) = next, nil, nil
		tx.Calendar().SetNow(next)
	}
	return p, nil
}

// Bounds of plays, because repeating reservations would keep a play going forever.
const (
	mostIdle  = 1000 // a play ends after this many instants without a start or an end
	hopeEvery = 63   // mask of these: how often it checks whether any job could run at all
)

// running returns the number of running jobs.
func (p *Playing) running() (n uint64, err error) {
	queues, err := p.Tx.Loaded.Tallies.All()
	for _, q := range queues {
		n += q.Counts[row.JobRunning]
	}
	return n, err
}

// hopes reports whether a job that has not started could run on this cluster, as far as this play has
// found: marks of earlier cycles may be of a cluster with fewer nodes.
func (p *Playing) hopes() (bool, error) {
	for _, was := range p.Waiting {
		if p.Started[was.ID] != 0 || p.never[was.ID] {
			continue
		}
		if j, err := p.Tx.Job(was.ID); err != nil || j.State.Live() {
			return true, err
		}
	}
	return false, nil
}

// Prepare lists the waiting jobs, and makes running ones end at their walltimes, whatever executes
// them.
func (p *Playing) Prepare() error {
	tx := p.Tx
	*plays.In(tx), tx.Loaded.Queue, tx.Opt.Plays = p, &p.queue, true
	set, err := tx.Settings()
	if err != nil {
		return err
	}
	if !set.FinishOverdue {
		if err := p.goesOn(); err != nil {
			return err
		}
	}
	if err := tx.PutSetting("overdue", "finish"); err != nil {
		return err
	}
	if err := p.keepsRequests(); err != nil {
		return err
	}
	line, err := InOrder(tx)
	if err != nil {
		return err
	}
	for i, j := range line {
		if p.spec.First > 0 && len(p.Waiting) == p.spec.First {
			p.Behind = len(line) - i
			for _, j := range line[i:] {
				if err := tx.Loaded.Jobs.Unlist(row.Waiting, row.WaitingKey(j)); err != nil {
					return err
				}
			}
			break
		}
		was := *j
		p.Waiting, p.Started[j.ID] = append(p.Waiting, &was), 0
		if j.Attended || j.Attendant != nil {
			alone := *j
			alone.Attended, alone.Attendant = false, nil
			if err := jobs.PutJob(tx, &alone, j.State); err != nil {
				return err
			}
		}
	}
	return tx.EachJob(func(j *row.Job) error {
		j.Claimed, j.Launched = false, true
		if j.EndsByClock() {
			if err := tx.File.Mark(row.Changes, row.TimeKey(j.End, row.JobOwner(j.ID))); err != nil {
				return err
			}
		} else if err := p.runs(j, tx.Now-j.Start); err != nil {
			return err
		}
		return jobs.PutJob(tx, j, j.State)
	}, row.JobRunning)
}

// step does what is due at an instant, and returns how many jobs started for the first time.
func (p *Playing) step() (n int, err error) {
	tx := p.Tx
	if err := (&clockAdvance{tx: tx}).advance(); err != nil {
		return 0, err
	}
	if err := p.finish(); err != nil {
		return 0, err
	}
	c := newPass(tx, p.spec.Cycle)
	for _, step := range []func() error{c.standings, c.putOffs, c.listQueue, c.unclaim, c.shares, c.schedule,
		c.keepClaims, c.keepPutOffs, c.ages, c.keep, c.settle, c.launches} {
		if err := step(); err != nil {
			return 0, err
		}
	}
	p.noted = c.next
	for _, j := range c.launch {
		if at, waited := p.Started[j.ID]; waited && at == 0 {
			p.Started[j.ID] = j.Start
			n++
		}
		if err := p.runs(j, 0); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// next returns the next instant at which something ends, begins or may begin.
func (p *Playing) next() (at int64, ok bool, err error) {
	soonest := func(t int64) {
		if t > p.Tx.Now && (!ok || t < at) {
			at, ok = t, true
		}
	}
	for _, table := range []row.Table{row.Releases, row.Changes} {
		err := p.Tx.File.EachFrom(table, row.TimeKey(p.Tx.Now+1, 0), nil, func(key, _ []byte) (bool, error) {
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
	soonest(p.noted)
	err = p.spared(soonest)
	return at, ok, err
}

// cpusOf returns the cpus that a job asks for, or 0 if its request can no longer be read.
func cpusOf(tx *kernel.Tx, j *row.Job) (int64, error) {
	defs, err := tx.Resources()
	if err != nil {
		return 0, err
	}
	spec, err := placer.Parse(defs, placer.Request{Select: j.Select, Place: j.Place})
	if err != nil {
		return 0, kernel.PassOver(err)
	}
	for _, w := range spec.Totals(defs) {
		if w.Res == index.NCPUs {
			return w.Value.Num, nil
		}
	}
	return 0, nil
}
