package chart

import (
	"fmt"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
)

// textDrawing draws on a terminal. Nothing in it is wider than width.
type textDrawing struct {
	data   *Gantt
	w      Window
	look   *look
	colors bool
	width  int
	label  int // columns of the labels, with the blank behind them
	zone   *time.Location
	axis   axis
	tickAt map[int]bool // cells
	used   [kinds]bool
	buf    []byte
}

// Options say how a Gantt is drawn.
type Options struct {
	Width    int            // columns of text, or pixels of SVG
	Rows     int            // the greatest number of rows, 0 for no limit
	ByBucket bool           // a curve for each bucket instead of rows of nodes
	Blocks   bool           // for text: the terminal can show more than ASCII
	Colors   bool           // for text
	Zone     *time.Location // of displayed times
}

// Text draws for a terminal.
func (g *Gantt) Text(w Window, o *Options) []byte {
	d := &textDrawing{data: g, w: w, look: &asciiLook, colors: o.Colors, width: o.Width, zone: o.Zone}
	if o.Blocks {
		d.look = &blockLook
	}
	switch {
	case len(g.Nodes) == 0:
		d.words("There are no nodes yet. placectl node add and placectl node import make some.")
	case o.ByBucket:
		d.byBucket(o.Rows)
	default:
		d.byNode(o.Rows)
	}
	return d.buf
}

func (d *textDrawing) byNode(limit int) {
	// The room for names depends on which rows are folded, and folding depends on the width of the cells.
	// So the first folding only serves to measure the names.
	d.setLabel(0)
	first := d.w.fold(d.data.Nodes, limit)
	d.setLabel(d.widestLabel(first.groups))
	folded := d.w.fold(d.data.Nodes, limit)
	d.summary()
	d.timeLines()
	for i := range folded.groups {
		d.groupRow(&folded.groups[i])
	}
	if len(d.data.Nodes) > 1 {
		c := d.w.Curve(d.data.nodePointers())
		d.line("at least free", "", d.leastFree(&c))
	}
	if len(folded.groups) > axisAgain {
		d.axisLabels()
	}
	d.legend()
	d.notes(folded)
}

// axisAgain is the number of rows from which the time also stands below them.
const axisAgain = 20

// setLabel gives labels some room, within reason, and the cells the rest.
func (d *textDrawing) setLabel(room int) {
	d.label = min(room, d.width/3) + 1
	d.w.cells = d.width - d.label
	d.axis = d.w.axis(d.w.cells, d.zone)
	d.tickAt = map[int]bool{}
	for _, t := range d.axis.ticks {
		d.tickAt[d.w.cell(t.at)] = true
	}
}

func (d *textDrawing) widestLabel(groups []group) int {
	widest, counts := 0, 0
	if len(d.data.Nodes) > 1 {
		widest = len("at least free")
	}
	for i := range groups {
		names := groups[i].names()
		widest = max(widest, output.TextWidth(text.Printable(index.FoldNodeList(names))))
		if n := output.TextWidth(d.look.countText(len(names))); n > 0 {
			counts = max(counts, n+1)
		}
	}
	return widest + counts
}

// groupRow draws the nodes of a row.
func (d *textDrawing) groupRow(g *group) {
	line := make([]glyph, d.w.cells)
	for i, c := range g.cells {
		line[i] = d.glyph(i, c)
		d.used[c.kind] = true
	}
	for i := 1; i < len(g.cells); i++ {
		d.join(g.cells[i-1], g.cells[i], &line[i])
	}
	if d.look.eachBegin && g.cells[0].owner >= 0 && g.cells[0].mark&cutBefore == 0 {
		line[0].char = d.look.begins[g.cells[0].kind]
	}
	for _, run := range d.w.runs(g, d.data.Owners) {
		d.writeLabel(g.cells, line, run)
	}
	names, count := g.names(), d.look.countText(len(g.nodes))
	room := d.label - 1
	if count != "" {
		room -= output.TextWidth(count) + 1
	}
	d.line(d.nameText(names, room), count, line)
}

// glyph returns how a cell looks by itself.
func (d *textDrawing) glyph(at int, c cell) glyph {
	g := glyph{d.look.fill[c.kind], d.color(c)}
	empty := c.kind == Free || c.kind == Past
	switch {
	case c.mark&cutBefore != 0:
		g.char = d.look.before
	case c.mark&cutAfter != 0:
		g.char = d.look.after
	case empty && at == d.w.nowCell():
		g = glyph{d.look.now, ""}
	case c.kind == Free && d.tickAt[at]:
		g.char = d.look.tick
	}
	return g
}

// join marks where a bar begins.
func (d *textDrawing) join(before, c cell, g *glyph) {
	if c.owner < 0 || c.owner == before.owner || c.mark != beginsBar {
		return
	}
	if d.look.eachBegin || before.owner >= 0 {
		g.char = d.look.begins[c.kind]
	}
}

// writeLabel writes a bar's label behind its first cell if it fits. Names may be cut, numbers may not.
func (d *textDrawing) writeLabel(cells []cell, line []glyph, run run) {
	lo, hi := run.lo+1, run.hi
	if last := cells[hi-1]; last.mark&cutAfter != 0 || last.kind == Overdue {
		hi--
	}
	text := run.label
	first := cells[run.lo]
	if first.kind == Reserved && hi-lo >= 4 {
		text = d.look.cutText(text, hi-lo)
	}
	if text == "" || output.TextWidth(text) > hi-lo {
		return
	}
	for i, c := range []rune(text) { // every character of a label takes one column
		g := &line[lo+i]
		g.char = c
		if first.kind == Running && d.look.fill[Running] == '█' && g.style != "" {
			g.style = "7;" + g.style // the bar's colour continues around the letters
		}
	}
}

// nameText names the nodes of a row within room columns.
func (d *textDrawing) nameText(names []string, room int) string {
	said := text.Printable(index.FoldNodeList(names))
	if len(names) > 1 && output.TextWidth(said) > room {
		short := text.Printable(names[0]) + d.look.more + text.Printable(names[len(names)-1])
		if output.TextWidth(short) <= room {
			return short
		}
	}
	return d.look.cutText(said, room)
}

// line writes a line: a label, a count at its right, and the cells.
func (d *textDrawing) line(label, count string, cells []glyph) {
	room := d.label - 1
	label = d.look.cutText(label, room)
	if output.TextWidth(label)+output.TextWidth(count) > room {
		count = ""
	}
	d.buf = append(d.buf, label...)
	d.buf = output.AppendBlanks(d.buf, room-output.TextWidth(label)-output.TextWidth(count))
	d.buf = append(append(d.buf, count...), ' ')
	for len(cells) > 0 && cells[len(cells)-1].char == ' ' {
		cells = cells[:len(cells)-1]
	}
	d.buf = output.EndLine(d.appendGlyphs(d.buf, cells))
}

// words writes a sentence on as many lines as it needs.
func (d *textDrawing) words(format string, args ...any) {
	d.flow(strings.Fields(text.Printable(fmt.Sprintf(format, args...))), " ")
}

// flow writes items one after another on as many lines as they need, without breaking any.
func (d *textDrawing) flow(items []string, between string) {
	used := 0
	for _, item := range items {
		item = d.look.cutText(item, d.width)
		n := output.TextWidth(item)
		switch {
		case used > 0 && used+len(between)+n > d.width:
			d.buf, used = append(d.buf, '\n'), 0
		case used > 0:
			d.buf, used = append(d.buf, between...), used+len(between)
		}
		d.buf, used = append(d.buf, item...), used+n
	}
	d.buf = append(d.buf, '\n')
}
