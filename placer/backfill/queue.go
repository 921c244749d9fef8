package backfill

import (
	"slices"

	"github.com/placectl/placectl/timeline"
)

// A queue is FCFS and EASY. What runs is in a plan with its request; the queue
// has no place there, except for its head while others are tried.
type queue struct {
	sim     *simulation
	running *timeline.Planner
	span    []timeline.SpanID // of each running job
	waiting []int32
	easy    bool
}

func newQueue(s *simulation, procs, first, end int64, easy bool) (*queue, error) {
	running, err := timeline.New(procs, first, end)
	return &queue{sim: s, running: running, span: make([]timeline.SpanID, len(s.jobs)), easy: easy}, err
}

func (q *queue) submitted(job int32, now int64) error {
	q.waiting = append(q.waiting, job)
	return q.pass(now)
}

func (q *queue) ended(job int32, now int64) error {
	if err := q.running.Remove(q.span[job]); err != nil {
		return err
	}
	return q.pass(now)
}

// pass starts what may start now.
func (q *queue) pass(now int64) error {
	free, err := q.running.FreeAt(now)
	if err != nil {
		return err
	}
	heads := 0
	for _, job := range q.waiting {
		// What runs only ends, so what is free now is free from now on.
		if q.sim.jobs[job].Procs > free {
			break
		}
		if err := q.begin(job, now); err != nil {
			return err
		}
		free -= q.sim.jobs[job].Procs
		heads++
	}
	q.waiting = q.waiting[heads:]
	if !q.easy || len(q.waiting) < 2 || free == 0 {
		return nil
	}
	return q.backfill(now, free)
}

// backfill plans the head, and starts of the rest what fits beside it.
func (q *queue) backfill(now, free int64) error {
	head := q.sim.jobs[q.waiting[0]]
	at, err := q.running.EarliestStart(now, head.Request, head.Procs)
	if err != nil {
		return err
	}
	plan, err := q.running.Add(timeline.Span{Start: at, Duration: head.Request, Amount: head.Procs})
	if err != nil {
		return err
	}
	for i := 1; i < len(q.waiting) && free > 0; {
		job := q.waiting[i]
		j := &q.sim.jobs[job]
		if j.Procs > free {
			i++
			continue
		}
		fits, err := q.running.Fits(now, j.Request, j.Procs)
		if err != nil {
			return err
		}
		if !fits {
			i++
			continue
		}
		if err := q.begin(job, now); err != nil {
			return err
		}
		free -= j.Procs
		q.waiting = slices.Delete(q.waiting, i, i+1)
	}
	return q.running.Remove(plan)
}

// begin starts a job.
func (q *queue) begin(job int32, now int64) (err error) {
	j := &q.sim.jobs[job]
	q.span[job], err = q.running.Add(timeline.Span{Start: now, Duration: j.Request, Amount: j.Procs})
	q.sim.decide(job, now)
	return err
}
