package backfill

import "fmt"

// A Machine is what jobs are placed on, where that is more than a number of
// processors. Jobs are named by their places in the log. An error ends the run.
type Machine interface {
	// Pass lets time pass until now, and reports whether something came free by that: a
	// job whose request ends by then counts as gone.
	Pass(now int64) (freed bool, err error)
	// Start gives a job what it needs from now on, if that is free for all of its
	// request beside everything that runs and is planned.
	Start(job int32) (bool, error)
	// Plan gives a job what it needs from the earliest time at which it is free. One
	// that has a plan is moved there, and never to a later time.
	Plan(job int32) (start int64, err error)
	// Leave gives back what a job has, or had planned, if anything.
	Leave(job int32) error
}

// RunOn is Run on a machine, on which every job must fit when nothing else is on it.
// Of Job.Procs it makes nothing.
func RunOn(m Machine, jobs []Job, p Policy, progress func(started int) error) ([]int64, error) {
	if _, _, err := checkTimes(jobs); err != nil || len(jobs) == 0 {
		return []int64{}, err
	}
	s := newSimulation(jobs)
	var decider policy
	switch p {
	case FCFS, EASY:
		decider = &queue{sim: s, machine: m, easy: p == EASY}
	case Conservative:
		decider = &plans{sim: s, machine: m}
	default:
		return nil, fmt.Errorf("there is no %s", p)
	}
	return s.start, s.run(decider, progress)
}

// RunShared is RunOn with a gate. It has no conservative backfilling: there every job
// is promised a start when it is submitted, and a gate takes promises back.
func RunShared(m Machine, g Gate, jobs []Job, p Policy, progress func(started int) error) ([]int64, error) {
	if _, _, err := checkTimes(jobs); err != nil || len(jobs) == 0 {
		return []int64{}, err
	}
	if p != FCFS && p != EASY {
		return nil, fmt.Errorf("there is no %s with shares", p)
	}
	s := newSimulation(jobs)
	q := &shared{queue: queue{sim: s, machine: m, easy: p == EASY}, gate: g, head: -1}
	if err := s.run(q, progress); err != nil {
		return nil, err
	}
	if n := len(q.waiting); n > 0 {
		return nil, fmt.Errorf("%d jobs wait for good: the gate lets none of them start", n)
	}
	return s.start, nil
}

// Processors is a machine of so many processors, of which each job takes Job.Procs. It
// fails with ErrJob.
func Processors(procs int64, jobs []Job) (Machine, error) {
	first, end, err := check(procs, jobs)
	if err != nil {
		return nil, err
	}
	return newProcessors(jobs, procs, first, end)
}
