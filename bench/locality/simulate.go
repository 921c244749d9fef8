package main

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/placectl/placectl/index/heap"
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

func (e *event) before(f *event) bool { return e.at < f.at || e.at == f.at && e.host < f.host }

// actor is a simulated host.
type actor struct {
	speed  float64
	leaves float64 // when it vanishes, 0 for never
}

// retry is how soon a host that got nothing asks again, in seconds.
const retry = hour / 10

type simulation struct {
	w      world
	r      *rand.Rand
	site   site
	jobs   []locality.Job
	actors []actor
	queue  *heap.Heap[event]
	ideal  float64
}

// simulate works a batch off with a policy, in memory or through a database, and
// returns what it cost.
func simulate(w world, s locality.Settings, seed uint64, open opener) (outcome, error) {
	sim := &simulation{w: w, r: rand.New(rand.NewPCG(seed, 1)), queue: heap.New((*event).before)}
	sim.jobs = w.draw(sim.r)
	s.Hosts, s.Keep, s.Lease = w.hosts, w.keep, 12*hour
	var err error
	if sim.site, err = open(s, w.files, sim.jobs); err != nil {
		return outcome{}, err
	}
	total := 0.0
	for range w.hosts {
		speed, err := sim.arrive(600 * sim.r.Float64())
		if err != nil {
			return outcome{}, err
		}
		total += speed
	}
	sim.ideal = float64(sim.site.batch().Total) / locality.Micro * hour / total
	for i := range int(w.churn * float64(w.hosts)) {
		sim.actors[i].leaves = sim.r.Float64() * sim.ideal
	}
	end, err := sim.run()
	b := sim.site.batch()
	return outcome{float64(b.Transfers) / float64(b.Used), end / sim.ideal, float64(b.Moves) / float64(len(sim.actors))}, err
}

// arrive adds a host and returns its speed.
func (s *simulation) arrive(at float64) (float64, error) {
	a := actor{speed: speed(s.r)}
	s.actors = append(s.actors, a)
	n := len(s.actors) - 1
	h := &locality.Host{Number: uint32(n), Name: fmt.Sprint("h", n)}
	if s.w.known && n < s.w.hosts {
		h.Spent, h.Earned = 100*hour, 100*a.speed*locality.Micro
	}
	s.queue.Push(event{at: at, host: n, job: -1})
	return a.speed, s.site.arrive(h)
}

// run goes through the events until the batch is finished.
func (s *simulation) run() (end float64, err error) {
	for s.queue.Len() > 0 {
		e := s.queue.Pop()
		a := &s.actors[e.host]
		if a.leaves > 0 && e.at >= a.leaves {
			if !s.gone(a) {
				continue
			}
			if _, err := s.arrive(a.leaves); err != nil {
				return 0, err
			}
			continue
		}
		if e.job >= 0 {
			err = s.report(e)
		} else {
			err = s.ask(e, a)
		}
		if err != nil {
			return 0, err
		}
		if s.site.batch().Over() {
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

// report says that a host has done a job.
func (s *simulation) report(e event) error {
	err := s.site.done(e.host, int64(e.at)+1, e.job)
	if errors.Is(err, locality.ErrNotHeld) {
		err = nil // too late
	}
	if err == nil && e.last {
		s.queue.Push(event{at: e.at, host: e.host, job: -1})
	}
	return err
}

// ask gives a host work, or has it wait.
func (s *simulation) ask(e event, a *actor) error {
	jobs, fetched, err := s.site.next(e.host, int64(e.at)+1, s.w.request)
	if errors.Is(err, locality.ErrIdle) || errors.Is(err, locality.ErrOver) {
		s.queue.Push(event{at: e.at + retry, host: e.host, job: -1})
		return nil
	}
	if err != nil {
		return err
	}
	at := e.at + s.w.download*float64(fetched)*hour/a.speed
	for i, j := range jobs {
		at += float64(s.jobs[j.Job].Credit) / locality.Micro * hour / a.speed
		s.queue.Push(event{at: at, host: e.host, job: j.Job, last: i == len(jobs)-1})
	}
	return nil
}
