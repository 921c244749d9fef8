package backfill

import (
	"fmt"
	"slices"

	"github.com/placectl/placectl/timeline"
)

// MaxProcs is the largest machine.
const MaxProcs = timeline.MaxTotal

// A Replay goes through the events of a log's jobs.
type Replay struct {
	jobs  []Job
	order []int32 // the jobs by submission
	start []int64 // each job's actual or planned start
	turns int64   // decisions so far
	began int64   // number of starts so far

	next   int     // the next submission, in order
	ends   *events // of running jobs
	starts *events // as decided so far

	started func(job int32, now int64) // called for each start; may be nil

	alarm func(now int64) error // nil for none
	rings int64                 // the time of the alarm
}

// A Scheduler decides when jobs start, by calling methods of the replay. Jobs are named by their places
// in the log. An error ends the replay.
type Scheduler interface {
	// Submitted is called for a new waiting job.
	Submitted(job int32, now int64) error
	// Ended is called for a job that has ended.
	Ended(job int32, now int64) error
}

// NewReplay makes a replay of jobs. It does not use Job.Procs. It fails with ErrJob.
func NewReplay(jobs []Job) (*Replay, error) {
	if _, _, err := checkTimes(jobs); err != nil {
		return nil, err
	}
	return newReplay(jobs), nil
}

func newReplay(jobs []Job) *Replay {
	return &Replay{jobs: jobs, order: submissions(jobs), start: make([]int64, len(jobs)), ends: newEvents(len(jobs)),
		starts: newEvents(len(jobs))}
}

// Run returns when each job starts on a machine with a number of processors. It fails with ErrJob.
// progress, if not nil, is called after every start with the number of starts, and its error ends the
// run.
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
	end       int64 // the latest end of everything
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

// Resume makes a replay of jobs that are all submitted at an instant. The first ones run, each
// for its Run from now on, and the others wait.
func Resume(jobs []Job, running int, now int64) *Replay {
	r := newReplay(jobs)
	r.next = len(jobs)
	for i := range int32(running) {
		r.ends.set(event{now + jobs[i].Run, int64(i) - int64(running), i})
	}
	return r
}

// OnStart sets a function to call for each start.
func (s *Replay) OnStart(fn func(job int32, now int64)) { s.started = fn }

// submissions returns the order of the log, or of time if the log is not sorted.
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

// Run goes from event to event, and returns when each job started. progress, if not nil, is called after
// every start with the number of starts, and its error ends the run.
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

// Kinds of events, in the order in which they happen at one instant.
const (
	submission = iota
	end
	start
	alarm
	nothing
)

// upcoming returns the next event.
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

// Decide sets a job's start, and replaces an earlier decision.
func (s *Replay) Decide(job int32, at int64) {
	s.turns++
	s.start[job] = at
	s.starts.set(event{at, s.turns, job})
}

// Withdraw removes the decision for a job that has not started.
func (s *Replay) Withdraw(job int32) { s.starts.drop(job) }

// Requeue undoes a job's start: it was stopped, and waits again to run in full.
func (s *Replay) Requeue(job int32) {
	s.starts.drop(job)
	s.ends.drop(job)
}

// Alarm sets a function to call at a future instant, and replaces the one before; nil for
// none.
func (s *Replay) Alarm(at int64, fn func(now int64) error) { s.rings, s.alarm = at, fn }
