package chart

import (
	"cmp"
	"slices"

	"github.com/placectl/placectl/index"
)

// Curve is how many of some nodes are taken over time.
type Curve struct {
	Steps []Step // consecutive, from now or the window's start to its end
	Up    int    // how many of the nodes are up: others are not counted
	NotUp int
}

// Step is the number of nodes taken in [Start, End), in Unix seconds.
type Step struct {
	Start, End int64
	Taken      int
}

// Curve counts how many of the nodes are taken in the part of the window that is not in the past.
func (w *Window) Curve(nodes []*Node) Curve {
	var c Curve
	var changes []change
	from := max(w.From, w.Now)
	for _, n := range nodes {
		if n.State != index.Up {
			c.NotUp++
			continue
		}
		c.Up++
		changes = n.changes(changes, from)
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	taken := 0
	for i := 0; from < w.To; {
		for ; i < len(changes) && changes[i].at <= from; i++ {
			taken += changes[i].more
		}
		end := w.To
		if i < len(changes) {
			end = min(end, changes[i].at)
		}
		if last := len(c.Steps) - 1; last >= 0 && c.Steps[last].Taken == taken {
			c.Steps[last].End = end
		} else {
			c.Steps = append(c.Steps, Step{from, end, taken})
		}
		from = end
	}
	return c
}

// change is a change of the number taken at an instant.
type change struct {
	at   int64
	more int
}

// changes appends when a node is taken and given back. Overlapping stretches, such as an overdue job
// and what should have followed it, count once.
func (n *Node) changes(out []change, from int64) []change {
	until := from
	for _, b := range n.Bars {
		start := max(b.Start, until)
		if b.End <= start {
			continue
		}
		out = append(out, change{start, 1}, change{b.End, -1})
		until = b.End
	}
	return out
}

// most returns the largest number taken at any time in [from, to), false if the curve does not cover
// that time.
func (c *Curve) most(from, to int64) (int, bool) {
	i, found := slices.BinarySearchFunc(c.Steps, from, func(s Step, t int64) int { return cmp.Compare(s.Start, t) })
	if !found && i > 0 {
		i--
	}
	most, any := 0, false
	for ; i < len(c.Steps) && c.Steps[i].Start < to; i++ {
		most, any = max(most, c.Steps[i].Taken), true
	}
	return most, any
}

// leastFree returns the smallest number free at any time of the cells [lo, hi).
func (c *Curve) leastFree(w *Window, lo, hi int) (int, bool) {
	most, any := c.most(w.instant(lo), max(w.instant(hi), w.instant(lo)+1))
	return c.Up - most, any
}
