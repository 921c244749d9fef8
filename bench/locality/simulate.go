package main

import (
	"container/heap"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/placectl/placectl/locality"
)

// outcome is what a simulation came to.
type outcome struct {
	files    float64 // transfers over files used
	makespan float64 // over the ideal: all work, at the speed of all hosts
	moves    float64 // moves a host
}

// event is something that a host does at a time.
type event struct {
	at   float64
	host int
	job  int // it has done this job; -1 when it asks for work
	last bool
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, k int) bool {
	return e[i].at < e[k].at || e[i].at == e[k].at && e[i].host < e[k].host
}
func (e events) Swap(i, k int) { e[i], e[k] = e[k], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	x := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return x
}

// actor is a simulated host.
type actor struct {
	speed  float64
	leaves float64 // when it vanishes, 0 for never
	idle   float64 // seconds that it has waited for work
}

// retry is how soon a host that got nothing asks again, in seconds.
const retry = hour / 10

type simulation struct {
	w      world
	r      *rand.Rand
	rows   *locality.Memory
	batch  *locality.Batch
	jobs   []locality.Job
	actors []actor
	queue  events
	ideal  float64
}

// simulate works a batch off with a policy and returns what it cost.
func simulate(w world, s locality.Settings, seed uint64) (outcome, error) {
	sim := &simulation{w: w, r: rand.New(rand.NewPCG(seed, 1)), rows: locality.NewMemory()}
	sim.jobs = w.draw(sim.r)
	s.Hosts, s.Keep, s.Lease = w.hosts, w.keep, 12*hour
	maker, err := locality.NewMaker("simulated", s, w.files, sim.rows.Keep)
	if err != nil {
		return outcome{}, err
	}
	for _, j := range sim.jobs {
		if err := maker.Add(j); err != nil {
			return outcome{}, err
		}
	}
	if sim.batch, err = maker.Finish(sim.rows, 0); err != nil {
		return outcome{}, err
	}
	total := 0.0
	for range w.hosts {
		total += sim.arrive(600 * sim.r.Float64())
	}
	sim.ideal = float64(sim.batch.Total) / locality.Micro * hour / total
	for i := range int(w.churn * float64(w.hosts)) {
		sim.actors[i].leaves = sim.r.Float64() * sim.ideal
	}
	end, err := sim.run()
	return outcome{float64(sim.batch.Transfers) / float64(sim.batch.Used), end / sim.ideal, float64(sim.batch.Moves) / float64(len(sim.actors))}, err
}

// arrive adds a host and returns its speed.
func (s *simulation) arrive(at float64) float64 {
	a := actor{speed: speed(s.r)}
	s.actors = append(s.actors, a)
	n := len(s.actors) - 1
	h := &locality.Host{Number: uint32(n), Name: fmt.Sprint("h", n)}
	if s.w.known && n < s.w.hosts {
		h.Spent, h.Earned = 100*hour, 100*a.speed*locality.Micro
	}
	s.rows.PutHost(h) //nolint:errcheck // memory does not fail
	heap.Push(&s.queue, event{at: at, host: n, job: -1})
	return a.speed
}

// run goes through the events until the batch is finished.
func (s *simulation) run() (end float64, err error) {
	for len(s.queue) > 0 {
		e := heap.Pop(&s.queue).(event)
		a := &s.actors[e.host]
		if a.leaves > 0 && e.at >= a.leaves {
			if !s.gone(a) {
				continue
			}
			s.arrive(a.leaves)
			continue
		}
		op, err := locality.Begin(s.rows, s.batch, int64(e.at)+1)
		if err != nil {
			return 0, err
		}
		if e.job >= 0 {
			err = s.report(op, e)
		} else {
			err = s.ask(op, e, a)
		}
		if err != nil {
			return 0, err
		}
		s.debug(e)
		if s.batch.Over() {
			return e.at, nil
		}
	}
	return 0, errors.New("the hosts have stopped and the batch is not finished")
}

// gone notes once that a host has vanished.
func (s *simulation) gone(a *actor) bool {
	first := a.speed > 0
	a.speed = 0
	return first
}

func (s *simulation) report(op *locality.Op, e event) error {
	h, err := s.rows.Host(uint32(e.host))
	if err != nil {
		return err
	}
	_, err = op.Done(h, e.job)
	if errors.Is(err, locality.ErrNotHeld) {
		err = nil // too late
	}
	if err == nil && e.last {
		heap.Push(&s.queue, event{at: e.at, host: e.host, job: -1})
	}
	return err
}

func (s *simulation) ask(op *locality.Op, e event, a *actor) error {
	if _, err := op.Expire(); err != nil {
		return err
	}
	h, err := s.rows.Host(uint32(e.host))
	if err != nil {
		return err
	}
	g, err := op.Next(h, locality.Want{Jobs: s.w.request})
	if errors.Is(err, locality.ErrIdle) || errors.Is(err, locality.ErrOver) {
		heap.Push(&s.queue, event{at: e.at + retry, host: e.host, job: -1})
		return nil
	}
	if err != nil {
		return err
	}
	fetched := 0
	for _, f := range g.Fetch {
		fetched += f.B - f.A + 1
	}
	at := e.at + s.w.download*float64(fetched)*hour/a.speed
	for i, j := range g.Jobs {
		at += float64(s.jobs[j.Job].Credit) / locality.Micro * hour / a.speed
		heap.Push(&s.queue, event{at: at, host: e.host, job: j.Job, last: i == len(g.Jobs)-1})
	}
	return nil
}
