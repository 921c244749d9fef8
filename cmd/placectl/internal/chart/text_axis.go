package chart

import (
	"cmp"
	"strconv"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
)

// standing counts the nodes in each state now.
type standing struct {
	nodes, free, partly, busy, notUp int
	called                           string // the name for nodes, in the singular
}

func (g *Gantt) standing() standing {
	s := standing{nodes: len(g.Nodes), called: cmp.Or(g.Rows, "node")}
	for i := range g.Nodes {
		switch n := &g.Nodes[i]; {
		case n.Aside:
			s.nodes--
		case n.State != index.Up:
			s.notUp++
		case n.BarAt(g.Now) < 0:
			s.free++
		case n.Partly:
			s.partly++
		default:
			s.busy++
		}
	}
	return s
}

func (s *standing) text(at string) string {
	said := "At " + at + ", " + text.Comma(s.free) + " of " + countText(s.nodes, s.called) + " free"
	if s.partly > 0 {
		said += ", " + text.Comma(s.partly) + " partly"
	}
	said += ", " + text.Comma(s.busy) + " busy"
	if s.notUp > 0 {
		said += ", " + text.Comma(s.notUp) + " not up"
	}
	return said
}

// summary writes a line about the present state above the drawing.
func (d *textDrawing) summary() {
	s := d.data.standing()
	d.words("%s", s.text(string(text.AppendLocal(nil, d.data.Now, d.zone))))
}

func countText(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return text.Comma(n) + " " + noun + "s"
}

// timeLines draws the time above the rows.
func (d *textDrawing) timeLines() {
	d.axisLabels()
	line := make([]glyph, d.w.cells)
	for i := range line {
		line[i].char = d.look.axis
		if d.tickAt[i] {
			line[i].char = d.look.axisTick
		}
	}
	if now := d.w.nowCell(); now >= 0 {
		line[now] = glyph{d.look.axisNow, "1"}
	}
	d.line("", "", line)
}

func (d *textDrawing) axisLabels() {
	if len(d.axis.heads) > 0 {
		d.labelLine(d.axis.heads)
	}
	d.labelLine(d.axis.ticks)
}

// labelLine writes each label at its cell. A label that does not fit before the next one, or before the
// end, is left out. Its mark stays.
func (d *textDrawing) labelLine(ticks []tick) {
	line := make([]glyph, d.w.cells)
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

// leastFree writes behind each tick the least number of nodes free until the next.
func (d *textDrawing) leastFree(c *Curve) []glyph {
	line := make([]glyph, d.w.cells)
	for i := range line {
		line[i].char = ' '
	}
	for _, cells := range d.w.betweenTicks(d.axis.ticks) {
		lo, hi := cells[0], cells[1]
		n, known := c.leastFree(&d.w, lo, hi)
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
func (d *textDrawing) legend() {
	var items []string
	for kind := kinds - 1; kind > Past; kind-- {
		if d.used[kind] {
			items = append(items, string(d.look.fill[kind])+" "+kindWords[kind])
		}
	}
	d.legendLine(items)
}

// legendLine writes the items of a legend without breaking any.
func (d *textDrawing) legendLine(items []string) {
	if d.w.nowCell() >= 0 {
		items = append(items, string(d.look.axisNow)+" now")
	}
	d.flow(items, "  ")
}

// notes says what the drawing does not show.
func (d *textDrawing) notes(f folded) {
	if f.left > 0 {
		d.words("%s more nodes are left out: --rows 0 shows all, --nodes some, --by bucket sums them up.",
			text.Comma(f.left))
	}
	if f.beside > 0 {
		what := "stretches lie"
		if f.beside == 1 {
			what = "stretch lies"
		}
		d.words("%s %s beside others of a node, for which there are too few rows: --rows 0 shows all, --nodes some.",
			text.Comma(f.beside), what)
	}
	if f.hidden > 0 {
		what := "stretches are"
		if f.hidden == 1 {
			what = "stretch is"
		}
		d.words("%s %s too short to be seen here: less time shows more, as with --to now+1h; -o json lists all.",
			text.Comma(f.hidden), what)
	}
	d.endNote()
}

func (d *textDrawing) endNote() {
	if text := d.data.endNote(&d.w, d.zone); text != "" {
		d.words("%s", text)
	}
}

// endNote says how much comes after a window with a default end, or returns "".
func (g *Gantt) endNote(w *Window, loc *time.Location) string {
	ends := g.ends(w.To)
	switch {
	case len(ends) == 0 || !w.open:
		return ""
	case len(ends) == 1:
		return "1 job or reservation ends later than this: " + showAll(ends[0], loc)
	}
	return text.Comma(len(ends)) + " jobs and reservations end later than this: " + showAll(ends[len(ends)-1], loc)
}

func showAll(last int64, loc *time.Location) string {
	return "--to '" + time.Unix(last, 0).In(loc).Add(time.Minute).Format("2006-01-02 15:04") + "' shows all."
}
