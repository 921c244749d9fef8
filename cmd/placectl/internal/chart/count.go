package chart

import (
	"cmp"
	"slices"

	"github.com/placectl/placectl/index"
)

// Curve is how many of some nodes are taken over time.
type Curve struct {
	Steps []Step // one after the other, from now or the window's begin to its end
	Up    int    // how many of the nodes are up: only they are counted
	NotUp int
}

// Step says that so many are taken in [Start, End), which are Unix seconds.
type Step struct {
	Start, End int64
	Taken      int
}

// Curve counts how many of the nodes are taken in the part of the window that is not
// over.
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

// change is that so many more, or fewer, are taken from an instant on.
type change struct {
	at   int64
	more int
}

// changes appends when a node is taken and given back. Stretches that overlap,
// an overdue job and what was to follow it, take it once.
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

// most is the largest number taken at any time in [from, to), and false if the
// curve says nothing of that.
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

// leastFree is the smallest number free at any time of the cells [lo, hi).
func (c *Curve) leastFree(w *Window, lo, hi int) (int, bool) {
	most, any := c.most(w.instant(lo), max(w.instant(hi), w.instant(lo)+1))
	return c.Up - most, any
}
