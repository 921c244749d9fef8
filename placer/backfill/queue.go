package backfill

import "slices"

// A queue is FCFS and EASY. The plan of EASY's head stands until something comes
// free: until then nothing could be decided otherwise than in the pass before, so
// that of a submission only the new job need be tried.
type queue struct {
	sim     *Replay
	machine *processors
	waiting []int32
	easy    bool
	planned bool  // the head is
	headAt  int64 // for when
}

func (q *queue) Submitted(job int32, now int64) error {
	freed, err := q.machine.Pass(now)
	if err != nil {
		return err
	}
	q.waiting = append(q.waiting, job)
	switch {
	case freed || len(q.waiting) == 1 || q.planned && q.headAt <= now:
		return q.pass(now)
	case !q.easy:
		return nil
	}
	if err := q.planHead(); err != nil {
		return err
	}
	return q.backfill(len(q.waiting)-1, now)
}

func (q *queue) Ended(job int32, now int64) error {
	if _, err := q.machine.Pass(now); err != nil {
		return err
	}
	if err := q.machine.Leave(job); err != nil {
		return err
	}
	return q.pass(now)
}

// pass starts what may start now.
func (q *queue) pass(now int64) error {
	if q.planned {
		if err := q.machine.Leave(q.waiting[0]); err != nil {
			return err
		}
		q.planned = false
	}
	heads := 0
	for _, job := range q.waiting {
		started, err := q.machine.Start(job)
		if err != nil {
			return err
		}
		if !started {
			break
		}
		q.sim.Decide(job, now)
		heads++
	}
	q.waiting = q.waiting[heads:]
	if !q.easy || len(q.waiting) < 2 {
		return nil
	}
	if err := q.planHead(); err != nil {
		return err
	}
	return q.backfill(1, now)
}

// planHead plans the head for its earliest time, if it is not.
func (q *queue) planHead() (err error) {
	if !q.planned {
		q.headAt, err = q.machine.Plan(q.waiting[0])
		q.planned = err == nil
	}
	return err
}

// backfill starts, of the queue from a place on, what fits beside the head's plan.
func (q *queue) backfill(from int, now int64) error {
	kept := from
	for _, job := range q.waiting[from:] {
		started, err := q.machine.Start(job)
		if err != nil {
			return err
		}
		if started {
			q.sim.Decide(job, now)
			continue
		}
		q.waiting[kept] = job
		kept++
	}
	q.waiting = slices.Delete(q.waiting, kept, len(q.waiting))
	return nil
}
