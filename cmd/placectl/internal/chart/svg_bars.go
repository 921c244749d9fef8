package chart

import (
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
)

// Stretches of a row are drawn from left to right, each from where the one before it
// in its lane ends. A short one is widened so that it can be seen; where others have
// the room for that already it is left out, and counted.

const (
	narrowestBar  = 1.5 // pixels
	narrowestRest = 0.5 // of a stretch whose beginning another one covers
)

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
func (d *svgDrawing) bars(g *group, names string) []svgSpan {
	n := &g.nodes[0]
	taken := make([]float64, g.lanes)
	drawn := make([]svgSpan, len(n.Bars))
	for k := range n.Bars {
		b, lane := &n.Bars[k], g.lane[k]
		if !d.w.Shows(b) {
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
		d.used[b.Kind] = true
		drawn[k], taken[lane] = s, s.to
	}
	return drawn
}

// bar draws stretch number k of the nodes of a row, an overdue one in two parts. It
// tells where, which is nowhere if others have the room.
func (d *svgDrawing) bar(g *group, k int, names string, y int, taken float64) svgSpan {
	b := &g.nodes[0].Bars[k]
	owner := &d.data.Owners[b.Owner]
	class, end := "reserved", b.End
	if b.Kind != Reserved {
		class = kindWords[min(b.Kind, Running)] + " c" + strconv.FormatUint(owner.Job%svgColors, 10)
	}
	if b.Kind == Overdue {
		end = max(b.Due, b.Start)
	}
	var whole, widest svgSpan
	draw := func(class string, start, end int64) {
		s, ok := d.span(start, end, taken)
		if start >= end || end <= d.w.From || start >= d.w.To || !ok {
			return
		}
		d.box(class, s, y, svgBar, d.barTitle(g, k, names))
		if s.width() > widest.width() {
			widest = s
		}
		if whole.width() == 0 {
			whole.from = s.from
		}
		whole.to, taken = s.to, s.to
	}
	draw(class, b.Start, end)
	if b.Kind == Overdue {
		draw("overdue", end, b.End)
	}
	d.barLabel(g, k, widest, y)
	return whole
}

// barLabel writes what a stretch is into it, where that fits.
func (d *svgDrawing) barLabel(g *group, k int, s svgSpan, y int) {
	b := &g.nodes[0].Bars[k]
	label := d.data.Owners[b.Owner].label()
	if n := g.countOwners(k); n > 1 {
		label = text.Plural(n, b.Kind.noun())
	}
	room := int(s.width()-6) / svgChar
	if after := d.x(d.w.Now); s.from < after && int(s.to-after-6)/svgChar >= output.TextWidth(label) {
		s.from = after // the line of now does not cross the label
	}
	if b.Kind == Reserved && room >= 4 {
		label = blockLook.cutText(label, room)
	}
	if output.TextWidth(label) <= room {
		d.text("in", s.from+4, y+12, "start", label)
	}
}

// holes draws the time from now on that nobody has, beside what is drawn.
func (d *svgDrawing) holes(g *group, drawn []svgSpan, names string) {
	n := &g.nodes[0]
	kind, class, word := Free, "free", "free"
	if n.State != index.Up {
		kind, class, word = NotUp, "notup", n.State.String()
	}
	at, reach, right := max(d.w.Now, d.w.From), float64(d.left), float64(d.left+d.w.cells)
	hole := func(until int64, right float64) {
		if until <= at {
			return
		}
		d.used[kind] = true
		if s := (svgSpan{max(d.x(at), reach), min(d.x(until), right)}); s.width() > 0 {
			d.box(class, s, d.top+2, svgBar+(g.lanes-1)*svgLane, word+"\n"+names+"\n"+d.between(at, until))
		}
	}
	next := make([]float64, len(n.Bars)+1) // where what begins then or later is drawn first
	next[len(n.Bars)] = right
	for i := len(n.Bars) - 1; i >= 0; i-- {
		if next[i] = next[i+1]; drawn[i].width() > 0 {
			next[i] = min(next[i], drawn[i].from) // at the right border that is before its start
		}
	}
	for i := range n.Bars {
		b := &n.Bars[i]
		hole(min(b.Start, d.w.To), next[i])
		at, reach = max(at, b.End), max(reach, drawn[i].to)
	}
	hole(d.w.To, right)
}

// countOwners is how many have stretch number k of the nodes of a row.
func (g *group) countOwners(k int) int {
	if !g.loose || len(g.nodes) == 1 {
		return 1
	}
	seen := map[int32]bool{}
	for i := range g.nodes {
		seen[g.nodes[i].Bars[k].Owner] = true
	}
	return len(seen)
}

// barTitle is what the mouse shows of a stretch.
func (d *svgDrawing) barTitle(g *group, k int, names string) string {
	b := &g.nodes[0].Bars[k]
	owner := &d.data.Owners[b.Owner]
	words := owner.String()
	if n := g.countOwners(k); n > 1 {
		words = text.Plural(n, b.Kind.noun()) + ", first " + words
	} else {
		words += join(" (", owner.Name, ")") + join(" of ", owner.User, "")
	}
	words += "\n" + kindWords[b.Kind]
	if b.Kind == Reserved {
		words = strings.TrimSuffix(words, "\nreserved") + "\n" + b.StateAt(d.w.Now)
	}
	words += "\n" + names + "\n"
	if b.Kind == Overdue {
		return words + d.between(b.Start, b.Due) + ", and goes on"
	}
	return words + d.between(b.Start, b.End)
}

// join is a word between two others, nothing for no word.
func join(before, word, after string) string {
	if word == "" {
		return ""
	}
	return before + word + after
}

// box draws a box that is so many pixels high.
func (d *svgDrawing) box(class string, x svgSpan, y, height int, title string) {
	d.rect(class, "", x, svgSpan{float64(y), float64(y + height)}, title)
}
