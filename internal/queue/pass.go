package queue

import (
	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/shares"
	"github.com/placectl/placectl/placer/cycle"
)

// newPass begins a cycle.
func newPass(tx *kernel.Tx, spec CycleSpec) *pass {
	p := &pass{tx: tx, playing: *plays.In(tx), spec: spec, lifted: make(map[uint64][]kernel.Span),
		told: make(map[uint64]bool), absent: make(map[uint64]bool), held: make(map[uint64]jobs.HeldStart),
		why: make(map[uint64]row.Reason), EqualTo: make(map[uint64][]uint64), madeWay: make(map[uint64][]MadeWay),
		began: tx.State.Invalidations}
	if p.lists = new(lists); p.playing != nil {
		p.lists = &p.playing.lists
	}
	if p.lists.jobs == nil {
		p.lists.jobs = make(map[uint64]*row.Job)
	}
	p.jobs = p.lists.jobs
	clear(p.jobs)
	return p
}

// lists is a pass's memory for the queue. In a play, the next pass reuses it.
type lists struct {
	queue []*row.Job
	turns []*cycle.Job
	jobs  map[uint64]*row.Job
}

// pass is a cycle under way, and the host of package placer/cycle, which decides about the waiting
// jobs.
type pass struct {
	tally
	tx        *kernel.Tx
	playing   *Playing // nil outside of a play
	spec      CycleSpec
	lists     *lists
	queue     []*row.Job               // the jobs that may start, in order
	placed    []placedJob              // the jobs placed before them
	late      map[uint64]row.Reason    // jobs whose plans cannot be kept, and why
	absent    map[uint64]bool          // jobs without a process to start them
	aside     []*row.Job               // jobs that wait for something other than nodes
	jobs      map[uint64]*row.Job      // jobs of queue and aside, by number, with the decisions so far
	EqualTo   map[uint64][]uint64      // the equal jobs directly after one of the queue
	decider   *cycle.Pass              // of the queue
	told      map[uint64]bool          // the jobs in Never
	lifted    map[uint64][]kernel.Span // plans taken off the calendar to be made anew, by job
	delayed   map[uint64]bool          // jobs whose plans are blocked by an overdue job
	rank      map[uint64]int           // places of the waiting jobs in the queue; nil until needed
	following map[uint64][]*row.Job    // the jobs of aside that depend on the start of a job
	turn      map[uint64]int           // places of jobs in the queue, if not by priority
	claims    map[uint64]*row.Claim    // claims as they were before
	// the jobs preempted in this cycle, by the job that takes their room, 0 for the share of a class
	madeWay  map[uint64][]MadeWay
	why      map[uint64]row.Reason     // why a job was stopped in this cycle and requeued
	held     map[uint64]jobs.HeldStart // jobs whose start is decided but not carried out yet
	allotted *shares.Allotment         // nil without classes
	letting  *Letting                  // nil until needed
	began    uint64                    // the count of freed room when the cycle began
	looked   uint64                    // and when it came to the queue
}

// tally collects a CycleReport.
type tally struct {
	started, stopped, finished, planned, cancelled, launch []*row.Job

	never              []neverRuns
	waiting, unreached int
	next               int64 // the next instant at which the clock begins or ends something; 0 for never
	alone              bool  // only a cycle handles that instant: a begin time or a deadline
}

// at adds an instant at which something begins or ends.
func (t *tally) at(instant int64) {
	if t.next == 0 || instant < t.next {
		t.next = instant
	}
}

// standings records missed occurrences of standing reservations.
func (p *pass) standings() error { return plan.RetryStandings(p.tx, true) }

// schedule starts and plans the jobs of the queue.
func (p *pass) schedule() (err error) {
	ordered, err := reordered(p.tx)
	if err != nil {
		return err
	}
	freed, err := p.tx.Loaded.Freed.Read()
	if err != nil {
		return err
	}
	p.looked = p.tx.State.Invalidations
	making, err := p.making()
	if err != nil {
		return err
	}
	memory, err := p.playing.remembers(freed, ordered || p.allotted != nil)
	if err != nil {
		return err
	}
	p.decider = cycle.New(p, freed, cycle.Spec{Memory: memory, Depth: p.spec.depth(),
		InOrder:     p.spec.Backfill == kernel.FCFS,
		WidestFirst: p.spec.WidestFirst, Relaxed: p.spec.stands, Slack: p.spec.slack, Enough: p.spec.Enough,
		Preempter: making, Spare: p.playing.counts()}, p.tx.Now)
	p.tx.Loaded.Displaced = nil
	p.tx.Loaded.Releases.Often = true
	for anew := true; anew; {
		queue, err := p.inTurn(ordered)
		if err != nil {
			return err
		}
		if p.unreached, anew, err = p.decider.Run(queue); err == nil && !anew {
			anew, err = p.decider.Begin()
			anew = anew && p.unreached == 0
		}
		if err == nil && anew {
			err = p.listQueue()
			if err == nil {
				err = p.unclaim()
			}
			if err == nil {
				err = p.allot(true)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// inTurn lists the jobs in the order of their turns.
func (p *pass) inTurn(ordered bool) (queue []*cycle.Job, err error) {
	queue, line := append(p.lists.turns[:0], p.awaits()...), p.queue
	if p.allotted != nil {
		if line, err = p.allotted.Order(line, priorityIn(p.tx)); err != nil {
			return nil, err
		}
		ordered = true
	}
	p.rank, p.following = nil, nil
	if p.turn = nil; ordered {
		p.turn = make(map[uint64]int, len(line))
	}
	for i, j := range line {
		if ordered {
			p.turn[j.ID] = i
		}
		queue = append(queue, p.waits(j))
	}
	p.lists.turns = queue
	return queue, nil
}

// keep records which jobs the cycle has seen, and that it has seen all plans. The latter alone
// is not worth a commit, which would wake every process that waits for one.
func (p *pass) keep() error {
	tx := p.tx
	if tx.State.Looked != tx.State.NextJob {
		tx.State.Looked, tx.Dirty = tx.State.NextJob, true
	}
	if p.decider.Whole() && tx.State.Planned != p.looked && tx.Changed() {
		tx.State.Planned, tx.Dirty = p.looked, true
		tx.Loaded.Freed.Keep()
	}
	return nil
}

// soonest adds the starts of planned jobs and the ends of running ones.
func (p *pass) soonest() error {
	next, err := CycleOf(p.tx).NextChange()
	p.alone = p.next > 0 && (next.IsZero() || p.next < next.Unix())
	if !next.IsZero() {
		p.at(next.Unix())
	}
	return err
}

// waits describes a waiting job to package placer/cycle.
func (p *pass) waits(j *row.Job) *cycle.Job {
	p.jobs[j.ID] = j
	q := p.tx.Loaded.Queue.Queued(j)
	if q != nil && q.AsWas && j.State == row.JobQueued && len(p.late)+len(p.delayed)+len(p.absent) == 0 {
		return &q.Turn
	}
	planned := j.State == row.JobReserved
	late := planned && p.late[j.ID] != (row.Reason{})
	priority := j.Priority
	if p.turn != nil {
		priority = -2 * int64(p.turn[j.ID])
	}
	begin := j.Begin
	if p.absent[j.ID] {
		begin = max(begin, j.Start)
	}
	c := cycle.Job{ID: j.ID, Priority: priority, Owner: row.JobOwner(j.ID), Submit: j.Submit, Begin: begin,
		Deadline: j.Deadline,
		Planned:  planned, Start: j.Start, Promised: j.Promised, Earliest: j.Earliest, Late: late, Delayed: late ||
			p.delayed[j.ID], Never: j.Never, Alike: len(p.EqualTo[j.ID])}
	if p.allotted != nil {
		c.Class, _ = p.allotted.Place(j) // known since the queue was ordered
		if !planned {
			c.Lifts = p.allotted.Lifts(j)
		}
	}
	if q != nil {
		q.Turn.Renew(c)
		q.AsWas = j.State == row.JobQueued && len(p.late)+len(p.delayed)+len(p.absent) == 0 && p.turn == nil &&
			p.allotted == nil
		return &q.Turn
	}
	return &c
}
