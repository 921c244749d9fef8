package backfill

import "fmt"

// A Gate limits what starts in one pass over the queue, as class shares do. Jobs are named by their
// places in the log.
type Gate interface {
	// Count records that a job waits or runs, or no longer does: 1, 0 or -1 each.
	Count(job int32, waiting, running int)
	// Pass begins a pass over the queue.
	Pass() error
	// Open reports whether a job may start in this pass, if it fits.
	Open(job int32) bool
}

// RunShared is Run with a gate. It has no conservative backfilling, because there every job is promised
// a start at submission, and a gate would break promises.
func RunShared(procs int64, g Gate, jobs []Job, p Policy, progress func(started int) error) ([]int64, error) {
	if p != FCFS && p != EASY {
		return nil, fmt.Errorf("there is no %s with shares", p)
	}
	s, err := newSimulation(procs, jobs, p, 0)
	if err != nil || len(jobs) == 0 {
		return []int64{}, err
	}
	s.queue.gate = g
	starts, err := s.Replay.Run(s.scheduler, progress)
	if n := len(s.queue.waiting); n > 0 && err == nil {
		return nil, fmt.Errorf("%d jobs wait for good: the gate lets none of them start", n)
	}
	return starts, err
}

// A queue is FCFS and EASY among the jobs that a gate admits. A job that may not start in a pass blocks
// no other. The first job that may start and does not fit is the head, which others must not delay. Its
// plan stands until something comes free: without a gate nothing else could be decided before that, so
// after a submission only the new job is tried.
type queue struct {
	sim     *Replay
	machine *processors
	waiting []int32
	easy    bool
	gate    Gate  // nil for none
	head    int32 // the planned job, -1 for none
	headAt  int64 // its planned start
}

func (q *queue) Submitted(job int32, now int64) error {
	freed, err := q.machine.Pass(now)
	if err != nil {
		return err
	}
	q.waiting = append(q.waiting, job)
	if q.gate != nil {
		q.gate.Count(job, 1, 0)
	}
	last := len(q.waiting) - 1
	if q.gate != nil || freed || last == 0 || q.head >= 0 && q.headAt <= now {
		return q.pass(now)
	}
	if !q.easy {
		return nil
	}
	started, err := q.try(job, now)
	if started {
		q.waiting = q.waiting[:last]
	}
	return err
}

func (q *queue) Ended(job int32, now int64) error {
	if err := q.left(job, now); err != nil {
		return err
	}
	return q.pass(now)
}

// left records that a job has ended.
func (q *queue) left(job int32, now int64) error {
	if _, err := q.machine.Pass(now); err != nil {
		return err
	}
	if q.gate != nil {
		q.gate.Count(job, 0, -1)
	}
	return q.machine.Leave(job)
}

// pass starts jobs that can start now.
func (q *queue) pass(now int64) error {
	if q.head >= 0 {
		if err := q.machine.Leave(q.head); err != nil {
			return err
		}
		q.head = -1
	}
	if q.gate != nil {
		if err := q.gate.Pass(); err != nil {
			return err
		}
	}
	kept, blocked := 0, false
	for i, job := range q.waiting {
		if blocked && !q.easy {
			kept += copy(q.waiting[kept:], q.waiting[i:])
			break
		}
		started := false
		if q.gate == nil || q.gate.Open(job) {
			var err error
			if started, err = q.try(job, now); err != nil {
				return err
			}
			if !started && !blocked {
				if blocked, err = true, q.planHead(job); err != nil {
					return err
				}
			}
		}
		if !started {
			q.waiting[kept] = job
			kept++
		}
	}
	q.waiting = q.waiting[:kept]
	return nil
}

// try starts a job if it fits.
func (q *queue) try(job int32, now int64) (bool, error) {
	started, err := q.machine.Start(job)
	if started {
		q.sim.Decide(job, now)
		if q.gate != nil {
			q.gate.Count(job, -1, 1)
		}
	}
	return started, err
}

// planHead plans the first job that does not fit, so that no other delays it.
func (q *queue) planHead(job int32) (err error) {
	if !q.easy {
		return nil
	}
	q.head = job
	q.headAt, err = q.machine.Plan(job)
	return err
}
