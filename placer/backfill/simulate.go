package backfill

import (
	"fmt"
	"slices"

	"github.com/placectl/placectl/timeline"
)

// MaxProcs is the largest machine.
const MaxProcs = timeline.MaxTotal

// A simulation is the state of the machine at an instant, and what is to come.
type simulation struct {
	jobs  []Job
	order []int32 // the jobs as they are submitted
	start []int64 // of each job: when it starts, or is planned to
	turns int64   // decisions so far
	began int64   // starts so far

	next   int     // the next submission, in order
	ends   *events // of those that run
	starts *events // as they are decided
}

// A policy decides when jobs start, by calling simulation.decide.
type policy interface {
	submitted(job int32, now int64) error
	ended(job int32, now int64) error
}

// Run says when each job starts on a machine of so many processors. It fails
// with ErrJob. progress, when it is not nil, is told after every start how many
// there were, and ends the run with its error.
func Run(procs int64, jobs []Job, p Policy, progress func(started int) error) ([]int64, error) {
	first, end, err := check(procs, jobs)
	if err != nil || len(jobs) == 0 {
		return []int64{}, err
	}
	s := newSimulation(jobs)
	var decider policy
	switch p {
	case FCFS, EASY:
		var m *processors
		m, err = newProcessors(jobs, procs, first, end)
		decider = &queue{sim: s, machine: m, easy: p == EASY}
	case Conservative:
		decider = newPlan(s, procs)
	default:
		err = fmt.Errorf("there is no %s", p)
	}
	if err != nil {
		return nil, err
	}
	return s.start, s.run(decider, progress)
}

func newSimulation(jobs []Job) *simulation {
	return &simulation{jobs: jobs, order: submissions(jobs), start: make([]int64, len(jobs)), ends: newEvents(len(jobs)), starts: newEvents(len(jobs))}
}

// submissions is the order of the log, or that of time where the log is out of
// it.
func submissions(jobs []Job) []int32 {
	order := make([]int32, len(jobs))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		switch x, y := jobs[a].Submit, jobs[b].Submit; {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	return order
}

// run goes from event to event.
func (s *simulation) run(p policy, progress func(int) error) error {
	for {
		kind, at := s.upcoming()
		var err error
		switch kind {
		case submission:
			s.next++
			err = p.submitted(s.order[s.next-1], at)
		case end:
			err = p.ended(s.ends.pop().job, at)
		case start:
			job := s.starts.pop().job
			s.began++
			s.ends.set(event{at + s.jobs[job].Run, s.began, job})
			if progress != nil {
				err = progress(int(s.began))
			}
		default:
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Kinds of events, in the order in which those of one instant happen.
const (
	submission = iota
	end
	start
	nothing
)

// upcoming is the next event.
func (s *simulation) upcoming() (kind int, at int64) {
	kind = nothing
	if s.starts.Len() > 0 {
		kind, at = start, s.starts.First().at
	}
	if s.ends.Len() > 0 && (kind == nothing || s.ends.First().at <= at) {
		kind, at = end, s.ends.First().at
	}
	if s.next < len(s.order) {
		if t := s.jobs[s.order[s.next]].Submit; kind == nothing || t <= at {
			kind, at = submission, t
		}
	}
	return kind, at
}

// decide has a job start at an instant, in place of what was decided before.
func (s *simulation) decide(job int32, at int64) {
	s.turns++
	s.start[job] = at
	s.starts.set(event{at, s.turns, job})
}
