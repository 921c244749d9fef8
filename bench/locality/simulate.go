package main

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/placectl/placectl/index/heap"
	"github.com/placectl/placectl/locality"
)

// outcome is the result of a simulation.
type outcome struct {
	files    float64 // transfers, divided by files used
	makespan float64 // divided by the ideal: all work, at the speed of all hosts
	moves    float64 // moves a host
}

// event is an action of a host at a time.
type event struct {
	at   float64
	host int
	job  int // the finished job, -1 if the host asks for work
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

// simulate works through a batch with a policy, in memory or through a database, and returns the cost.
func simulate(w world, s locality.Settings, seed uint64, open opener) (outcome, error) {
	sim := &simulation{w: w, r: rand.New(rand.NewPCG(seed, 1)), queue: heap.New((*event).before)}
	sim.jobs = w.draw(sim.r)
	s.Hosts, s.Keep, s.Lease = w.hosts, w.keep, 12*hour
	var err error
	if sim.site, err = open(s, w.files, sim.jobs); err != nil {
		return outcome{}, err
	}
	work := float64(sim.site.batch().Total) / locality.Micro
	total := 0.0
	for range w.hosts {
		sim.actors = append(sim.actors, actor{speed: w.speed(sim.r)})
		total += sim.actors[len(sim.actors)-1].speed
	}
	window := max(600, w.arrival*work/total*hour)
	came := make([]float64, w.hosts)
	for i := range sim.actors {
		came[i] = window * sim.r.Float64()
		if err := sim.arrive(i, came[i]); err != nil {
			return outcome{}, err
		}
	}
	sim.ideal = sim.idealTime(work, came)
	for i := range int(w.churn * float64(w.hosts)) {
		leaves := came[i] + sim.r.Float64()*(sim.ideal-came[i])
		sim.actors[i].leaves = leaves
		sim.actors = append(sim.actors, actor{speed: w.speed(sim.r)})
		if err := sim.arrive(len(sim.actors)-1, leaves); err != nil {
			return outcome{}, err
		}
	}
	end, err := sim.run()
	b := sim.site.batch()
	return outcome{float64(b.Transfers) / float64(b.Used), end / sim.ideal,
		float64(b.Moves) / float64(len(sim.actors))}, err
}

// arrive makes a host come and ask for work. The first hosts have a history.
func (s *simulation) arrive(n int, at float64) error {
	h := &locality.Host{Number: uint32(n), Name: fmt.Sprint("h", n)}
	if s.w.history > 0 && n < s.w.hosts {
		h.Spent = s.w.history * hour
		h.Earned = s.w.history * s.w.shown(s.r, s.actors[n].speed) * locality.Micro
	}
	s.queue.Push(event{at: at, host: n, job: -1})
	return s.site.arrive(h)
}

// idealTime returns when all work, in jobs, could be done if every host worked from its arrival on,
// without downloads.
func (s *simulation) idealTime(work float64, came []float64) float64 {
	order := make([]int, len(came))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int { return cmp.Compare(came[x], came[y]) })
	now, speed := 0.0, 0.0 // jobs an hour
	for _, i := range order {
		if done := speed * (came[i] - now) / hour; done < work {
			work -= done
			now = came[i]
			speed += s.actors[i].speed
		}
	}
	return now + work/speed*hour
}

// run processes the events until the batch is finished.
func (s *simulation) run() (end float64, err error) {
	for s.queue.Len() > 0 {
		e := s.queue.Pop()
		a := &s.actors[e.host]
		if a.leaves > 0 && e.at >= a.leaves {
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

// report reports that a host has done a job.
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

// ask gives a host work, or makes it wait.
func (s *simulation) ask(e event, a *actor) error {
	jobs, fetched, err := s.site.next(e.host, int64(e.at)+1, s.w.request)
	if errors.Is(err, locality.ErrIdle) || errors.Is(err, locality.ErrOver) {
		s.queue.Push(event{at: e.at + retry, host: e.host, job: -1})
		return nil
	}
	if err != nil {
		return err
	}
	download := s.w.download * float64(fetched) * hour
	if s.w.scaled {
		download /= a.speed
	}
	at := e.at + download
	for i, j := range jobs {
		at += float64(s.jobs[j.Job].Credit) / locality.Micro * hour / a.speed
		s.queue.Push(event{at: at, host: e.host, job: j.Job, last: i == len(jobs)-1})
	}
	return nil
}
