package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/index"
)

// foldBars makes the nodes into rows of a picture width pixels wide: those with
// the same stretches share one. Where there are very many rows, or more than
// limit, so do those whose stretches differ by less than can be seen, whoever
// has them.
func (w *ganttWindow) foldBars(nodes []ganttNode, limit, width int) ganttFolded {
	same := func(a, b ganttBar) bool { return a == b }
	f := foldNodes(nodes, false, same)
	if len(f.groups) > manySVGRows || limit > 0 && len(f.groups) > limit {
		px := *w
		px.cells = width
		f = foldNodes(nodes, true, func(a, b ganttBar) bool {
			return a.kind == b.kind && px.edge(a.start) == px.edge(b.start) && px.edge(a.end) == px.edge(b.end)
		})
	}
	if limit > 0 && len(f.groups) > limit {
		for _, g := range f.groups[limit:] {
			f.left += len(g.nodes)
		}
		f.groups = f.groups[:limit]
	}
	return f
}

func foldNodes(nodes []ganttNode, loose bool, same func(a, b ganttBar) bool) (f ganttFolded) {
	for i := range nodes {
		n := len(f.groups)
		if n > 0 {
			g := &f.groups[n-1]
			if g.nodes[0].state == nodes[i].state && slices.EqualFunc(g.nodes[0].bars, nodes[i].bars, same) {
				g.nodes = g.nodes[:len(g.nodes)+1]
				continue
			}
		}
		f.groups = append(f.groups, ganttGroup{nodes: nodes[i : i+1], loose: loose})
	}
	return f
}

// groupRow draws the nodes of a row.
func (d *svgDrawing) groupRow(g *ganttGroup) {
	n := &g.nodes[0]
	names, count := printable(index.FoldNodeList(g.names())), ganttBlocks.countText(len(g.nodes))
	room := (d.left - 10 - svgMargin) / svgChar
	d.nameTitle(names)
	d.text("name", svgMargin, d.top+14, "start", ganttBlocks.cutText(names, room-textWidth(count)-min(1, len(count))))
	d.buf.WriteString("</g>\n")
	if count != "" {
		d.text("count", float64(d.left-8), d.top+14, "end", count)
	}
	d.holes(n, names)
	for kind := ganttReserved; kind < ganttKinds; kind++ {
		for k := range n.bars {
			if b := &n.bars[k]; b.kind == kind && d.w.shows(b) {
				d.used[kind] = true
				d.bar(g, k, names)
			}
		}
	}
	d.top += svgRow
}

// holes draws the time from now on that nobody has.
func (d *svgDrawing) holes(n *ganttNode, names string) {
	kind, class, word := ganttFree, "free", "free"
	if n.state != index.Up {
		kind, class, word = ganttNotUp, "notup", n.state.String()
	}
	at := max(d.w.now, d.w.from)
	hole := func(until int64) {
		if until > at {
			d.used[kind] = true
			d.rect(class, at, until, d.top+2, svgBar, word+"\n"+names+"\n"+d.between(at, until))
		}
	}
	for i := range n.bars {
		hole(min(n.bars[i].start, d.w.to))
		at = max(at, n.bars[i].end)
	}
	hole(d.w.to)
}

// bar draws stretch number k of the nodes of a row.
func (d *svgDrawing) bar(g *ganttGroup, k int, names string) {
	b := &g.nodes[0].bars[k]
	owner := &d.data.owners[b.owner]
	label, title := owner.label(), d.barTitle(g, k, names)
	if n := g.countOwners(k); n > 1 {
		label = plural(n, ganttNoun(b.kind))
	}
	class, end := "reserved", b.end
	if b.kind != ganttReserved {
		class = ganttWords[min(b.kind, ganttRunning)] + " c" + strconv.FormatUint(owner.Job%svgColors, 10)
	}
	if b.kind == ganttOverdue {
		d.rect("overdue", max(b.due, b.start), b.end, d.top+2, svgBar, title)
		end = b.due
	}
	if b.kind != ganttOverdue || end > d.w.from {
		d.rect(class, b.start, end, d.top+2, svgBar, title)
	}
	x, room := d.x(b.start), int(d.x(end)-d.x(b.start)-6)/svgChar
	if late := int(d.x(b.end)-d.x(end)-6) / svgChar; late > room {
		x, room = d.x(end), late
	} else if after := d.x(d.w.now); x < after && int(d.x(end)-after-6)/svgChar >= textWidth(label) {
		x = after // the line of now does not cross the label
	}
	if b.kind == ganttReserved && room >= 4 {
		label = ganttBlocks.cutText(label, room)
	}
	if textWidth(label) <= room {
		d.text("in", x+4, d.top+14, "start", label)
	}
}

// countOwners is how many have stretch number k of the nodes of a row.
func (g *ganttGroup) countOwners(k int) int {
	if !g.loose || len(g.nodes) == 1 {
		return 1
	}
	seen := map[int32]bool{}
	for i := range g.nodes {
		seen[g.nodes[i].bars[k].owner] = true
	}
	return len(seen)
}

func ganttNoun(kind ganttKind) string {
	if kind == ganttReserved {
		return "reservation"
	}
	return "job"
}

// barTitle is what the mouse shows of a stretch.
func (d *svgDrawing) barTitle(g *ganttGroup, k int, names string) string {
	b := &g.nodes[0].bars[k]
	owner := &d.data.owners[b.owner]
	text := owner.String()
	if n := g.countOwners(k); n > 1 {
		text = plural(n, ganttNoun(b.kind)) + ", first " + text
	} else {
		text += join(" (", owner.name, ")") + join(" of ", owner.user, "")
	}
	text += "\n" + ganttWords[b.kind]
	if b.kind == ganttReserved {
		text = strings.TrimSuffix(text, "\nreserved") + "\n" + b.state(d.w.now)
	}
	text += "\n" + names + "\n"
	if b.kind == ganttOverdue {
		return text + d.between(b.start, b.due) + ", and goes on"
	}
	return text + d.between(b.start, b.end)
}

// join is a word between two others, nothing for no word.
func join(before, word, after string) string {
	if word == "" {
		return ""
	}
	return before + word + after
}

// rect draws a stretch of time. However short, it can be seen.
func (d *svgDrawing) rect(class string, from, to int64, y, height int, title string) {
	x, end := d.x(from), d.x(to)
	if end-x < 1.5 {
		x = max(min(x, float64(d.left+d.w.cells)-1.5), float64(d.left))
		end = x + 1.5
	}
	b := append(append(d.scratch[:0], `<rect class="`...), class...)
	b = strconv.AppendFloat(append(b, `" x="`...), x, 'f', 1, 64)
	b = strconv.AppendInt(append(b, `" y="`...), int64(y), 10)
	b = strconv.AppendFloat(append(b, `" width="`...), end-x, 'f', 1, 64)
	b = strconv.AppendInt(append(b, `" height="`...), int64(height), 10)
	d.scratch = append(b, `"><title>`...)
	d.buf.Write(d.scratch)
	d.escape(title)
	d.buf.WriteString("</title></rect>\n")
}

// nameTitle begins a group whose title is the whole of a label that may be cut.
func (d *svgDrawing) nameTitle(text string) {
	d.buf.WriteString("<g><title>")
	d.escape(text)
	d.buf.WriteString("</title>")
}

// widestGroup is how many characters the longest label has.
func (d *svgDrawing) widestGroup(groups []ganttGroup) int {
	widest := 0
	for i := range groups {
		widest = max(widest, textWidth(printable(index.FoldNodeList(groups[i].names())))+textWidth(ganttBlocks.countText(len(groups[i].nodes)))+1)
	}
	return widest
}
