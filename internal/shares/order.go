package shares

import (
	"cmp"
	"slices"

	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer/fairshare"
)

// Across classes, shares decide the order; inside a class, fairshare.Line does. So the queue is
// ordered through time. The jobs that classes may start now come first. Then, at each instant
// at which something is given back, the class furthest below its target has its turn, while
// anything is free. This is computed in units, not on nodes: after its turn, a job counts for
// its class for its walltime.
//
// A plan is not given up for a job of another class just because that has an earlier turn.
// Otherwise narrow jobs of one class would delay a wide one of another for ever. It is given
// up only for a class below its target, and only if its own class is at or above its target
// without it.

// stretch is a number of units that a job of a class holds until an instant.
type stretch struct {
	class, units int
	end          int64
	of           fairshare.LineJob
}

// lineJobOf returns what a job shares its class as: its array, else its user.
func lineJobOf(j *row.Job) fairshare.LineJob {
	if j.Array != 0 {
		return fairshare.LineJob{Array: j.Array}
	}
	return fairshare.LineJob{User: j.User}
}

// turns is an order that is being made.
type turns struct {
	*Allotment
	waits []*row.Job       // all, by number
	lines []fairshare.Line // of each class
	held  []int
	free  int
	ends  []stretch // sorted by end
	out   []*row.Job
	fixed []bool // no plans of other classes are lifted
}

// Order puts the jobs of a queue in the order of their turns. priority returns a job's priority.
func (a *Allotment) Order(line []*row.Job, priority func(*row.Job) (float64, error)) ([]*row.Job, error) {
	n := len(a.State.Classes)
	t := &turns{Allotment: a, waits: slices.Clone(line), lines: make([]fairshare.Line, n), held: make([]int, n),
		fixed: make([]bool, n), free: a.State.TotalWorkers - a.State.Away}
	a.lifts = make(map[uint64][]bool, len(line))
	slices.SortFunc(t.waits, func(x, y *row.Job) int { return cmp.Compare(x.ID, y.ID) })
	for i, j := range t.waits {
		at, err := a.Place(j)
		if err != nil {
			return nil, err
		}
		value, err := priority(j)
		if err != nil {
			return nil, err
		}
		t.lines[at].Wait(lineJobOf(j), fairshare.LineTask{At: i, Priority: value, Walltime: j.Walltime})
	}
	for _, s := range a.running {
		t.lines[s.class].Run(s.of, 1)
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
		left[at] -= t.turn(at, a.Now, a.starts[t.waits[t.lines[at].First()].ID])
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
		t.lines[t.ends[0].class].Run(t.ends[0].of, -1)
		t.free += t.ends[0].units
		t.ends = t.ends[1:]
	}
	for i := range t.lines {
		t.lines[i].Later()
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
		if t.lines[at].Len() > 0 && may(at) && (best < 0 || below(at) > below(best)) {
			best = at
		}
	}
	return best
}

// turn gives the first job of a class its turn. If takes is true, it returns the units that
// the job asks for.
func (t *turns) turn(class int, now int64, takes bool) int {
	line := &t.lines[class]
	j := t.waits[line.First()]
	t.out = append(t.out, j)
	if j.State != row.JobReserved {
		t.Allotment.lifts[j.ID] = t.lifted(class)
	}
	units, err := t.Wants(j)
	takes = takes && err == nil
	if line.Turn(takes); !takes {
		return 0 // its request is no longer valid, or it cannot start: it still has its turn
	}
	t.held[class] += units
	t.free -= units
	s := stretch{class, units, max(now, j.Begin) + j.Walltime, lineJobOf(j)}
	i, _ := slices.BinarySearchFunc(t.ends, s, func(x, y stretch) int { return cmp.Compare(x.end, y.end) })
	t.ends = slices.Insert(t.ends, i, s)
	return units
}
