package chart

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"github.com/placectl/placectl/internal/text"
)

// The measures common to all pictures, in pixels.
const (
	svgMargin    = 16
	svgChar      = 7 // the approximate width of a label's character
	svgTitleChar = 9 // the approximate width of a title's character
)

// The styles of all pictures: classes of text, of lines and of boxes.
const svgStyle = `
text { font: 12px system-ui, "Segoe UI", "DejaVu Sans", Helvetica, Arial, sans-serif; fill: #1f2933; }
.name, .in { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: 11px; }
.in { pointer-events: none; }
.title { font-size: 14px; font-weight: 600; }
.tick, .count { fill: #52606d; font-size: 11px; }
.grid { stroke: #d5dbe1; pointer-events: none; }
.now { stroke: #b42318; stroke-width: 1.5; pointer-events: none; }
.free { fill: #eef4ee; } .notup { fill: url(#notup); } .reserved { fill: url(#reserved); stroke: #b7791f; }
.planned { fill-opacity: .22; stroke-dasharray: 3 2; } .running + .in, .overdue + .in { fill: #fff; } .overdue { fill: #d64545; }
.c0 { fill: #3a6ea5; stroke: #2d5580; } .c1 { fill: #3f8a4d; stroke: #2f6a3a; } .c2 { fill: #8457a0; stroke: #66427d; }
.c3 { fill: #23808c; stroke: #1a616a; } .c4 { fill: #9a5f38; stroke: #77492a; } .c5 { fill: #5b6675; stroke: #454e5a; }
.taken { fill: #3a6ea5; } .all { fill: #d64545; }
rect:hover { stroke: #111; stroke-width: 1.5; }
`

const svgColors = 6 // c0 to c5

const svgDefs = `<defs>
<pattern id="reserved" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="7" height="7" fill="#fff6df"/><rect width="2" height="7" fill="#eebc5a"/></pattern>
<pattern id="notup" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)"><rect width="6" height="6" fill="#eceff1"/><rect width="1.5" height="6" fill="#a9b3bc"/></pattern>
</defs>
`

// canvas collects what is drawn. Positions are in pixels from the left and the top.
type canvas struct {
	buf     bytes.Buffer
	scratch []byte
}

// document returns the drawing as a complete document.
func (c *canvas) document(width, height int) []byte {
	head := fmt.Appendf(nil, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"+
		`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d">`+"\n<style>%s</style>\n%s"+
		`<rect width="%d" height="%d" fill="#fff" pointer-events="none"/>`+"\n", width, height, width, height, svgStyle,
		svgDefs, width, height)
	return append(append(head, c.buf.Bytes()...), "</svg>\n"...)
}

// text writes a line of text that starts at x, ends there, or is centred on it: anchor is start, end or
// middle.
func (c *canvas) text(class string, x float64, y int, anchor, text string) {
	b := append(append(c.scratch[:0], `<text class="`...), class...)
	b = strconv.AppendFloat(append(b, `" x="`...), x, 'f', 1, 64)
	b = strconv.AppendInt(append(b, `" y="`...), int64(y), 10)
	b = append(append(b, `" text-anchor="`...), anchor...)
	c.scratch = append(b, `">`...)
	c.buf.Write(c.scratch)
	c.escape(text)
	c.buf.WriteString("</text>\n")
}

// escape writes any text. Characters that XML does not allow become U+FFFD.
func (c *canvas) escape(s string) {
	c.buf.WriteString(text.Markup(s))
}

// line draws a line.
func (c *canvas) line(class string, x1, y1, x2, y2 float64) {
	b := append(append(c.scratch[:0], `<line class="`...), class...)
	b = strconv.AppendFloat(append(b, `" x1="`...), x1, 'f', 1, 64)
	b = appendTenths(append(b, `" y1="`...), y1)
	b = strconv.AppendFloat(append(b, `" x2="`...), x2, 'f', 1, 64)
	b = appendTenths(append(b, `" y2="`...), y2)
	c.scratch = append(b, `"/>`+"\n"...)
	c.buf.Write(c.scratch)
}

// svgSpan is the range of a shape in one dimension.
type svgSpan struct{ from, to float64 }

func (s svgSpan) width() float64 { return s.to - s.from }

// tenths rounds to tenths of pixels, so that neighbours still meet.
func (s svgSpan) tenths() svgSpan {
	return svgSpan{math.Round(s.from*10) / 10, math.Round(s.to*10) / 10}
}

// rect draws a box, or nothing if it has no width. The mouse shows its title.
func (c *canvas) rect(class string, x, y svgSpan, title string) {
	x, y = x.tenths(), y.tenths()
	if x.to <= x.from {
		return
	}
	b := append(append(c.scratch[:0], `<rect class="`...), class...)
	b = strconv.AppendFloat(append(b, `" x="`...), x.from, 'f', 1, 64)
	b = appendTenths(append(b, `" y="`...), y.from)
	b = strconv.AppendFloat(append(b, `" width="`...), x.width(), 'f', 1, 64)
	b = appendTenths(append(b, `" height="`...), y.width())
	c.scratch = append(b, `"><title>`...)
	c.buf.Write(c.scratch)
	c.escape(title)
	c.buf.WriteString("</title></rect>\n")
}

// appendTenths appends a number with at most one decimal.
func appendTenths(b []byte, v float64) []byte {
	v = math.Round(v*10) / 10
	if whole := int64(v); float64(whole) == v {
		return strconv.AppendInt(b, whole, 10)
	}
	return strconv.AppendFloat(b, v, 'f', 1, 64)
}
