package backfill

import "fmt"

// A Gate caps what starts in one pass over the queue: class shares do. Jobs are named
// by their places in the log.
type Gate interface {
	// Count notes that a job waits or runs, or no longer does: 1, 0 or -1 of each.
	Count(job int32, waiting, running int)
	// Pass begins a pass over the queue.
	Pass() error
	// Open reports whether a job may start in this pass, if it fits.
	Open(job int32) bool
}

// RunShared is Run with a gate. It has no conservative backfilling: there every job is
// promised a start when it is submitted, and a gate takes promises back.
func RunShared(procs int64, g Gate, jobs []Job, p Policy, progress func(started int) error) ([]int64, error) {
	first, end, err := check(procs, jobs)
	if err != nil || len(jobs) == 0 {
		return []int64{}, err
	}
	if p != FCFS && p != EASY {
		return nil, fmt.Errorf("there is no %s with shares", p)
	}
	m, err := newProcessors(jobs, procs, first, end)
	if err != nil {
		return nil, err
	}
	r := newReplay(jobs)
	q := &shared{queue: queue{sim: r, machine: m, easy: p == EASY}, gate: g, head: -1}
	starts, err := r.Run(q, progress)
	if n := len(q.waiting); n > 0 && err == nil {
		return nil, fmt.Errorf("%d jobs wait for good: the gate lets none of them start", n)
	}
	return starts, err
}

// shared is FCFS and EASY among the jobs that a gate lets through. A job that may not
// start in a pass keeps nobody else from it: the first that may and does not fit is
// the one that others must not delay.
type shared struct {
	queue
	gate Gate
	head int32 // the job that is planned, -1 for none
}

func (q *shared) Submitted(job int32, now int64) error {
	if _, err := q.machine.Pass(now); err != nil {
		return err
	}
	q.waiting = append(q.waiting, job)
	q.gate.Count(job, 1, 0)
	return q.pass(now)
}

func (q *shared) Ended(job int32, now int64) error {
	if _, err := q.machine.Pass(now); err != nil {
		return err
	}
	if err := q.machine.Leave(job); err != nil {
		return err
	}
	q.gate.Count(job, 0, -1)
	return q.pass(now)
}

func (q *shared) pass(now int64) error {
	if q.head >= 0 {
		if err := q.machine.Leave(q.head); err != nil {
			return err
		}
		q.head = -1
	}
	if err := q.gate.Pass(); err != nil {
		return err
	}
	kept, blocked := 0, false
	for _, job := range q.waiting {
		started := false
		if q.gate.Open(job) && (q.easy || !blocked) {
			var err error
			if started, err = q.try(job, now); err != nil {
				return err
			}
			if !started && !blocked {
				blocked = true
				if err := q.planHead(job); err != nil {
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
func (q *shared) try(job int32, now int64) (bool, error) {
	started, err := q.machine.Start(job)
	if started {
		q.sim.Decide(job, now)
		q.gate.Count(job, -1, 1)
	}
	return started, err
}

// planHead plans the first job that does not fit, so that nobody delays it.
func (q *shared) planHead(job int32) error {
	if !q.easy {
		return nil
	}
	q.head = job
	_, err := q.machine.Plan(job)
	return err
}
