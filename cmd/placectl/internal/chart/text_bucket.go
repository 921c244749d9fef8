package chart

import (
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/internal/text"
)

// byBucket draws for each bucket how many of its nodes are taken, and below it the least number free.
func (d *textDrawing) byBucket(limit int) {
	buckets := d.data.Buckets
	left := cutRows(&buckets, limit)
	widest := len("all nodes") + 1 + output.TextWidth(d.look.countText(len(d.data.Nodes)))
	for i := range buckets {
		b := &buckets[i]
		widest = max(widest, output.TextWidth(b.label())+1+output.TextWidth(d.look.countText(len(b.Nodes))))
	}
	d.setLabel(widest)
	d.summary()
	d.timeLines()
	for i := range buckets {
		d.curveRows(buckets[i].label(), buckets[i].Nodes)
	}
	if len(d.data.Buckets) > 1 {
		d.curveRows("all nodes", d.data.nodePointers())
	}
	if len(buckets) > axisAgain/2 {
		d.axisLabels()
	}
	d.curveLegend()
	if left > 0 {
		d.words("%s more buckets are left out; all nodes counts theirs, too. --rows 0 shows them, --nodes those of "+
			"some nodes.", text.Comma(left))
	}
	d.endNote()
}

// curveRows draws two lines. The label continues on the second.
func (d *textDrawing) curveRows(label string, nodes []*Node) {
	c := d.w.Curve(nodes)
	count := d.look.times + strconv.Itoa(len(nodes))
	room := max(d.label-2-output.TextWidth(count), 4)
	n := output.BreakAt([]byte(label), room)
	d.line(strings.TrimRight(label[:n], " "), count, d.levels(&c))
	d.line(label[n:], "", d.leastFree(&c))
}

// levels draws the largest number taken in each cell.
func (d *textDrawing) levels(c *Curve) []glyph {
	line := make([]glyph, d.w.cells)
	for i := range line {
		most, known := c.most(d.w.instant(i), max(d.w.instant(i+1), d.w.instant(i)+1))
		switch {
		case !known:
			line[i].char = ' '
		case c.Up == 0:
			line[i] = glyph{d.look.fill[NotUp], kindColors[NotUp]}
		case most == 0:
			line[i] = d.glyph(i, cell{owner: -1, kind: Free})
		case most == c.Up:
			line[i] = glyph{d.look.level(most, c.Up), "31"}
		default:
			line[i] = glyph{d.look.level(most, c.Up), "36"}
		}
	}
	return line
}

func (d *textDrawing) curveLegend() {
	levels := d.look.levels
	last := len(levels) - 1
	d.legendLine([]string{string(levels[0]) + " none taken", string(levels[1]) + " to " + string(levels[last-1]) +
		" some", string(levels[last]) + " all",
		"12 free at least, until the next number"})
}
