package chart

import (
	"fmt"
	"math"
	"strconv"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
)

// widestBucket returns the length of the longest label in characters.
func widestBucket(buckets []Bucket) int {
	widest := len("128 nodes, 12 not up")
	for i := range buckets {
		widest = max(widest, output.TextWidth(buckets[i].label()))
	}
	return widest
}

// curveRow draws how many of some nodes are taken, and below it the least number free from each tick to
// the next.
func (d *svgDrawing) curveRow(label string, nodes []*Node) {
	c := d.w.Curve(nodes)
	room := (d.left - 10 - svgMargin) / svgChar
	d.nameTitle(label)
	d.text("name", svgMargin, d.top+16, "start", blockLook.cutText(label, room))
	d.buf.WriteString("</g>\n")
	text := countText(len(nodes), "node")
	if c.NotUp > 0 {
		text += ", " + strconv.Itoa(c.NotUp) + " not up"
	}
	d.text("count", svgMargin, d.top+32, "start", text)
	if c.Up == 0 {
		d.box("notup", svgSpan{d.x(max(d.w.Now, d.w.From)), d.x(d.w.To)}, d.top+2, curveHeight, "not up")
	} else {
		d.curve(&c)
	}
	d.top += svgCurve
}

const curveHeight = 28

// curve draws the steps as bars that grow from below. Steps within a pixel become one, as high as the
// highest.
func (d *svgDrawing) curve(c *Curve) {
	start, most := max(d.w.From, d.w.Now), 0
	for _, s := range c.Steps {
		most = max(most, s.Taken)
		if d.x(s.End)-d.x(start) >= 1 || s.End == d.w.To {
			d.level(c, start, s.End, most)
			start, most = s.End, 0
		}
	}
	d.leastFree(c)
}

func (d *svgDrawing) level(c *Curve, start, end int64, most int) {
	high := 0
	if most > 0 {
		high = min(max(int(math.Round(float64(most)*curveHeight/float64(c.Up))), 2), curveHeight)
	}
	class := "taken"
	if most == c.Up {
		class = "all"
	}
	title := fmt.Sprintf("%d of %d taken, %d free\n%s", most, c.Up, c.Up-most, d.between(start, end))
	s := svgSpan{d.x(start), d.x(end)}
	if high < curveHeight {
		d.box("free", s, d.top+2, curveHeight-high, title)
	}
	if high > 0 {
		d.box(class, s, d.top+2+curveHeight-high, high, title)
	}
}

func (d *svgDrawing) leastFree(c *Curve) {
	spans := d.w.betweenTicks(d.axis.ticks)
	for i, cells := range spans {
		lo, hi := cells[0], cells[1]
		n, known := c.leastFree(&d.w, lo, hi)
		text := strconv.Itoa(n)
		if i+1 == len(spans) {
			text += " free"
		}
		if known && len(text)*svgChar <= hi-lo {
			d.text("count", float64(d.left+lo), d.top+2+curveHeight+12, "start", text)
		}
	}
}
