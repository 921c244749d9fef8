package backfill

import (
	"math"
	"slices"
)

// A step is what is free from an instant until the next step's.
type step struct{ at, free int64 }

// A profile is what is free from now on, as steps in order: the first covers
// now, the last goes on for ever, and no two neighbours have the same free.
//
// It is not timeline.Planner, whose tree is for plans of any size that are asked
// about any window. Conservative backfilling asks a plan of some hundred steps,
// some hundred times for every job that ends, whether a job could start before
// the time it has. The answer is nearly always no, and the search can stop at
// that time, with the job's own processors left where they are. On logs with
// short queues the planner would do; with one of the size of Curie's it took 49 s
// of a processor, and takes 7 with this and holes. bench/simulate measures it,
// and BenchmarkPlanner compares.
type profile struct{ steps []step }

func newProfile(procs int64) *profile {
	return &profile{steps: []step{{math.MinInt64, procs}}}
}

// find is the step that covers t. Which way its halving goes nobody could
// foresee, so it goes there without branches: the shifted difference is all ones
// where the step begins by t, else nothing. (The first step may have begun at the
// beginning of time, but is not compared.)
func (p *profile) find(t int64) int {
	a, i := p.steps, 0
	for n := len(a); n > 1; {
		half := n >> 1
		i += half & int((a[i+half].at-t-1)>>63)
		n -= half
	}
	return i
}

// forget drops what is over by now.
func (p *profile) forget(now int64) {
	p.steps = p.steps[p.find(now):]
}

// earliest is the first instant from a time on at which so many processors are
// free for so long, or until limit; limit itself when there is none before it.
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

// before is since when so many processors have been free up to t, not looking
// behind now; t when they are not free just before it.
func (p *profile) before(now, t, procs int64) int64 {
	for i := p.find(t - 1); i >= 0 && p.steps[i].free >= procs; i-- {
		t = p.steps[i].at
	}
	return max(t, now)
}

// most is the most that is free at any instant of [from, to).
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

// add changes what is free in [from, to), which may be empty.
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

// cut makes step i, which covers t, two where t is inside it, and says which
// then begins at t.
func (p *profile) cut(i int, t int64) int {
	if p.steps[i].at == t {
		return i
	}
	p.steps = slices.Insert(p.steps, i+1, step{t, p.steps[i].free})
	return i + 1
}

// join drops step i if it changes nothing.
func (p *profile) join(i int) {
	if i > 0 && p.steps[i].free == p.steps[i-1].free {
		p.steps = slices.Delete(p.steps, i, i+1)
	}
}
