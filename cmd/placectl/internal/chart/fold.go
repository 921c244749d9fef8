package chart

import (
	"slices"

	"github.com/placectl/placectl/internal/text"
)

// group is a run of neighbouring nodes that share a row.
type group struct {
	nodes []Node
	cells []cell // the cells of the first node
	loose bool   // the nodes have the same outline, but perhaps different jobs
}

// folded holds the rows of a drawing.
type folded struct {
	groups []group
	hidden int // stretches that no cell shows
	beside int // stretches hidden behind others, if there is no room for lanes
	left   int // nodes that --rows leaves out
}

// fold turns the nodes into at most limit rows, 0 for any number. Neighbours that look the same share a
// row. If that leaves too many rows, so do neighbours with the same outline, whichever jobs they have.
// The rest is left out and counted. Shared nodes have a row for each lane if there is room. Otherwise
// some stretches are hidden behind others, and counted.
func (w *Window) fold(nodes []Node, limit int) folded {
	f := w.foldBy(inLanes(nodes), limit, false)
	if f.left == 0 {
		return f
	}
	if f = w.foldBy(nodes, limit, false); f.left > 0 {
		f = w.foldBy(nodes, limit, true)
	}
	f.beside = w.countBeside(nodes)
	return f
}

// countBeside counts the stretches outside their node's first lane.
func (w *Window) countBeside(nodes []Node) (n int) {
	for i := range nodes {
		lane, _ := laneOf(nodes[i].Bars)
		for k, at := range lane {
			if at > 0 && w.Shows(&nodes[i].Bars[k]) {
				n++
			}
		}
	}
	return n
}

// foldBy turns the nodes into at most limit rows, 0 for any number, and counts those left out. Unless
// loose is set, it stops at the first node left out, because fold then tries something else.
func (w *Window) foldBy(nodes []Node, limit int, loose bool) (f folded) {
	row := make([]cell, w.cells)
	for i := range nodes {
		hidden := w.paint(&nodes[i], row)
		n := len(f.groups)
		switch {
		case f.left == 0 && n > 0 && f.groups[n-1].takes(&nodes[i], row):
			g := &f.groups[n-1]
			g.nodes = g.nodes[:len(g.nodes)+1]
		case limit == 0 || n < limit:
			f.groups = append(f.groups, group{nodes: nodes[i : i+1], cells: slices.Clone(row), loose: loose})
		default:
			if f.left++; !loose {
				return f
			}
		}
		f.hidden += hidden
	}
	return f
}

// takes reports whether a node may share the row.
func (g *group) takes(n *Node, row []cell) bool {
	if g.nodes[0].State != n.State || g.nodes[0].Aside != n.Aside || g.nodes[0].lane != 0 || n.lane != 0 {
		return false
	}
	if !g.loose {
		return slices.Equal(g.cells, row)
	}
	return slices.EqualFunc(g.cells, row, func(a, b cell) bool { return a.kind == b.kind && a.mark == b.mark })
}

// names lists the nodes of a row.
func (g *group) names() []string {
	names := make([]string, len(g.nodes))
	for i := range names {
		names[i] = g.nodes[i].Name
	}
	return names
}

// run is a part of a row: one bar, or equal cells without a bar.
type run struct {
	lo, hi int
	label  string
}

// runs splits a row into its parts, with their labels.
func (w *Window) runs(g *group, owners []Owner) []run {
	var out []run
	for lo := 0; lo < len(g.cells); {
		c, hi := g.cells[lo], lo+1
		for hi < len(g.cells) && g.cells[hi].owner == c.owner && (c.owner >= 0 || g.cells[hi].kind == c.kind) {
			hi++
		}
		run := run{lo: lo, hi: hi}
		switch {
		case c.owner >= 0:
			run.label = owners[c.owner].label()
		case c.kind == NotUp:
			run.label = g.nodes[0].State.String()
		}
		out = append(out, run)
		lo = hi
	}
	if g.loose && len(g.nodes) > 1 {
		w.countOwners(g, out)
	}
	return out
}

// countOwners labels each bar of a loose row with the number of its owners if it has several.
func (w *Window) countOwners(g *group, runs []run) {
	row := make([]cell, w.cells)
	seen := make([]map[int32]bool, len(runs))
	for i := range g.nodes {
		w.paint(&g.nodes[i], row)
		for k, run := range runs {
			if row[run.lo].owner >= 0 {
				if seen[k] == nil {
					seen[k] = map[int32]bool{}
				}
				seen[k][row[run.lo].owner] = true
			}
		}
	}
	for k := range runs {
		if len(seen[k]) < 2 {
			continue
		}
		runs[k].label = text.Plural(len(seen[k]), g.cells[runs[k].lo].kind.noun())
	}
}

// cutRows drops the rows behind a limit, 0 for none, and returns how many it has dropped.
func cutRows[T any](rows *[]T, limit int) int {
	if limit == 0 || len(*rows) <= limit {
		return 0
	}
	left := len(*rows) - limit
	*rows = (*rows)[:limit]
	return left
}
