package backfill

import (
	"slices"
)

// DefaultSlack is how much later than its earliest start a relaxed head may be promised one, in
// multiples of its request.
const DefaultSlack = 1

// Promises counts the promised starts.
type Promises struct {
	Made   int // heads that did not fit
	Used   int // of these, those that started later than their earliest start when the promise was made
	Broken int // of these, those that started later than promised
}

// RunRelaxed is Run with relaxed backfilling, which Run does with DefaultSlack. A head that does not fit
// is planned once, slack times its request after its earliest start. The plan stands: the head is tried
// in every pass, and others start beside its plan, the shortest request first.
func RunRelaxed(procs int64, jobs []Job, slack float64, progress func(started int) error) ([]int64, Promises, error) {
	s, err := newSimulation(procs, jobs, Relaxed, slack)
	if err != nil || len(jobs) == 0 {
		return []int64{}, Promises{}, err
	}
	starts, err := s.Replay.Run(s.scheduler, progress)
	if err != nil {
		return nil, Promises{}, err
	}
	return starts, CountPromises(s.relaxed.promised, starts), nil
}

// slackOf returns how much later than its earliest start a job is promised one.
func slackOf(slack float64, request int64) int64 { return int64(slack * float64(request)) }

// A Promise is the earliest start of a head at that time, and the latest start that it was promised.
type Promise struct{ Earliest, Latest int64 }

// relaxed is a queue whose head has a fixed plan. waiting is in order of submission, and byRequest in
// order of requests.
type relaxed struct {
	queue
	slack     float64
	byRequest []int32
	promised  map[int32]Promise // of each job that was a head
}

func (q *relaxed) Submitted(job int32, now int64) error {
	freed, err := q.machine.Pass(now)
	if err != nil {
		return err
	}
	q.waiting = append(q.waiting, job)
	at := q.insert(job)
	if freed || q.head < 0 || q.headAt <= now {
		return q.pass(now)
	}
	return q.fill(at, at+1, now)
}

// insert inserts a job in order of requests.
func (q *relaxed) insert(job int32) (at int) {
	at, _ = slices.BinarySearchFunc(q.byRequest, job, q.shorter)
	q.byRequest = slices.Insert(q.byRequest, at, job)
	return at
}

func (q *relaxed) Ended(job int32, now int64) error {
	if err := q.left(job, now); err != nil {
		return err
	}
	return q.pass(now)
}

// shorter orders jobs by request, and equal ones by submission.
func (q *relaxed) shorter(a, b int32) int {
	x, y := &q.sim.jobs[a], &q.sim.jobs[b]
	switch {
	case x.Request != y.Request:
		return int(min(1, max(-1, x.Request-y.Request)))
	case x.Submit != y.Submit:
		return int(min(1, max(-1, x.Submit-y.Submit)))
	}
	return int(a) - int(b)
}

func (q *relaxed) pass(now int64) error {
	for len(q.waiting) > 0 {
		head := q.waiting[0]
		if err := q.machine.Leave(head); err != nil {
			return err
		}
		started, err := q.machine.Start(head)
		if err != nil {
			return err
		}
		if !started {
			if err := q.promise(head, now); err != nil {
				return err
			}
			return q.fill(0, len(q.byRequest), now)
		}
		q.head = -1
		q.waiting = q.waiting[1:]
		at, _ := slices.BinarySearchFunc(q.byRequest, head, q.shorter)
		q.byRequest = slices.Delete(q.byRequest, at, at+1)
		q.sim.Decide(head, now)
	}
	return nil
}

// promise plans the head, at its promised start if it has one.
func (q *relaxed) promise(head int32, now int64) error {
	j := &q.sim.jobs[head]
	if q.head != head {
		earliest, err := q.machine.plan.EarliestStart(now, j.Request, j.Procs)
		if err != nil {
			return err
		}
		q.headAt = earliest + slackOf(q.slack, j.Request)
		q.promised[head] = Promise{earliest, q.headAt}
	}
	return q.stand(head, q.headAt)
}

// stand plans the head at a time.
func (q *relaxed) stand(head int32, at int64) error {
	q.head, q.headAt = head, at
	return q.machine.add(head, at)
}

// fill starts jobs that fit beside the head's plan, in order of requests, from one place to another.
func (q *relaxed) fill(from, to int, now int64) error {
	gone := make(map[int32]bool)
	for _, job := range q.byRequest[from:to] {
		if job == q.waiting[0] {
			continue
		}
		if q.machine.free == 0 {
			break
		}
		started, err := q.machine.Start(job)
		if err != nil {
			return err
		}
		if started {
			q.sim.Decide(job, now)
			gone[job] = true
		}
	}
	if len(gone) > 0 {
		out := func(job int32) bool { return gone[job] }
		q.waiting = slices.DeleteFunc(q.waiting, out)
		q.byRequest = slices.DeleteFunc(q.byRequest, out)
	}
	return nil
}

// CountPromises counts kept and broken promises.
func CountPromises(made map[int32]Promise, starts []int64) (p Promises) {
	for job, at := range made {
		p.Made++
		if starts[job] > at.Earliest {
			p.Used++
		}
		if starts[job] > at.Latest {
			p.Broken++
		}
	}
	return p
}
