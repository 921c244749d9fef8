package cluster

import (
	"math"
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/timeline"
)

// Conservative backfilling looks at every waiting job again whenever one ends early,
// which nearly always changes nothing: a job that could not start before its time
// can now only do so on nodes of which something was given back since it was last
// looked at. So those are kept in order, each job knows how far it has seen, and a job
// is placed anew only if one of the nodes since then has room for a part of it before
// its time, and then from the first such time on. That is read off the node's profile,
// which is kept until something changes on it.
//
// So nothing is overlooked; where there may be something the placer has the last word.

// A step of a profile: from an instant until the next step's there are so many on the
// node, and so much is left of its consumables.
type step struct {
	at    int64
	on    int  // stretches; 0: the node is idle
	whole bool // somebody has all of it
	left  []int64
}

// profile is what is left of a node from now on beside everybody but one owner, the
// last step going on for ever.
func (c *Cluster) profile(number uint32, but uint64) []step {
	list := c.snap.Calendar.At(number)
	own := slices.ContainsFunc(list, func(b timeline.Busy) bool { return b.Owner == but })
	if own {
		list = slices.DeleteFunc(slices.Clone(list), func(b timeline.Busy) bool { return b.Owner == but })
	} else if p := c.profiles[number]; p != nil {
		return p
	}
	steps := c.stock[number].steps(list)
	if !own {
		c.profiles[number] = steps
	}
	return steps
}

// steps adds stretches up.
func (k *stock) steps(list []timeline.Busy) []step {
	times := append(make([]int64, 0, 1+2*len(list)), math.MinInt64)
	for i := range list {
		times = append(times, list[i].Start, list[i].End)
	}
	slices.Sort(times)
	times = slices.Compact(times)
	steps := make([]step, len(times))
	for i, at := range times {
		steps[i] = step{at: at, left: slices.Clone(k.capacity)}
	}
	for at := range list {
		b := &list[at]
		from, _ := slices.BinarySearch(times, b.Start)
		for i := from; steps[i].at < b.End; i++ {
			steps[i].take(k.quantities, b)
		}
	}
	return steps
}

// take counts a stretch that is on the node in a step.
func (s *step) take(quantities []uint16, b *timeline.Busy) {
	s.on++
	if b.Use == nil {
		s.whole = true
		return
	}
	for _, a := range b.Use.Amounts {
		if q := slices.Index(quantities, a.Quantity); q >= 0 {
			s.left[q] -= a.N
		}
	}
}

// A need is what a chunk of a request takes of a node.
type need struct {
	features []string
	whole    bool
	amounts  []amount
	duration int64
}

type amount struct {
	res index.ResID
	n   int64
}

// needsOf are the chunks of a request, as far as a look goes.
func needsOf(c *Cluster, a *placer.Ask) []need {
	out := make([]need, len(a.Chunks))
	for i, chunk := range a.Chunks {
		d := need{whole: a.Spec.Place.Exclusive(), duration: a.Duration}
		for _, w := range chunk.Wants {
			def, ok := c.defs.Get(w.Res)
			switch {
			case w.Res == index.Feature:
				d.features = append(d.features, w.Value.Str)
			case ok && def.Consumable && w.Value.Num > 0:
				d.amounts = append(d.amounts, amount{w.Res, w.Value.Num})
			}
		}
		out[i] = d
	}
	return out
}

// first is the first time from now on at which a node may have room for a need beside
// everybody but its owner; limit where there is none before that.
func (c *Cluster) first(number uint32, d *need, but uint64, limit int64) int64 {
	n := c.nodes[number]
	for _, f := range d.features {
		if !slices.Contains(n.Features, f) {
			return limit
		}
	}
	quantities := c.stock[number].quantities
	steps := c.profile(number, but)
	from := limit // since when there has been room
	for i := range steps {
		end := int64(math.MaxInt64)
		if i+1 < len(steps) {
			end = steps[i+1].at
		}
		at := max(steps[i].at, c.snap.Now)
		switch {
		case end <= at: // over
		case !steps[i].holds(quantities, d):
			if from = limit; at >= limit {
				return limit
			}
		default:
			if from = min(from, at); from >= limit || end-from >= d.duration {
				return from
			}
		}
	}
	return limit
}

// holds reports whether what is left is enough.
func (s *step) holds(quantities []uint16, d *need) bool {
	if s.whole || d.whole && s.on > 0 {
		return false
	}
	for _, a := range d.amounts {
		q := slices.Index(quantities, uint16(a.res))
		if q < 0 || s.left[q] < a.n {
			return false
		}
	}
	return true
}

// sooner is from when on a job that has a plan may be able to start by now; the start
// that it has where it cannot be earlier than that.
func (m *Machine) sooner(job int32, p *Placement) int64 {
	news := m.given[m.seen[job]:]
	m.seen[job] = len(m.given)
	kind := m.kinds[job]
	if m.needs[kind] == nil {
		m.needs[kind] = needsOf(m.Cluster, &m.asks[job])
	}
	at := p.Start
	for i, node := range news {
		if slices.Contains(news[:i], node) {
			continue
		}
		for k := range m.needs[kind] {
			at = min(at, m.first(node, &m.needs[kind][k], p.Owner, at))
		}
	}
	return at
}
