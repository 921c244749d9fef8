package shares

import (
	"cmp"
	"slices"

	"github.com/placectl/placectl/store/internal/row"
)

// Across classes, shares decide the order; inside a class, priority does. So the queue is ordered
// through time. What classes may start now comes first. Then, at each instant at which something is
// given back, the class furthest below its target takes its turn, as long as anything is free. This
// is computed in units, not on nodes: a job that has had its turn counts for its class from then on
// for its walltime.
//
// A plan is not given up for a job of another class whose turn comes before. Otherwise narrow jobs
// of one class would delay a wide one of another for ever. It is given up only for a class below
// its target, and only if its own class is at or above its target without it.

// stretch is what a class holds of the units until an instant.
type stretch struct {
	class, units int
	end          int64
}

// turns is the order under way.
type turns struct {
	*Allotment
	queues [][]*row.Job // of each class, in the order of the queue
	held   []int
	free   int
	ends   []stretch // by end
	out    []*row.Job
	fixed  []bool // no other class's plans are lifted
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

// release gives back what is given back by an instant: classes are compared once all of it is.
func (t *turns) release(now int64) {
	for len(t.ends) > 0 && t.ends[0].end <= now {
		t.held[t.ends[0].class] -= t.ends[0].units
		t.free += t.ends[0].units
		t.ends = t.ends[1:]
	}
}

// lifted says of each class whether its plans are lifted for a class whose turn it is.
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

// Lifts says of each class whether its plans are lifted for a job of another class: for one that
// Order did not see, none.
func (a *Allotment) Lifts(j *row.Job) []bool {
	if list := a.lifts[j.ID]; list != nil {
		return list
	}
	return make([]bool, len(a.State.Classes))
}

// next is the class furthest below its target, of those that may have a turn, -1 for none.
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

// turn gives the first job of a class its turn, and what it asks for if it takes something.
func (t *turns) turn(class int, now int64, takes bool) int {
	j := t.queues[class][0]
	t.queues[class] = t.queues[class][1:]
	t.out = append(t.out, j)
	if j.State != row.JobReserved {
		t.Allotment.lifts[j.ID] = t.lifted(class)
	}
	units, err := t.Wants(j)
	if !takes || err != nil {
		return 0 // it is not understood any more, or cannot start: it has its turn all the same
	}
	t.held[class] += units
	t.free -= units
	s := stretch{class, units, max(now, j.Begin) + j.Walltime}
	i, _ := slices.BinarySearchFunc(t.ends, s, func(x, y stretch) int { return cmp.Compare(x.end, y.end) })
	t.ends = slices.Insert(t.ends, i, s)
	return units
}
