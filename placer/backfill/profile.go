package backfill

import (
	"math"
	"slices"
)

// A step is what is free from an instant until the next step's.
type step struct{ at, free int64 }

// A profile is what is free from now on, as steps in order: the first covers now, the last has no end,
// and neighbours differ.
//
// It is not a timeline.Planner, whose tree is for plans of any size and queries about any window.
// Conservative backfilling asks a plan of some hundred steps, some hundred times for each ended job,
// whether a job could start before its planned time. The answer is nearly always no, and the search can
// stop at that time, without moving the job's own processors. On logs with short queues the planner
// would do. With one of the size of Curie's it took 49 s of processor time; this and holes take 7 s.
// bench/simulate measures it, and BenchmarkPlanner compares.
type profile struct{ steps []step }

func newProfile(procs int64) *profile {
	return &profile{steps: []step{{math.MinInt64, procs}}}
}

// find returns the index of the step that covers t. Branches of a binary search cannot be
// predicted, so it has none: the shifted difference is all ones if the step begins by t, else
// 0. (The first step may begin at the smallest instant, but is not compared.)
func (p *profile) find(t int64) int {
	a, i := p.steps, 0
	for n := len(a); n > 1; {
		half := n >> 1
		i += half & int((a[i+half].at-t-1)>>63)
		n -= half
	}
	return i
}

// forget drops steps that are over.
func (p *profile) forget(now int64) {
	p.steps = p.steps[p.find(now):]
}

// earliest returns the first instant from a time on at which enough processors are free for
// long enough, or limit if there is none before it.
func (p *profile) earliest(from, length, procs, limit int64) int64 {
	a, t := p.steps[p.find(from):], from
	for i := 1; i < len(a); i++ {
		next := a[i].at
		if a[i-1].free < procs {
			t = next
		} else if next-t >= length {
			break
		}
		if next >= limit {
			break
		}
	}
	return min(t, limit)
}

// before returns the instant, at least now, since which enough processors are free up to t, or
// t if they are not free just before it.
func (p *profile) before(now, t, procs int64) int64 {
	for i := p.find(t - 1); i >= 0 && p.steps[i].free >= procs; i-- {
		t = p.steps[i].at
	}
	return max(t, now)
}

// most returns the most that is free at any instant of [from, to).
func (p *profile) most(from, to int64) int64 {
	n := int64(0)
	for _, s := range p.steps[p.find(from):] {
		if s.at >= to {
			break
		}
		n = max(n, s.free)
	}
	return n
}

// add changes what is free in [from, to), which can be empty.
func (p *profile) add(from, to, procs int64) {
	if from >= to {
		return
	}
	i := p.cut(p.find(from), from)
	j := i
	for j+1 < len(p.steps) && p.steps[j+1].at <= to {
		j++
	}
	if p.steps[j].at < to {
		j = p.cut(j, to)
	}
	for k := i; k < j; k++ {
		p.steps[k].free += procs
	}
	p.join(j)
	p.join(i)
}

// cut splits step i, which covers t, if t is inside it, and returns the step that begins at t.
func (p *profile) cut(i int, t int64) int {
	if p.steps[i].at == t {
		return i
	}
	p.steps = slices.Insert(p.steps, i+1, step{t, p.steps[i].free})
	return i + 1
}

// join removes step i if it changes nothing.
func (p *profile) join(i int) {
	if i > 0 && p.steps[i].free == p.steps[i-1].free {
		p.steps = slices.Delete(p.steps, i, i+1)
	}
}
