package backfill

import (
	"cmp"
	"fmt"
	"slices"
)

// EASY++ (Tsafrir, Etsion and Feitelson 2007) plans by learned durations: a job is expected to run as
// long as its user's last two jobs did on average, and the shortest jobs go around the head first. A job
// that outlives its prediction gets more time, in growing steps. Heads have no promise, so a head can
// starve behind jobs believed short. It is here for comparison only, and no policy of a database.

// RunLearned is Run under EASY++. users names the user of each job.
func RunLearned(procs int64, jobs []Job, users []string, progress func(started int) error) ([]int64, error) {
	if len(users) != len(jobs) {
		return nil, fmt.Errorf("%d users of %d jobs", len(users), len(jobs))
	}
	if _, _, err := check(procs, jobs); err != nil || len(jobs) == 0 {
		return []int64{}, err
	}
	q := &learned{Replay: newReplay(jobs), procs: procs, users: users, predicted: make([]int64, len(jobs)),
		steps: make([]int, len(jobs)), last: make(map[string][]int64)}
	return q.Run(q, progress)
}

// learned is the queue of EASY++.
type learned struct {
	*Replay
	procs     int64
	users     []string
	waiting   []int32 // in order of submission
	running   []int32
	predicted []int64            // predicted durations
	steps     []int              // how often a job got more time
	last      map[string][]int64 // durations of each user's last two ended jobs
}

// moreTime are the steps, in seconds, in which a job that outlives its prediction gets more time. After
// the last step it gets all that it asked for.
var moreTime = [...]int64{60, 300, 900, 1800, 3600, 7200, 18_000, 36_000, 72_000, 180_000, 360_000}

// Submitted implements Scheduler, as does Ended.
func (q *learned) Submitted(job int32, now int64) error {
	q.predict(job)
	q.waiting = append(q.waiting, job)
	q.pass(now)
	return nil
}

func (q *learned) Ended(job int32, now int64) error {
	q.running = slices.DeleteFunc(q.running, func(other int32) bool { return other == job })
	user := q.users[job]
	q.last[user] = append(q.last[user], q.jobs[job].Run)
	if n := len(q.last[user]); n > 2 {
		q.last[user] = q.last[user][n-2:]
	}
	for _, other := range q.waiting {
		if q.users[other] == user {
			q.predict(other)
		}
	}
	q.pass(now)
	return nil
}

// predict predicts how long a job runs, at most as long as it asked for.
func (q *learned) predict(job int32) {
	q.predicted[job] = q.jobs[job].Request
	if last := q.last[q.users[job]]; len(last) == 2 {
		q.predicted[job] = max(1, min((last[0]+last[1])/2, q.jobs[job].Request))
	}
}

// correct gives more time to a running job that has outlived its prediction.
func (q *learned) correct(job int32, now int64) {
	ran, asked := now-q.start[job], q.jobs[job].Request
	for q.predicted[job] <= ran && q.predicted[job] < asked {
		step := asked
		if n := q.steps[job]; n < len(moreTime) {
			step = moreTime[n]
		}
		q.steps[job]++
		q.predicted[job] = min(asked, max(ran, q.predicted[job])+step)
	}
}

// free returns the number of free processors. A job past its request counts as gone.
func (q *learned) free(now int64) int64 {
	free := q.procs
	for _, job := range q.running {
		if q.start[job]+q.jobs[job].Request > now {
			free -= q.jobs[job].Procs
		}
	}
	return free
}

func (q *learned) begin(job int32, now int64) {
	q.running = append(q.running, job)
	q.Decide(job, now)
}

// pass starts jobs in order while they fit, and then the shortest that do not delay the head.
func (q *learned) pass(now int64) {
	free := q.free(now)
	for len(q.waiting) > 0 && q.jobs[q.waiting[0]].Procs <= free {
		free -= q.jobs[q.waiting[0]].Procs
		q.begin(q.waiting[0], now)
		q.waiting = q.waiting[1:]
	}
	if len(q.waiting) == 0 || free == 0 {
		return
	}
	at, extra := q.shadow(q.waiting[0], free, now)
	others := slices.Clone(q.waiting[1:])
	slices.SortStableFunc(others, func(a, b int32) int { return cmp.Compare(q.predicted[a], q.predicted[b]) })
	began := make(map[int32]bool)
	for _, job := range others {
		procs, inTime := q.jobs[job].Procs, now+q.predicted[job] <= at
		if procs > free || !inTime && procs > extra {
			continue
		}
		if free -= procs; !inTime {
			extra -= procs
		}
		q.begin(job, now)
		began[job] = true
	}
	q.waiting = slices.DeleteFunc(q.waiting, func(job int32) bool { return began[job] })
}

// shadow returns the head's predicted start, and how many processors it leaves free then.
func (q *learned) shadow(head int32, free, now int64) (at, extra int64) {
	type release struct{ at, procs int64 }
	var list []release
	for _, job := range q.running {
		if q.start[job]+q.jobs[job].Request <= now {
			continue
		}
		q.correct(job, now)
		list = append(list, release{q.start[job] + q.predicted[job], q.jobs[job].Procs})
	}
	slices.SortFunc(list, func(a, b release) int { return cmp.Compare(a.at, b.at) })
	need := q.jobs[head].Procs
	for i, r := range list {
		if free += r.procs; free >= need && (i+1 == len(list) || list[i+1].at != r.at) {
			return r.at, free - need
		}
	}
	return never, 0
}
