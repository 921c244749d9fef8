package main

import (
	"math"
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/index"
)

// Stretches of a row are drawn from left to right, each from where the one before it
// in its lane ends. A short one is widened so that it can be seen; where others have
// the room for that already it is left out, and counted.

const (
	narrowestBar  = 1.5 // pixels
	narrowestRest = 0.5 // of a stretch whose beginning another one covers
)

// svgSpan is where a stretch, or a part of one, lies.
type svgSpan struct{ from, to float64 }

func (s svgSpan) width() float64 { return s.to - s.from }

// span is where a stretch of time goes in a lane that is taken up to a place; not ok
// where it is not to be seen.
func (d *svgDrawing) span(start, end int64, taken float64) (s svgSpan, ok bool) {
	right := float64(d.left + d.w.cells)
	s = svgSpan{d.x(start), d.x(end)}
	if s.width() < narrowestBar {
		s.from = max(min(s.from, right-narrowestBar), float64(d.left))
		s.to = s.from + narrowestBar
	}
	if s.from < taken {
		s = svgSpan{taken, d.x(end)}
		return s, s.width() >= narrowestRest
	}
	return s, true
}

// bars draws the stretches of a row, and tells where each is drawn.
func (d *svgDrawing) bars(g *ganttGroup, names string) []svgSpan {
	n := &g.nodes[0]
	taken := make([]float64, g.lanes)
	drawn := make([]svgSpan, len(n.bars))
	for k := range n.bars {
		b, lane := &n.bars[k], g.lane[k]
		if !d.w.shows(b) {
			continue
		}
		if lane >= g.lanes {
			d.hidden++
			continue
		}
		s := d.bar(g, k, names, d.top+2+lane*svgLane, taken[lane])
		if s.width() == 0 {
			d.hidden++
			continue
		}
		d.used[b.kind] = true
		drawn[k], taken[lane] = s, s.to
	}
	return drawn
}

// bar draws stretch number k of the nodes of a row, an overdue one in two parts. It
// tells where, which is nowhere if others have the room.
func (d *svgDrawing) bar(g *ganttGroup, k int, names string, y int, taken float64) svgSpan {
	b := &g.nodes[0].bars[k]
	owner := &d.data.owners[b.owner]
	class, end := "reserved", b.end
	if b.kind != ganttReserved {
		class = ganttWords[min(b.kind, ganttRunning)] + " c" + strconv.FormatUint(owner.Job%svgColors, 10)
	}
	if b.kind == ganttOverdue {
		end = max(b.due, b.start)
	}
	var whole, widest svgSpan
	draw := func(class string, start, end int64) {
		s, ok := d.span(start, end, taken)
		if start >= end || end <= d.w.from || start >= d.w.to || !ok {
			return
		}
		d.rect(class, s, y, svgBar, d.barTitle(g, k, names))
		if s.width() > widest.width() {
			widest = s
		}
		if whole.width() == 0 {
			whole.from = s.from
		}
		whole.to, taken = s.to, s.to
	}
	draw(class, b.start, end)
	if b.kind == ganttOverdue {
		draw("overdue", end, b.end)
	}
	d.barLabel(g, k, widest, y)
	return whole
}

// barLabel writes what a stretch is into it, where that fits.
func (d *svgDrawing) barLabel(g *ganttGroup, k int, s svgSpan, y int) {
	b := &g.nodes[0].bars[k]
	label := d.data.owners[b.owner].label()
	if n := g.countOwners(k); n > 1 {
		label = spell.Plural(n, ganttNoun(b.kind))
	}
	room := int(s.width()-6) / svgChar
	if after := d.x(d.w.now); s.from < after && int(s.to-after-6)/svgChar >= output.TextWidth(label) {
		s.from = after // the line of now does not cross the label
	}
	if b.kind == ganttReserved && room >= 4 {
		label = ganttBlocks.cutText(label, room)
	}
	if output.TextWidth(label) <= room {
		d.text("in", s.from+4, y+12, "start", label)
	}
}

// holes draws the time from now on that nobody has, beside what is drawn.
func (d *svgDrawing) holes(g *ganttGroup, drawn []svgSpan, names string) {
	n := &g.nodes[0]
	kind, class, word := ganttFree, "free", "free"
	if n.state != index.Up {
		kind, class, word = ganttNotUp, "notup", n.state.String()
	}
	at, reach, right := max(d.w.now, d.w.from), float64(d.left), float64(d.left+d.w.cells)
	hole := func(until int64, right float64) {
		if until <= at {
			return
		}
		d.used[kind] = true
		if s := (svgSpan{max(d.x(at), reach), min(d.x(until), right)}); s.width() > 0 {
			d.rect(class, s, d.top+2, svgBar+(g.lanes-1)*svgLane, word+"\n"+names+"\n"+d.between(at, until))
		}
	}
	next := make([]float64, len(n.bars)+1) // where what begins then or later is drawn first
	next[len(n.bars)] = right
	for i := len(n.bars) - 1; i >= 0; i-- {
		if next[i] = next[i+1]; drawn[i].width() > 0 {
			next[i] = min(next[i], drawn[i].from) // at the right border that is before its start
		}
	}
	for i := range n.bars {
		b := &n.bars[i]
		hole(min(b.start, d.w.to), next[i])
		at, reach = max(at, b.end), max(reach, drawn[i].to)
	}
	hole(d.w.to, right)
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
		text = spell.Plural(n, ganttNoun(b.kind)) + ", first " + text
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

// rect draws a box. Its edges are rounded as neighbours' are, so that they meet.
func (d *svgDrawing) rect(class string, s svgSpan, y, height int, title string) {
	from, to := math.Round(s.from*10)/10, math.Round(s.to*10)/10
	if to <= from {
		return
	}
	b := append(append(d.scratch[:0], `<rect class="`...), class...)
	b = strconv.AppendFloat(append(b, `" x="`...), from, 'f', 1, 64)
	b = strconv.AppendInt(append(b, `" y="`...), int64(y), 10)
	b = strconv.AppendFloat(append(b, `" width="`...), to-from, 'f', 1, 64)
	b = strconv.AppendInt(append(b, `" height="`...), int64(height), 10)
	d.scratch = append(b, `"><title>`...)
	d.buf.Write(d.scratch)
	d.escape(title)
	d.buf.WriteString("</title></rect>\n")
}
