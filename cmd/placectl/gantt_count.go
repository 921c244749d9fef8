package main

import (
	"cmp"
	"slices"

	"github.com/placectl/placectl/index"
)

// ganttCurve is how many of some nodes are taken over time.
type ganttCurve struct {
	steps []ganttCount // by start; the last lasts for ever
	up    int          // how many of the nodes are up: only they are counted
	notUp int
}

// ganttCount says that so many are taken from an instant on.
type ganttCount struct {
	start int64
	taken int
}

// curve counts the nodes, from the instant from on.
func curve(nodes []*ganttNode, from int64) ganttCurve {
	c := ganttCurve{steps: []ganttCount{{from, 0}}}
	var changes []ganttCount // taken is by how many more
	for _, n := range nodes {
		if n.state != index.Up {
			c.notUp++
			continue
		}
		c.up++
		changes = n.changes(changes, from)
	}
	slices.SortFunc(changes, func(a, b ganttCount) int { return cmp.Compare(a.start, b.start) })
	taken := 0
	for _, ch := range changes {
		taken += ch.taken
		if last := &c.steps[len(c.steps)-1]; last.start == ch.start {
			last.taken = taken
		} else {
			c.steps = append(c.steps, ganttCount{ch.start, taken})
		}
	}
	c.steps = slices.CompactFunc(c.steps, func(a, b ganttCount) bool { return a.taken == b.taken })
	return c
}

// changes appends when a node is taken and given back. Stretches that overlap,
// an overdue job and what was to follow it, take it once.
func (n *ganttNode) changes(out []ganttCount, from int64) []ganttCount {
	until := from
	for _, b := range n.bars {
		start := max(b.start, until)
		if b.end <= start {
			continue
		}
		out = append(out, ganttCount{start, 1}, ganttCount{b.end, -1})
		until = b.end
	}
	return out
}

// most is the largest number taken at any time in [from, to), and false when
// the curve begins only after that.
func (c *ganttCurve) most(from, to int64) (int, bool) {
	i, found := slices.BinarySearchFunc(c.steps, from, func(s ganttCount, t int64) int { return cmp.Compare(s.start, t) })
	if !found && i > 0 {
		i--
	}
	most, any := 0, false
	for ; i < len(c.steps) && c.steps[i].start < to; i++ {
		most, any = max(most, c.steps[i].taken), true
	}
	return most, any
}

// instant is when a cell begins.
func (w *ganttWindow) instant(cell int) int64 {
	return w.from + int64(cell)*(w.to-w.from)/int64(w.cells)
}

// least is the smallest number free at any time of the cells [lo, hi).
func (c *ganttCurve) least(w *ganttWindow, lo, hi int) (int, bool) {
	most, any := c.most(w.instant(lo), max(w.instant(hi), w.instant(lo)+1))
	return c.up - most, any
}

// nodePointers is for counting all nodes.
func (g *ganttData) nodePointers() []*ganttNode {
	out := make([]*ganttNode, len(g.nodes))
	for i := range g.nodes {
		out[i] = &g.nodes[i]
	}
	return out
}
