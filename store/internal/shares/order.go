package shares

import (
	"cmp"
	"slices"

	"github.com/placectl/placectl/store/internal/row"
)

// Across classes, shares decide the order; inside a class, priority does. So the queue is
// ordered through time. The jobs that classes may start now come first. Then, at each instant
// at which something is given back, the class furthest below its target has its turn, while
// anything is free. This is computed in units, not on nodes: after its turn, a job counts for
// its class for its walltime.
//
// A plan is not given up for a job of another class just because that has an earlier turn.
// Otherwise narrow jobs of one class would delay a wide one of another for ever. It is given
// up only for a class below its target, and only if its own class is at or above its target
// without it.

// stretch is a number of units that a class holds until an instant.
type stretch struct {
	class, units int
	end          int64
}

// turns is an order that is being made.
type turns struct {
	*Allotment
	queues [][]*row.Job // of each class, in the order of the queue
	held   []int
	free   int
	ends   []stretch // sorted by end
	out    []*row.Job
	fixed  []bool // no plans of other classes are lifted
}

// Order puts the jobs of a queue in the order of their turns.
func (a *Allotment) Order(line []*row.Job) ([]*row.Job, error) {
	n := len(a.State.Classes)
	t := &turns{Allotment: a, queues: make([][]*row.Job, n), held: make([]int, n), fixed: make([]bool, n), free: a.State.TotalWorkers - a.State.Away}
	a.lifts = make(map[uint64][]bool, len(line))
	for _, j := range line {
		at, err := a.Place(j)
		if err != nil {
			return nil, err
		}
		t.queues[at] = append(t.queues[at], j)
	}
	for i, c := range a.State.Classes {
		t.held[i] = c.Running
		t.free -= c.Running
	}
	t.ends = slices.Clone(a.running)
	slices.SortFunc(t.ends, func(x, y stretch) int { return cmp.Compare(x.end, y.end) })
	left := slices.Clone(a.Left)
	for {
		at := t.next(func(class int) bool { return left[class] > 0 })
		if at < 0 {
			break
		}
		left[at] -= t.turn(at, a.Now, a.starts[t.queues[at][0].ID])
	}
	for now := a.Now; ; {
		at := t.next(func(int) bool { return true })
		if at < 0 {
			return t.out, nil
		}
		if t.free <= 0 && len(t.ends) > 0 {
			now = max(now, t.ends[0].end)
			t.release(now)
			continue
		}
		t.turn(at, now, true)
	}
}

// release gives back the units that end by an instant. Classes are compared only afterwards.
func (t *turns) release(now int64) {
	for len(t.ends) > 0 && t.ends[0].end <= now {
		t.held[t.ends[0].class] -= t.ends[0].units
		t.free += t.ends[0].units
		t.ends = t.ends[1:]
	}
}

// lifted returns, for each class, whether its plans are lifted for the class that has its
// turn.
func (t *turns) lifted(class int) []bool {
	if t.held[class] >= t.targets[class] {
		return t.fixed
	}
	list := make([]bool, len(t.held))
	for i := range list {
		list[i] = t.held[i] >= t.targets[i]
	}
	return list
}

// Lifts returns, for each class, whether its plans are lifted for a job of another class. For
// a job that Order did not see, none are.
func (a *Allotment) Lifts(j *row.Job) []bool {
	if list := a.lifts[j.ID]; list != nil {
		return list
	}
	return make([]bool, len(a.State.Classes))
}

// next returns the class furthest below its target among those that may have a turn, or -1.
func (t *turns) next(may func(class int) bool) int {
	best := -1
	for _, at := range t.order {
		below := func(i int) int { return t.targets[i] - t.held[i] }
		if len(t.queues[at]) > 0 && may(at) && (best < 0 || below(at) > below(best)) {
			best = at
		}
	}
	return best
}

// turn gives the first job of a class its turn. If takes is true, it returns the units that
// the job asks for.
func (t *turns) turn(class int, now int64, takes bool) int {
	j := t.queues[class][0]
	t.queues[class] = t.queues[class][1:]
	t.out = append(t.out, j)
	if j.State != row.JobReserved {
		t.Allotment.lifts[j.ID] = t.lifted(class)
	}
	units, err := t.Wants(j)
	if !takes || err != nil {
		return 0 // its request is no longer valid, or it cannot start: it still has its turn
	}
	t.held[class] += units
	t.free -= units
	s := stretch{class, units, max(now, j.Begin) + j.Walltime}
	i, _ := slices.BinarySearchFunc(t.ends, s, func(x, y stretch) int { return cmp.Compare(x.end, y.end) })
	t.ends = slices.Insert(t.ends, i, s)
	return units
}
