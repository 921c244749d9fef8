package backfill

import (
	"fmt"
	"slices"

	"github.com/placectl/placectl/timeline"
)

// MaxProcs is the largest machine.
const MaxProcs = timeline.MaxTotal

// A Replay goes through what happens to the jobs of a log, from event to event.
type Replay struct {
	jobs  []Job
	order []int32 // the jobs as they are submitted
	start []int64 // of each job: when it starts, or is planned to
	turns int64   // decisions so far
	began int64   // starts so far

	next   int     // the next submission, in order
	ends   *events // of those that run
	starts *events // as they are decided

	started func(job int32, now int64) // is told of each start; may be nil

	alarm func(now int64) error // nil for none
	rings int64                 // when
}

// A Scheduler decides when jobs start, by telling the replay. Jobs are named by their
// places in the log. An error ends the replay.
type Scheduler interface {
	// Submitted is told of a job that waits from now on.
	Submitted(job int32, now int64) error
	// Ended is told of a job that has run.
	Ended(job int32, now int64) error
}

// NewReplay makes a replay of jobs. Of Job.Procs it makes nothing. It fails with ErrJob.
func NewReplay(jobs []Job) (*Replay, error) {
	if _, _, err := checkTimes(jobs); err != nil {
		return nil, err
	}
	return newReplay(jobs), nil
}

func newReplay(jobs []Job) *Replay {
	return &Replay{jobs: jobs, order: submissions(jobs), start: make([]int64, len(jobs)), ends: newEvents(len(jobs)), starts: newEvents(len(jobs))}
}

// Run says when each job starts on a machine of so many processors. It fails
// with ErrJob. progress, when it is not nil, is told after every start how many
// there were, and ends the run with its error.
func Run(procs int64, jobs []Job, p Policy, progress func(started int) error) ([]int64, error) {
	s, err := newSimulation(procs, jobs, p, DefaultSlack)
	if err != nil || len(jobs) == 0 {
		return []int64{}, err
	}
	return s.Replay.Run(s.scheduler, progress)
}

// simulation is a replay by a policy of this package.
type simulation struct {
	*Replay
	end       int64 // when all is over at the latest
	scheduler Scheduler
	queue     *queue   // nil for conservative backfilling
	relaxed   *relaxed // nil for others
}

func newSimulation(procs int64, jobs []Job, p Policy, slack float64) (*simulation, error) {
	first, end, err := check(procs, jobs)
	if err != nil || len(jobs) == 0 {
		return nil, err
	}
	s := &simulation{Replay: newReplay(jobs), end: end}
	return s, s.schedule(procs, p, slack, first)
}

// schedule makes the scheduler of a policy on an empty machine.
func (s *simulation) schedule(procs int64, p Policy, slack float64, first int64) error {
	if p == Conservative {
		s.scheduler = newPlan(s.Replay, procs)
		return nil
	}
	end := s.end
	if p == Relaxed {
		for i := range s.jobs {
			end += slackOf(slack, s.jobs[i].Request)
		}
	}
	m, err := newProcessors(s.jobs, procs, first, end)
	if err != nil {
		return err
	}
	q := queue{sim: s.Replay, machine: m, easy: p == EASY, head: -1}
	switch p {
	case FCFS, EASY:
		s.queue = &q
		s.scheduler = s.queue
	case Relaxed:
		s.relaxed = &relaxed{queue: q, slack: slack, promised: make(map[int32]Promise)}
		s.queue, s.scheduler = &s.relaxed.queue, s.relaxed
	default:
		return fmt.Errorf("there is no %s", p)
	}
	return nil
}

// Resume makes a replay of jobs that are all there already at an instant, which is their Submit:
// the first so many run, each for its Run from now on, and the others wait.
func Resume(jobs []Job, running int, now int64) *Replay {
	r := newReplay(jobs)
	r.next = len(jobs)
	for i := range int32(running) {
		r.ends.set(event{now + jobs[i].Run, int64(i) - int64(running), i})
	}
	return r
}

// OnStart has a function told of each start.
func (s *Replay) OnStart(fn func(job int32, now int64)) { s.started = fn }

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

// Run goes from event to event, and says when each job started. progress, when it is not
// nil, is told after every start how many there were, and ends the run with its error.
func (s *Replay) Run(p Scheduler, progress func(started int) error) ([]int64, error) {
	for {
		kind, at := s.upcoming()
		var err error
		switch kind {
		case submission:
			s.next++
			err = p.Submitted(s.order[s.next-1], at)
		case end:
			err = p.Ended(s.ends.pop().job, at)
		case start:
			job := s.starts.pop().job
			s.began++
			s.ends.set(event{at + s.jobs[job].Run, s.began, job})
			if s.started != nil {
				s.started(job, at)
			}
			if progress != nil {
				err = progress(int(s.began))
			}
		case alarm:
			ring := s.alarm
			s.alarm = nil
			err = ring(at)
		default:
			return s.start, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// Kinds of events, in the order in which those of one instant happen.
const (
	submission = iota
	end
	start
	alarm
	nothing
)

// upcoming is the next event.
func (s *Replay) upcoming() (kind int, at int64) {
	kind = nothing
	if s.starts.Len() > 0 {
		kind, at = start, s.starts.First().at
	}
	if s.ends.Len() > 0 && (kind == nothing || s.ends.First().at <= at) {
		kind, at = end, s.ends.First().at
	}
	if s.alarm != nil && (kind == nothing || s.rings < at) {
		kind, at = alarm, s.rings
	}
	if s.next < len(s.order) {
		if t := s.jobs[s.order[s.next]].Submit; kind == nothing || t <= at {
			kind, at = submission, t
		}
	}
	return kind, at
}

// Decide has a job start at an instant, in place of what was decided before.
func (s *Replay) Decide(job int32, at int64) {
	s.turns++
	s.start[job] = at
	s.starts.set(event{at, s.turns, job})
}

// Withdraw takes back what was decided for a job that has not started.
func (s *Replay) Withdraw(job int32) { s.starts.drop(job) }

// Requeue takes back that a job has started: it has been stopped, and waits again. All of it is
// still to run.
func (s *Replay) Requeue(job int32) {
	s.starts.drop(job)
	s.ends.drop(job)
}

// Alarm has a function called at an instant to come, in place of the one before; nil for none.
func (s *Replay) Alarm(at int64, fn func(now int64) error) { s.rings, s.alarm = at, fn }
