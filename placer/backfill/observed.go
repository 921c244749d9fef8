package backfill

import (
	"errors"
	"fmt"
)

// An Observer is told what happens in a replay, after the policy has decided.
type Observer interface {
	Submitted(job int32, now int64) error
	Started(job int32, now int64)
	Ended(job int32, now int64)
}

// RunObserved is Run, or RunRelaxed, for FCFS, EASY and Relaxed, with an observer. observe makes it from
// a view of the machine.
func RunObserved(procs int64, jobs []Job, p Policy, slack float64, observe func(*View) Observer,
	progress func(started int) error) ([]int64, error) {
	s, err := newSimulation(procs, jobs, p, slack)
	if err != nil || len(jobs) == 0 {
		return []int64{}, err
	}
	if s.queue == nil {
		return nil, fmt.Errorf("there is no play under %s", p)
	}
	v := &View{sim: s, procs: procs, policy: p, slack: slack, place: make([]int32, len(jobs))}
	v.observer = observe(v)
	s.OnStart(v.observer.Started)
	return s.Replay.Run(v, progress)
}

// A View is what an observer may know about the machine: who waits and runs, and the latest ends of
// running jobs. It tells nothing about the future.
type View struct {
	sim      *simulation
	procs    int64
	policy   Policy
	slack    float64
	observer Observer
	live     []int32 // submitted and not ended
	place    []int32 // in a play, by job
}

// Submitted implements Scheduler, as does Ended.
func (v *View) Submitted(job int32, now int64) error {
	v.live = append(v.live, job)
	if err := v.sim.scheduler.Submitted(job, now); err != nil {
		return err
	}
	return v.observer.Submitted(job, now)
}

func (v *View) Ended(job int32, now int64) error {
	for i, other := range v.live {
		if other == job {
			v.live = append(v.live[:i], v.live[i+1:]...)
			break
		}
	}
	v.observer.Ended(job, now)
	return v.sim.scheduler.Ended(job, now)
}

// Waiting lists the waiting jobs in order of submission. Do not change it.
func (v *View) Waiting() []int32 { return v.sim.queue.waiting }

// Alone returns when a waiting job could start if, of the jobs before it, only the first were
// there.
func (v *View) Alone(job int32, now int64) (int64, error) {
	if v.sim.queue.head == job {
		return v.sim.queue.headAt, nil
	}
	return v.sim.queue.machine.plan.EarliestStart(now, v.sim.jobs[job].Request, v.sim.jobs[job].Procs)
}

// errStarted ends a play.
var errStarted = errors.New("the job has started")

// StartOf runs a replay until a job starts, and returns when; -1 if it does not.
func (s *Replay) StartOf(job int32, by Scheduler) (int64, error) {
	at := int64(-1)
	s.OnStart(func(started int32, when int64) {
		if started == job {
			at = when
		}
	})
	_, err := s.Run(by, func(int) error {
		if at >= 0 {
			return errStarted
		}
		return nil
	})
	if errors.Is(err, errStarted) {
		err = nil
	}
	return at, err
}

// Play plays the queue forward under its policy, with no new jobs, until a waiting job starts, and
// returns when. run is each job's run time, in all for running jobs, and at most what they asked for.
func (v *View) Play(job int32, now int64, run func(job int32, ran int64) int64) (int64, error) {
	waits := make(map[int32]bool, len(v.sim.queue.waiting))
	for _, w := range v.sim.queue.waiting {
		waits[w] = true
	}
	var jobs []Job
	running := 0
	for _, j := range v.live {
		x := v.sim.jobs[j]
		waits, ran := waits[j], now-v.sim.start[j]
		if waits || ran >= x.Request {
			continue
		}
		jobs = append(jobs, Job{Submit: now, Procs: x.Procs, Request: x.Request - ran,
			Run: min(max(run(j, ran)-ran, 1), x.Request-ran)})
		running++
	}
	for _, w := range v.sim.queue.waiting {
		x := v.sim.jobs[w]
		v.place[w] = int32(len(jobs))
		jobs = append(jobs, Job{Submit: now, Procs: x.Procs, Request: x.Request,
			Run: min(max(run(w, 0), 1), x.Request)})
	}
	s := &simulation{Replay: Resume(jobs, running, now), end: v.sim.end}
	if err := s.schedule(v.procs, v.policy, v.slack, now); err != nil {
		return 0, err
	}
	for i := range int32(len(jobs)) {
		if int(i) >= running {
			s.queue.waiting = append(s.queue.waiting, i)
			continue
		}
		if err := s.queue.machine.add(i, now); err != nil {
			return 0, err
		}
	}
	if _, err := s.queue.machine.Pass(now); err != nil {
		return 0, err
	}
	if err := v.resume(s, now); err != nil {
		return 0, err
	}
	return s.StartOf(v.place[job], s.scheduler)
}

// resume lets a simulation continue from the state of the view.
func (v *View) resume(s *simulation, now int64) error {
	q := s.relaxed
	if q == nil {
		return s.queue.pass(now)
	}
	for _, job := range q.waiting {
		q.insert(job)
	}
	if v.sim.queue.head >= 0 {
		if err := q.stand(v.place[v.sim.queue.head], v.sim.queue.headAt); err != nil {
			return err
		}
	}
	return q.pass(now)
}
