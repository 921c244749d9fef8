package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
)

// The measures of a picture, in pixels.
const (
	narrowestSVG = 400
	svgMargin    = 16
	svgHead      = 76 // above the rows: a line of text, the time axis
	svgFoot      = 52 // below them: the axis again, the legend
	svgRow       = 20
	svgBar       = 15
	svgLane      = 16 // from one lane of a row to the next
	svgLine      = 18 // one more of the legend
	svgCurve     = 48 // a row of --by bucket
	svgChar      = 7  // about how wide a character of a label is
	svgTitleChar = 9  // and one of the title
	manySVGRows  = 500
)

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

const svgColors = 6

const svgDefs = `<defs>
<pattern id="reserved" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="7" height="7" fill="#fff6df"/><rect width="2" height="7" fill="#eebc5a"/></pattern>
<pattern id="notup" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)"><rect width="6" height="6" fill="#eceff1"/><rect width="1.5" height="6" fill="#a9b3bc"/></pattern>
</defs>
`

// svgDrawing draws a picture. Coordinates of time are those of the window, a
// cell being a pixel, moved to the right by left.
type svgDrawing struct {
	r       *runner
	data    *ganttData
	w       ganttWindow
	left    int
	top     int // of the next row
	bottom  int // of the last
	ticks   []ganttTick
	step    *ganttStep
	used    [ganttKinds]bool
	buf     bytes.Buffer
	scratch []byte
	hidden  int // stretches that there is no room for
}

// ganttSVG draws the whole picture.
func (r *runner) ganttSVG(g *ganttData, w ganttWindow, o *ganttOptions) []byte {
	d := &svgDrawing{r: r, data: g, w: w, top: svgHead}
	var folded ganttFolded
	var widest, height int // of all rows
	sum := len(g.buckets) > 1
	if o.byBucket {
		folded.left = cutRows(&g.buckets, o.rows)
		widest, height = d.widestBucket(), len(g.buckets)*svgCurve
		if sum {
			height += svgCurve
		}
	} else {
		folded = w.foldBars(g.nodes, o.rows, o.width)
		widest = d.widestGroup(folded.groups)
		for i := range folded.groups {
			height += folded.groups[i].height()
		}
	}
	d.layOut(o.width, widest, height)
	d.buf.Grow(8192 + 32*height) // about what it takes
	d.title(folded.left, o.byBucket)
	d.grid()
	for i := range folded.groups {
		d.groupRow(&folded.groups[i])
	}
	for i := range g.buckets {
		d.curveRow(g.buckets[i].label(), g.buckets[i].nodes)
	}
	if sum {
		d.curveRow("all nodes", g.nodePointers())
	}
	d.nowLine()
	d.note(d.legend(o.byBucket))
	d.buf.WriteString("</svg>\n")
	return append(svgBegin(o.width, d.bottom+svgFoot), d.buf.Bytes()...)
}

func (d *svgDrawing) layOut(width, widest, rows int) {
	d.left = svgMargin + min(widest*svgChar, width/3) + 10
	d.w.cells = width - svgMargin - d.left
	d.step = pickStep(d.w.from, d.w.to, d.w.cells/svgChar)
	d.ticks = d.step.ticks(d.w.from, d.w.to, d.r.loc)
	d.bottom = svgHead + rows
}

// svgBegin is what stands before the drawing.
func svgBegin(width, height int) []byte {
	return fmt.Appendf(nil, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"+
		`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d">`+"\n<style>%s</style>\n%s"+
		`<rect width="%d" height="%d" fill="#fff" pointer-events="none"/>`+"\n", width, height, width, height, svgStyle, svgDefs, width, height)
}

func (d *svgDrawing) title(left int, byBucket bool) {
	text := d.data.title
	if text == "" {
		s := d.data.standing()
		text = s.text(string(spell.AppendLocal(nil, d.data.now, d.r.loc)))
	}
	if len(d.data.nodes) == 0 {
		text = "There are no nodes yet."
	}
	if left > 0 {
		what := "node"
		if byBucket {
			what = "bucket"
		}
		text += "; " + spell.Plural(left, "more "+what) + " left out"
	}
	first, rest := breakTitle(text, (d.left+d.w.cells-svgMargin)/svgTitleChar)
	if rest == "" {
		d.text("title", svgMargin, 24, "start", first)
		return
	}
	d.text("title", svgMargin, 18, "start", first)
	d.text("title", svgMargin, 36, "start", rest)
}

// breakTitle breaks a title that takes more than so many characters behind the last
// comma or semicolon that fits.
func breakTitle(text string, room int) (first, rest string) {
	if output.TextWidth(text) <= room {
		return text, ""
	}
	at := -1
	for i := range text {
		if output.TextWidth(text[:i]) > room {
			break
		}
		if strings.HasPrefix(text[i:], ", ") || strings.HasPrefix(text[i:], "; ") {
			at = i + 1
		}
	}
	if at < 0 {
		return text, ""
	}
	return text[:at], text[at+1:]
}

// grid draws the axes, and the lines of their ticks down through the rows.
func (d *svgDrawing) grid() {
	d.labels(d.step.heads(d.w.from, d.w.to, d.r.loc), svgHead-26)
	d.labels(d.ticks, svgHead-10)
	d.labels(d.ticks, d.bottom+14)
	for _, t := range d.ticks {
		x := d.x(t.at)
		fmt.Fprintf(&d.buf, `<line class="grid" x1="%.1f" y1="%d" x2="%.1f" y2="%d"/>`+"\n", x, svgHead-6, x, d.bottom+3)
	}
}

// labels writes each label at its time, unless the next one is too near.
func (d *svgDrawing) labels(ticks []ganttTick, y int) {
	for i, t := range ticks {
		x, end := d.x(t.at), float64(d.left+d.w.cells)
		if i+1 < len(ticks) {
			end = d.x(ticks[i+1].at)
		}
		if x+float64(len(t.label)*svgChar) <= end+svgMargin {
			d.text("tick", x, y, "start", t.label)
		}
	}
}

// x is where an instant lies, one outside the window at its border.
func (d *svgDrawing) x(t int64) float64 {
	t = min(max(t, d.w.from), d.w.to)
	return float64(d.left) + float64(t-d.w.from)*float64(d.w.cells)/float64(d.w.to-d.w.from)
}

func (d *svgDrawing) nowLine() {
	if d.w.nowCell() < 0 {
		return
	}
	x := d.x(d.w.now)
	fmt.Fprintf(&d.buf, `<line class="now" x1="%.1f" y1="%d" x2="%.1f" y2="%d"/>`+"\n", x, svgHead-6, x, d.bottom+3)
	fmt.Fprintf(&d.buf, `<path d="M%.1f %d l-4 -6 h8 z" fill="#b42318"/>`+"\n", x, svgHead-3)
}

func (d *svgDrawing) text(class string, x float64, y int, anchor, text string) {
	b := append(append(d.scratch[:0], `<text class="`...), class...)
	b = strconv.AppendFloat(append(b, `" x="`...), x, 'f', 1, 64)
	b = strconv.AppendInt(append(b, `" y="`...), int64(y), 10)
	b = append(append(b, `" text-anchor="`...), anchor...)
	d.scratch = append(b, `">`...)
	d.buf.Write(d.scratch)
	d.escape(text)
	d.buf.WriteString("</text>\n")
}

// escape writes text that may hold anything; what XML cannot hold becomes U+FFFD.
func (d *svgDrawing) escape(s string) {
	xml.EscapeText(&d.buf, []byte(s)) //nolint:errcheck // a buffer takes all
}

// between says from when to when.
func (d *svgDrawing) between(start, end int64) string {
	b := append(spell.AppendLocal(nil, start, d.r.loc), " to "...)
	s, e := time.Unix(start, 0).In(d.r.loc), time.Unix(end, 0).In(d.r.loc)
	if s.YearDay() == e.YearDay() && s.Year() == e.Year() {
		b = e.AppendFormat(b, time.TimeOnly)
	} else {
		b = spell.AppendLocal(b, end, d.r.loc)
	}
	return string(append(spell.AppendDuration(append(b, " ("...), end-start), ')'))
}

// legend explains the colours, in as many lines as it needs, and tells where the last
// ends. The bottom moves down with them.
func (d *svgDrawing) legend(byBucket bool) int {
	type item struct{ class, word string }
	var items []item
	if byBucket {
		items = []item{{"free", "free"}, {"taken", "taken at most"}, {"all", "all taken"}}
	} else {
		classes := [ganttKinds]string{ganttFree: "free", ganttNotUp: "notup", ganttReserved: "reserved", ganttPlanned: "planned c0", ganttRunning: "running c0", ganttOverdue: "overdue"}
		for kind := ganttKinds - 1; kind > ganttPast; kind-- {
			if d.used[kind] {
				items = append(items, item{classes[kind], ganttWords[kind]})
			}
		}
	}
	x := svgMargin
	next := func(width int) (y int) {
		if x > svgMargin && x+width > d.left+d.w.cells {
			x, d.bottom = svgMargin, d.bottom+svgLine
		}
		return d.bottom + svgFoot - 20
	}
	for _, it := range items {
		width := 27 + len(it.word)*svgChar
		y := next(width)
		fmt.Fprintf(&d.buf, `<rect class="%s" x="%d" y="%d" width="22" height="11"/>`+"\n", it.class, x, y)
		d.text("tick", float64(x+27), y+10, "start", it.word)
		x += width + svgMargin
	}
	if d.w.nowCell() >= 0 {
		width := 9 + len("now")*svgChar
		y := next(width)
		fmt.Fprintf(&d.buf, `<line class="now" x1="%d" y1="%d" x2="%d" y2="%d"/>`+"\n", x+2, y-1, x+2, y+12)
		d.text("tick", float64(x+9), y+10, "start", "now")
		x += width + svgMargin
	}
	return x
}

// note says what is not shown, and what comes after the window: beside the legend, or
// below it where that leaves no room.
func (d *svgDrawing) note(legend int) {
	text := d.data.endNote(&d.w, d.r.loc)
	if d.hidden > 0 {
		what := comma(d.hidden) + " stretches have"
		if d.hidden == 1 {
			what = "1 stretch has"
		}
		text = strings.TrimSuffix(what+" no room here: -o json lists all. "+text, " ")
	}
	if text == "" {
		return
	}
	right := d.left + d.w.cells
	if legend+output.TextWidth(text)*svgChar > right {
		d.bottom += svgLine
	}
	d.text("tick", float64(right), d.bottom+svgFoot-10, "end", text)
}
