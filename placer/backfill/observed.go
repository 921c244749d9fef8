package backfill

import (
	"errors"
	"fmt"

	"github.com/placectl/placectl/timeline"
)

// An Observer is told of what happens in a replay, once the policy has decided.
type Observer interface {
	Submitted(job int32, now int64) error
	Started(job int32, now int64)
	Ended(job int32, now int64)
}

// RunObserved is Run, or RunRelaxed, for FCFS, EASY and Relaxed, with an observer, which observe
// makes of a view of the machine.
func RunObserved(procs int64, jobs []Job, p Policy, slack float64, observe func(*View) Observer, progress func(started int) error) ([]int64, error) {
	first, end, err := check(procs, jobs)
	if err != nil || len(jobs) == 0 {
		return []int64{}, err
	}
	v := &View{procs: procs, jobs: jobs, policy: p, slack: slack, end: end, place: make([]int32, len(jobs))}
	v.replay = newReplay(jobs)
	if v.sched, v.queue, err = v.scheduler(v.replay, jobs, first); err != nil {
		return nil, err
	}
	v.observer = observe(v)
	v.replay.OnStart(v.observer.Started)
	return v.replay.Run(v, progress)
}

// A View is what an observer may know of the machine: who waits and runs, and by when what runs
// ends at the latest. It is no good for what is still to come.
type View struct {
	procs    int64
	jobs     []Job
	policy   Policy
	slack    float64
	end      int64 // when all is over at the latest
	replay   *Replay
	sched    Scheduler
	queue    *queue
	observer Observer
	live     []int32 // submitted and not ended
	place    []int32 // in a play, by job
}

// scheduler is a policy on an empty machine.
func (v *View) scheduler(r *Replay, jobs []Job, first int64) (Scheduler, *queue, error) {
	end := v.end
	for _, j := range jobs {
		end += int64(v.slack * float64(j.Request))
	}
	m, err := newProcessors(jobs, v.procs, first, end)
	if err != nil {
		return nil, nil, err
	}
	switch v.policy {
	case FCFS, EASY:
		q := &queue{sim: r, machine: m, easy: v.policy == EASY}
		return q, q, nil
	case Relaxed:
		q := &relaxed{queue: queue{sim: r, machine: m}, slack: v.slack, promised: make(map[int32]Promise)}
		return q, &q.queue, nil
	}
	return nil, nil, fmt.Errorf("there is no play under %s", v.policy)
}

// Submitted makes it a Scheduler, as Ended does.
func (v *View) Submitted(job int32, now int64) error {
	v.live = append(v.live, job)
	if err := v.sched.Submitted(job, now); err != nil {
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
	return v.sched.Ended(job, now)
}

// Waiting are the jobs that wait, in order of submission. It is for reading only.
func (v *View) Waiting() []int32 { return v.queue.waiting }

// Alone is when a waiting job could start, as if those before it but the first were not there.
func (v *View) Alone(job int32, now int64) (int64, error) {
	if v.queue.planned && v.queue.waiting[0] == job {
		return v.queue.headAt, nil
	}
	return v.queue.machine.plan.EarliestStart(now, v.jobs[job].Request, v.jobs[job].Procs)
}

// errStarted ends a play.
var errStarted = errors.New("the job has started")

// StartOf runs a replay until a job starts, and says when; -1 where it does not.
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

// Play plays the queue forward under its policy, nothing coming to it, until a job that waits
// starts, and says when. run is how long each job runs: of those that run already in all, and
// no longer than they asked for.
func (v *View) Play(job int32, now int64, run func(job int32, ran int64) int64) (int64, error) {
	waits := make(map[int32]bool, len(v.queue.waiting))
	for _, w := range v.queue.waiting {
		waits[w] = true
	}
	var jobs []Job
	running := 0
	for _, j := range v.live {
		x := v.jobs[j]
		waits, ran := waits[j], now-v.replay.start[j]
		if waits || ran >= x.Request {
			continue
		}
		jobs = append(jobs, Job{Submit: now, Procs: x.Procs, Request: x.Request - ran, Run: min(max(run(j, ran)-ran, 1), x.Request-ran)})
		running++
	}
	for _, w := range v.queue.waiting {
		x := v.jobs[w]
		v.place[w] = int32(len(jobs))
		jobs = append(jobs, Job{Submit: now, Procs: x.Procs, Request: x.Request, Run: min(max(run(w, 0), 1), x.Request)})
	}
	r := Resume(jobs, running, now)
	sched, q, err := v.scheduler(r, jobs, now)
	if err != nil {
		return 0, err
	}
	for i := range int32(len(jobs)) {
		if int(i) >= running {
			q.waiting = append(q.waiting, i)
			continue
		}
		if err := q.machine.add(i, now); err != nil {
			return 0, err
		}
	}
	if _, err := q.machine.Pass(now); err != nil {
		return 0, err
	}
	if err := v.resume(sched, q, now); err != nil {
		return 0, err
	}
	return r.StartOf(v.place[job], sched)
}

// resume has a queue go on as it is in the view.
func (v *View) resume(sched Scheduler, q *queue, now int64) error {
	rel, ok := sched.(*relaxed)
	if !ok {
		return q.pass(now)
	}
	for _, job := range q.waiting {
		rel.insert(job)
	}
	if v.queue.planned {
		q.planned, q.headAt = true, v.queue.headAt
		span, err := q.machine.plan.Add(timeline.Span{Start: q.headAt, Duration: q.machine.jobs[q.waiting[0]].Request, Amount: q.machine.jobs[q.waiting[0]].Procs})
		if err != nil {
			return err
		}
		q.machine.span[q.waiting[0]] = span
	}
	return rel.pass(now)
}
