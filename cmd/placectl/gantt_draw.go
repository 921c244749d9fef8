package main

import (
	"fmt"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/index"
)

// ganttDrawing draws on a terminal. Nothing it draws is wider than width.
type ganttDrawing struct {
	r      *runner
	data   *ganttData
	w      ganttWindow
	look   *ganttLook
	colors bool
	width  int
	label  int // columns in front of the cells, with the blank between
	step   *ganttStep
	ticks  []ganttTick
	tickAt map[int]bool // cells
	used   [ganttKinds]bool
	buf    []byte
}

// drawGantt draws for people.
func (r *runner) drawGantt(g *ganttData, w ganttWindow, o *ganttOptions) error {
	d := &ganttDrawing{r: r, data: g, w: w, look: r.ganttLook(), colors: r.colored(), width: o.width}
	switch {
	case len(g.nodes) == 0:
		d.words("There are no nodes yet. placectl node add and placectl node import make some.")
	case o.byBucket:
		d.byBucket(o.rows)
	default:
		d.byNode(o.rows)
	}
	if _, err := r.stdout.Write(d.buf); err != nil {
		return fmt.Errorf("the answer could not be written: %w", err)
	}
	return nil
}

func (d *ganttDrawing) byNode(limit int) {
	// How much room the names take depends on which rows are folded, and that
	// on how wide a cell is: the first folding is for the names alone.
	d.setLabel(0)
	first := d.w.fold(d.data.nodes, limit)
	d.setLabel(d.widestLabel(first.groups))
	folded := d.w.fold(d.data.nodes, limit)
	d.summary()
	d.axis()
	for i := range folded.groups {
		d.groupRow(&folded.groups[i])
	}
	if len(d.data.nodes) > 1 {
		c := curve(d.data.nodePointers(), max(d.w.from, d.w.now))
		d.line("at least free", "", d.leastFree(&c))
	}
	if len(folded.groups) > axisAgain {
		d.axisLabels()
	}
	d.legend()
	d.notes(folded)
}

// axisAgain is after how many rows the time stands below them, too.
const axisAgain = 20

// setLabel gives the labels so much room, within reason, and the cells the rest.
func (d *ganttDrawing) setLabel(room int) {
	d.label = min(room, d.width/3) + 1
	d.w.cells = d.width - d.label
	d.step = pickStep(d.w.from, d.w.to, d.w.cells)
	d.ticks = d.step.ticks(d.w.from, d.w.to, d.r.loc)
	d.tickAt = map[int]bool{}
	for _, t := range d.ticks {
		d.tickAt[d.w.cell(t.at)] = true
	}
}

func (d *ganttDrawing) widestLabel(groups []ganttGroup) int {
	widest, counts := 0, 0
	if len(d.data.nodes) > 1 {
		widest = len("at least free")
	}
	for i := range groups {
		names := groups[i].names()
		widest = max(widest, output.TextWidth(spell.Printable(index.FoldNodeList(names))))
		if n := output.TextWidth(d.look.countText(len(names))); n > 0 {
			counts = max(counts, n+1)
		}
	}
	return widest + counts
}

// groupRow draws the nodes of a row.
func (d *ganttDrawing) groupRow(g *ganttGroup) {
	line := make([]ganttGlyph, d.w.cells)
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
	for _, run := range d.w.runs(g, d.data.owners) {
		d.writeLabel(g.cells, line, run)
	}
	names, count := g.names(), d.look.countText(len(g.nodes))
	room := d.label - 1
	if count != "" {
		room -= output.TextWidth(count) + 1
	}
	d.line(d.nameText(names, room), count, line)
}

// glyph is how a cell looks by itself.
func (d *ganttDrawing) glyph(at int, c ganttCell) ganttGlyph {
	g := ganttGlyph{d.look.fill[c.kind], d.color(c)}
	empty := c.kind == ganttFree || c.kind == ganttPast
	switch {
	case c.mark&cutBefore != 0:
		g.char = d.look.before
	case c.mark&cutAfter != 0:
		g.char = d.look.after
	case empty && at == d.w.nowCell():
		g = ganttGlyph{d.look.now, ""}
	case c.kind == ganttFree && d.tickAt[at]:
		g.char = d.look.tick
	}
	return g
}

// join marks where a bar begins.
func (d *ganttDrawing) join(before, c ganttCell, g *ganttGlyph) {
	if c.owner < 0 || c.owner == before.owner || c.mark != beginsBar {
		return
	}
	if d.look.eachBegin || before.owner >= 0 {
		g.char = d.look.begins[c.kind]
	}
}

// writeLabel writes what a bar is into it, behind its first cell, where it
// fits. Names may be cut short, numbers not.
func (d *ganttDrawing) writeLabel(cells []ganttCell, line []ganttGlyph, run ganttRun) {
	lo, hi := run.lo+1, run.hi
	if last := cells[hi-1]; last.mark&cutAfter != 0 || last.kind == ganttOverdue {
		hi--
	}
	text := run.label
	first := cells[run.lo]
	if first.kind == ganttReserved && hi-lo >= 4 {
		text = d.look.cutText(text, hi-lo)
	}
	if text == "" || output.TextWidth(text) > hi-lo {
		return
	}
	for i, c := range []rune(text) { // of labels, every character takes one column
		g := &line[lo+i]
		g.char = c
		if first.kind == ganttRunning && d.look.fill[ganttRunning] == '█' && g.style != "" {
			g.style = "7;" + g.style // the block goes on around the letters
		}
	}
}

// nameText names the nodes of a row in so much room.
func (d *ganttDrawing) nameText(names []string, room int) string {
	text := spell.Printable(index.FoldNodeList(names))
	if len(names) > 1 && output.TextWidth(text) > room {
		short := spell.Printable(names[0]) + d.look.more + spell.Printable(names[len(names)-1])
		if output.TextWidth(short) <= room {
			return short
		}
	}
	return d.look.cutText(text, room)
}

// line writes a line: a label, at its right a count, and the cells.
func (d *ganttDrawing) line(label, count string, cells []ganttGlyph) {
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

// words writes a sentence, on as many lines as it needs.
func (d *ganttDrawing) words(format string, args ...any) {
	d.flow(strings.Fields(spell.Printable(fmt.Sprintf(format, args...))), " ")
}

// flow writes items one after another, each in one piece, on as many lines as
// they need.
func (d *ganttDrawing) flow(items []string, between string) {
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
