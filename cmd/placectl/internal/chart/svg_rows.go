package chart

import (
	"slices"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
)

// foldBars makes the nodes into rows of a picture width pixels wide: those with
// the same stretches share one. Where there are very many lines, or more than
// limit, so do those whose stretches differ by less than can be seen, whoever
// has them. A row of nodes that are shared has a line for each of its lanes.
func (w *Window) foldBars(nodes []Node, limit, width int) folded {
	same := func(a, b Bar) bool { return a == b }
	f := foldNodes(nodes, false, same)
	if lines := w.giveLanes(f.groups); lines > manySVGRows || limit > 0 && lines > limit {
		px := *w
		px.cells = width
		f = foldNodes(nodes, true, func(a, b Bar) bool {
			return a.Kind == b.Kind && px.edge(a.Start) == px.edge(b.Start) && px.edge(a.End) == px.edge(b.End)
		})
		w.giveLanes(f.groups)
	}
	if limit > 0 {
		f.cutLines(limit)
	}
	return f
}

// giveLanes finds the lanes of the rows, as far as the window shows what is in them,
// and counts them.
func (w *Window) giveLanes(groups []group) (lines int) {
	for i := range groups {
		g := &groups[i]
		var shown []Bar
		for k := range g.nodes[0].Bars {
			if b := &g.nodes[0].Bars[k]; w.Shows(b) {
				shown = append(shown, *b)
			}
		}
		var lane []int
		lane, g.lanes = laneOf(shown)
		g.lane = make([]int, len(g.nodes[0].Bars))
		for k := range g.nodes[0].Bars {
			if w.Shows(&g.nodes[0].Bars[k]) {
				g.lane[k], lane = lane[0], lane[1:]
			}
		}
		lines += g.lanes
	}
	return lines
}

// cutLines leaves out the rows that have no room in so many lines. Of the first row
// as many lanes stay as there is room for.
func (f *folded) cutLines(limit int) {
	for i := range f.groups {
		g := &f.groups[i]
		if limit -= g.lanes; limit >= 0 {
			continue
		}
		if i == 0 {
			g.lanes += limit
			i++
		}
		for _, g := range f.groups[i:] {
			f.left += len(g.nodes)
		}
		f.groups = f.groups[:i]
		return
	}
}

func foldNodes(nodes []Node, loose bool, same func(a, b Bar) bool) (f folded) {
	for i := range nodes {
		n := len(f.groups)
		if n > 0 {
			g := &f.groups[n-1]
			if g.nodes[0].State == nodes[i].State && slices.EqualFunc(g.nodes[0].Bars, nodes[i].Bars, same) {
				g.nodes = g.nodes[:len(g.nodes)+1]
				continue
			}
		}
		f.groups = append(f.groups, group{nodes: nodes[i : i+1], loose: loose})
	}
	return f
}

// groupRow draws the nodes of a row.
func (d *svgDrawing) groupRow(g *group) {
	names, count := text.Printable(index.FoldNodeList(g.names())), blockLook.countText(len(g.nodes))
	room := (d.left - 10 - svgMargin) / svgChar
	d.nameTitle(names)
	d.text("name", svgMargin, d.top+14, "start", blockLook.cutText(names, room-output.TextWidth(count)-min(1, len(count))))
	d.buf.WriteString("</g>\n")
	if count != "" {
		d.text("count", float64(d.left-8), d.top+14, "end", count)
	}
	d.holes(g, d.bars(g, names), names)
	d.top += g.height()
}

// height is how many pixels a row takes.
func (g *group) height() int { return svgRow + (g.lanes-1)*svgLane }

// nameTitle begins a group whose title is the whole of a label that may be cut.
func (d *svgDrawing) nameTitle(text string) {
	d.buf.WriteString("<g><title>")
	d.escape(text)
	d.buf.WriteString("</title>")
}

// widestGroup is how many characters the longest label has.
func (d *svgDrawing) widestGroup(groups []group) int {
	widest := 0
	for i := range groups {
		widest = max(widest, output.TextWidth(text.Printable(index.FoldNodeList(groups[i].names())))+output.TextWidth(blockLook.countText(len(groups[i].nodes)))+1)
	}
	return widest
}
