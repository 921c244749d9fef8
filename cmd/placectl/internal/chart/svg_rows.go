package chart

import (
	"slices"
	"strconv"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
)

// groupRow draws the nodes of a row from its painted cells, a pixel for each. The lanes of a node share
// its label.
func (d *svgDrawing) groupRow(g *group) {
	names := text.Printable(index.FoldNodeList(g.names()))
	if g.nodes[0].lane == 0 {
		count := blockLook.countText(len(g.nodes))
		room := (d.left - 10 - svgMargin) / svgChar
		d.nameTitle(names)
		d.text("name", svgMargin, d.top+14, "start",
			blockLook.cutText(names, room-output.TextWidth(count)-min(1, len(count))))
		d.buf.WriteString("</g>\n")
		if count != "" {
			d.text("count", float64(d.left-8), d.top+14, "end", count)
		}
	}
	if g.nodes[0].lane > 0 {
		d.top -= svgRow - svgLane
	}
	for _, run := range d.w.runs(g, d.data.Owners) {
		if g.cells[run.lo].owner >= 0 {
			d.bar(g, run, names)
		} else {
			d.holes(g, run, names)
		}
	}
	d.top += svgRow
}

// holes draws the time from now on in which nothing is on the nodes, in any lane.
func (d *svgDrawing) holes(g *group, run run, names string) {
	n, kind := &g.nodes[0], g.cells[run.lo].kind
	if kind == Past {
		return
	}
	class, word, bars := "free", "free", n.Bars
	if kind == NotUp {
		class, word = "notup", n.State.String()
	}
	if n.whole != nil {
		bars = n.whole
	}
	at := max(d.w.Now, d.w.From)
	hole := func(until int64) {
		lo, hi := max(run.lo, d.w.edge(at)), min(run.hi, d.w.edge(until))
		if lo < hi {
			d.used[kind] = true
			d.box(class, d.pixels(lo, hi), d.top+2, svgLane, word+"\n"+names+"\n"+d.between(at, until))
		}
	}
	for i := range bars {
		if bars[i].Start > at {
			hole(min(bars[i].Start, d.w.To))
		}
		at = max(at, bars[i].End)
	}
	if at < d.w.To {
		hole(d.w.To)
	}
}

// barOf returns the stretch of a run: the nearest one of its owner.
func (d *svgDrawing) barOf(g *group, run run) *Bar {
	var best *Bar
	far := func(b *Bar) int { return max(d.w.edge(b.Start)-run.lo, run.lo-d.w.edge(b.Start)) }
	for i := range g.nodes[0].Bars {
		b := &g.nodes[0].Bars[i]
		if b.Owner == g.cells[run.lo].owner && d.w.Shows(b) && (best == nil || far(b) < far(best)) {
			best = b
		}
	}
	return best
}

// pixels returns the position of some cells.
func (d *svgDrawing) pixels(lo, hi int) svgSpan {
	return svgSpan{float64(d.left + lo), float64(d.left + hi)}
}

// bar draws a stretch with its label if that fits. An overdue one has two parts.
func (d *svgDrawing) bar(g *group, run run, names string) {
	b, owner := d.barOf(g, run), &d.data.Owners[g.cells[run.lo].owner]
	d.used[b.Kind] = true
	class := "reserved"
	if b.Kind != Reserved {
		class = kindWords[min(b.Kind, Running)] + " c" + strconv.FormatUint(owner.Job%svgColors, 10)
	}
	title, late := d.barTitle(run, b, names), slices.IndexFunc(g.cells[run.lo:run.hi], func(c cell) bool {
		return c.kind == Overdue
	})
	if late < 0 {
		late = run.hi - run.lo
	}
	d.box(class, d.pixels(run.lo, run.lo+late), d.top+2, svgBar, title)
	d.box("overdue", d.pixels(run.lo+late, run.hi), d.top+2, svgBar, title)
	s, label := d.pixels(run.lo, run.hi), run.label
	room := int(s.width()-6) / svgChar
	if after := d.x(d.w.Now); s.from < after && int(s.to-after-6)/svgChar >= output.TextWidth(label) {
		s.from = after // so that the line of now does not cross the label
	}
	if b.Kind == Reserved && room >= 4 {
		label = blockLook.cutText(label, room)
	}
	if output.TextWidth(label) <= room {
		d.text("in", s.from+4, d.top+14, "start", label)
	}
}

// barTitle returns the text that the mouse shows for a stretch.
func (d *svgDrawing) barTitle(run run, b *Bar, names string) string {
	owner := &d.data.Owners[b.Owner]
	words := owner.String()
	if run.label != owner.label() {
		words = run.label + ", first " + words
	} else {
		words += join(" (", owner.Name, ")") + join(" of ", owner.User, "")
	}
	state := kindWords[b.Kind]
	if b.Kind == Reserved {
		state = b.StateAt(d.w.Now)
	}
	words += "\n" + state + "\n" + names + "\n"
	if b.Kind == Overdue {
		return words + d.between(b.Start, b.Due) + ", and goes on"
	}
	return words + d.between(b.Start, b.End)
}

// join returns a word with text around it, or nothing for an empty word.
func join(before, word, after string) string {
	if word == "" {
		return ""
	}
	return before + word + after
}

// box draws a box that is height pixels high.
func (d *svgDrawing) box(class string, x svgSpan, y, height int, title string) {
	d.rect(class, x, svgSpan{float64(y), float64(y + height)}, title)
}

// nameTitle begins a group whose title is the full text of a label that may be cut.
func (d *svgDrawing) nameTitle(text string) {
	d.buf.WriteString("<g><title>")
	d.escape(text)
	d.buf.WriteString("</title>")
}

// widestGroup returns the length of the longest label in characters.
func widestGroup(groups []group) int {
	widest := 0
	for i := range groups {
		widest = max(widest, output.TextWidth(text.Printable(index.FoldNodeList(groups[i].names())))+output.TextWidth(
			blockLook.countText(len(groups[i].nodes)))+1)
	}
	return widest
}
