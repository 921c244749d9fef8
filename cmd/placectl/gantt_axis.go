package main

import (
	"strconv"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/index"
)

// ganttStanding is how many nodes are in which state now.
type ganttStanding struct{ nodes, free, partly, busy, notUp int }

func (g *ganttData) standing() ganttStanding {
	s := ganttStanding{nodes: len(g.nodes)}
	for i := range g.nodes {
		switch n := &g.nodes[i]; {
		case n.state != index.Up:
			s.notUp++
		case n.barNow(g.now) < 0:
			s.free++
		case n.partly:
			s.partly++
		default:
			s.busy++
		}
	}
	return s
}

func (s *ganttStanding) text(at string) string {
	text := "At " + at + ", " + comma(s.free) + " of " + nodesText(s.nodes) + " free"
	if s.partly > 0 {
		text += ", " + comma(s.partly) + " partly"
	}
	text += ", " + comma(s.busy) + " busy"
	if s.notUp > 0 {
		text += ", " + comma(s.notUp) + " not up"
	}
	return text
}

// summary says how things stand, in a line above the drawing.
func (d *ganttDrawing) summary() {
	s := d.data.standing()
	d.words("%s", s.text(string(spell.AppendLocal(nil, d.data.now, d.r.loc))))
}

func nodesText(n int) string {
	if n == 1 {
		return "1 node"
	}
	return comma(n) + " nodes"
}

func comma(n int) string { return humanize.Comma(int64(n)) }

// axis draws the time above the rows.
func (d *ganttDrawing) axis() {
	d.axisLabels()
	line := make([]ganttGlyph, d.w.cells)
	for i := range line {
		line[i].char = d.look.axis
		if d.tickAt[i] {
			line[i].char = d.look.axisTick
		}
	}
	if now := d.w.nowCell(); now >= 0 {
		line[now] = ganttGlyph{d.look.axisNow, "1"}
	}
	d.line("", "", line)
}

func (d *ganttDrawing) axisLabels() {
	if heads := d.step.heads(d.w.from, d.w.to, d.r.loc); len(heads) > 0 {
		d.labelLine(heads)
	}
	d.labelLine(d.ticks)
}

// labelLine writes each label at its cell. One that does not fit before the
// next, or the end, is left out: its mark stays.
func (d *ganttDrawing) labelLine(ticks []ganttTick) {
	line := make([]ganttGlyph, d.w.cells)
	for i := range line {
		line[i].char = ' '
	}
	for i, t := range ticks {
		at, end := d.w.cell(t.at), d.w.cells
		if i+1 < len(ticks) {
			end = d.w.cell(ticks[i+1].at) - 1
		}
		if at+len(t.label) > end {
			continue
		}
		for k, c := range []byte(t.label) {
			line[at+k].char = rune(c)
		}
	}
	d.line("", "", line)
}

// leastFree writes, from each tick on, how many nodes are free at least until
// the next.
func (d *ganttDrawing) leastFree(c *ganttCurve) []ganttGlyph {
	line := make([]ganttGlyph, d.w.cells)
	for i := range line {
		line[i].char = ' '
	}
	for _, cells := range d.w.betweenTicks(d.ticks) {
		lo, hi := cells[0], cells[1]
		n, known := c.least(&d.w, lo, hi)
		text := strconv.Itoa(n)
		if !known || lo+len(text) > hi || hi < d.w.cells && lo+len(text) == hi {
			continue
		}
		for k, digit := range []byte(text) {
			line[lo+k].char = rune(digit)
		}
	}
	return line
}

// legend explains the characters that were drawn.
func (d *ganttDrawing) legend() {
	var items []string
	for kind := ganttKinds - 1; kind > ganttPast; kind-- {
		if d.used[kind] {
			items = append(items, string(d.look.fill[kind])+" "+ganttWords[kind])
		}
	}
	d.legendLine(items)
}

// legendLine writes the items of a legend, each in one piece.
func (d *ganttDrawing) legendLine(items []string) {
	if d.w.nowCell() >= 0 {
		items = append(items, string(d.look.axisNow)+" now")
	}
	d.flow(items, "  ")
}

// notes tells what the drawing does not show.
func (d *ganttDrawing) notes(f ganttFolded) {
	if f.left > 0 {
		d.words("%s more nodes are left out: --rows 0 shows all, --nodes some, --by bucket sums them up.", comma(f.left))
	}
	if f.beside > 0 {
		what := "stretches lie"
		if f.beside == 1 {
			what = "stretch lies"
		}
		d.words("%s %s beside others of a node, for which there are too few rows: --rows 0 shows all, --nodes some.", comma(f.beside), what)
	}
	if f.hidden > 0 {
		what := "stretches are"
		if f.hidden == 1 {
			what = "stretch is"
		}
		d.words("%s %s too short to be seen here: less time shows more, as with --to now+1h; -o json lists all.", comma(f.hidden), what)
	}
	d.endNote()
}

func (d *ganttDrawing) endNote() {
	if text := d.data.endNote(&d.w, d.r.loc); text != "" {
		d.words("%s", text)
	}
}

// endNote says how much more there is after a window whose end nobody asked
// for, "" for nothing.
func (g *ganttData) endNote(w *ganttWindow, loc *time.Location) string {
	ends := g.ends(w.to)
	switch {
	case len(ends) == 0 || !w.open:
		return ""
	case len(ends) == 1:
		return "1 job or reservation ends later than this: " + showAll(ends[0], loc)
	}
	return comma(len(ends)) + " jobs and reservations end later than this: " + showAll(ends[len(ends)-1], loc)
}

func showAll(last int64, loc *time.Location) string {
	return "--to '" + time.Unix(last, 0).In(loc).Add(time.Minute).Format("2006-01-02 15:04") + "' shows all."
}
