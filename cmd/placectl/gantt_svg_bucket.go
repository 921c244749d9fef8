package main

import (
	"fmt"
	"math"
	"strconv"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
)

func (d *svgDrawing) widestBucket() int {
	widest := 0
	for i := range d.data.buckets {
		widest = max(widest, output.TextWidth(d.data.buckets[i].label()))
	}
	widest = max(widest, len("128 nodes, 12 not up"))
	return widest
}

// curveRow draws how many of some nodes are taken, and below that how many are
// free at least from each tick to the next.
func (d *svgDrawing) curveRow(label string, nodes []*ganttNode) {
	c := curve(nodes, max(d.w.from, d.w.now))
	room := (d.left - 10 - svgMargin) / svgChar
	d.nameTitle(label)
	d.text("name", svgMargin, d.top+16, "start", ganttBlocks.cutText(label, room))
	d.buf.WriteString("</g>\n")
	text := nodesText(len(nodes))
	if c.notUp > 0 {
		text += ", " + strconv.Itoa(c.notUp) + " not up"
	}
	d.text("count", svgMargin, d.top+32, "start", text)
	if c.up == 0 {
		d.rect("notup", svgSpan{d.x(max(d.w.now, d.w.from)), d.x(d.w.to)}, d.top+2, curveHeight, "not up")
	} else {
		d.curve(&c)
	}
	d.top += svgCurve
}

const curveHeight = 28

// curve draws the steps as bars that grow from below. Steps of less than a
// pixel are drawn as one, as high as the highest.
func (d *svgDrawing) curve(c *ganttCurve) {
	start, most := c.steps[0].start, 0
	for i, s := range c.steps {
		if s.start >= d.w.to {
			break
		}
		most = max(most, s.taken)
		end := d.w.to
		if i+1 < len(c.steps) {
			end = min(end, c.steps[i+1].start)
		}
		if d.x(end)-d.x(start) >= 1 || end == d.w.to {
			d.level(c, start, end, most)
			start, most = end, 0
		}
	}
	d.leastFree(c)
}

func (d *svgDrawing) level(c *ganttCurve, start, end int64, most int) {
	if end <= d.w.from {
		return
	}
	high := 0
	if most > 0 {
		high = min(max(int(math.Round(float64(most)*curveHeight/float64(c.up))), 2), curveHeight)
	}
	class := "taken"
	if most == c.up {
		class = "all"
	}
	title := fmt.Sprintf("%d of %d taken, %d free\n%s", most, c.up, c.up-most, d.between(start, end))
	s := svgSpan{d.x(start), d.x(end)}
	if high < curveHeight {
		d.rect("free", s, d.top+2, curveHeight-high, title)
	}
	if high > 0 {
		d.rect(class, s, d.top+2+curveHeight-high, high, title)
	}
}

func (d *svgDrawing) leastFree(c *ganttCurve) {
	spans := d.w.betweenTicks(d.ticks)
	for i, cells := range spans {
		lo, hi := cells[0], cells[1]
		n, known := c.least(&d.w, lo, hi)
		text := strconv.Itoa(n)
		if i+1 == len(spans) {
			text += " free"
		}
		if known && len(text)*svgChar <= hi-lo {
			d.text("count", float64(d.left+lo), d.top+2+curveHeight+12, "start", text)
		}
	}
}
