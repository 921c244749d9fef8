package chart

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/internal/text"
)

// The measures of a picture, in pixels.
const (
	svgHead     = 76 // above the rows: a line of text, the time axis
	svgFoot     = 52 // below them: the axis again, the legend
	svgRow      = 20
	svgBar      = 15
	svgLane     = 16 // height of a lane
	svgLine     = 18 // height of a line of the legend
	svgCurve    = 48 // height of a row of --by bucket
	manySVGRows = 500
)

// svgDrawing draws a picture. Coordinates of time are those of the window, a pixel for each cell, plus
// left.
type svgDrawing struct {
	canvas
	data   *Gantt
	w      Window
	zone   *time.Location
	left   int
	top    int // of the next row
	bottom int // of the last row
	axis   axis
	used   [kinds]bool
	hidden int // stretches without room
}

// SVG draws a picture as a complete document. It may drop buckets of g if there are too few rows.
func (g *Gantt) SVG(w Window, o *Options) []byte {
	d := &svgDrawing{data: g, w: w, top: svgHead, zone: o.Zone}
	if o.ByBucket {
		d.byBucket(o)
	} else {
		d.byNode(o)
	}
	d.nowLine()
	d.note(d.legend(o.ByBucket))
	return d.document(o.Width, d.bottom+svgFoot)
}

func (d *svgDrawing) byNode(o *Options) {
	// As on a terminal, the first folding only serves to measure the names.
	d.w.cells = o.Width
	d.setLabel(o.Width, widestGroup(d.fold(o.Rows).groups))
	folded := d.fold(o.Rows)
	d.hidden = folded.hidden + folded.beside
	height := 0
	for i := range folded.groups {
		if height += svgRow; folded.groups[i].nodes[0].lane > 0 {
			height -= svgRow - svgLane
		}
	}
	d.begin(height, folded.left, "node")
	for i := range folded.groups {
		d.groupRow(&folded.groups[i])
	}
}

// fold folds the nodes into rows. If there are very many, rows with the same outline are merged,
// whichever jobs they have.
func (d *svgDrawing) fold(limit int) folded {
	f := d.w.fold(d.data.Nodes, cmp.Or(limit, manySVGRows))
	if f.left > 0 {
		f = d.w.foldBy(d.data.Nodes, limit, true)
		f.beside = d.w.countBeside(d.data.Nodes)
	}
	return f
}

func (d *svgDrawing) byBucket(o *Options) {
	buckets := d.data.Buckets
	left := cutRows(&buckets, o.Rows)
	rows := len(buckets)
	if len(d.data.Buckets) > 1 {
		rows++
	}
	d.setLabel(o.Width, widestBucket(buckets))
	d.begin(rows*svgCurve, left, "bucket")
	for i := range buckets {
		d.curveRow(buckets[i].label(), buckets[i].Nodes)
	}
	if rows > len(buckets) {
		d.curveRow("all nodes", d.data.nodePointers())
	}
}

// setLabel gives labels of widest characters their room, within reason, and the cells the rest.
func (d *svgDrawing) setLabel(width, widest int) {
	d.left = svgMargin + min(widest*svgChar, width/3) + 10
	d.w.cells = width - svgMargin - d.left
}

// begin draws what is around rows of a total height. left is the number of things left out, what their
// name.
func (d *svgDrawing) begin(height, left int, what string) {
	d.axis = d.w.axis(d.w.cells/svgChar, d.zone)
	d.bottom = svgHead + height
	d.buf.Grow(8192 + 32*height) // the approximate size
	d.title(left, what)
	d.grid()
}

func (d *svgDrawing) title(left int, what string) {
	s := d.data.standing()
	words := s.text(string(text.AppendLocal(nil, d.data.Now, d.zone)))
	if len(d.data.Nodes) == 0 {
		words = "There are no nodes yet."
	}
	if left > 0 {
		words += "; " + text.Plural(left, "more "+what) + " left out"
	}
	first, rest := breakTitle(words, (d.left+d.w.cells-svgMargin)/svgTitleChar)
	if rest == "" {
		d.text("title", svgMargin, 24, "start", first)
		return
	}
	d.text("title", svgMargin, 18, "start", first)
	d.text("title", svgMargin, 36, "start", rest)
}

// breakTitle breaks a title longer than room characters behind the last comma or semicolon that fits.
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

// grid draws the axes, and lines down from their ticks through the rows.
func (d *svgDrawing) grid() {
	d.labels(d.axis.heads, svgHead-26)
	d.labels(d.axis.ticks, svgHead-10)
	d.labels(d.axis.ticks, d.bottom+14)
	for _, t := range d.axis.ticks {
		d.down("grid", d.x(t.at))
	}
}

// down draws a line down through the rows.
func (d *svgDrawing) down(class string, x float64) {
	d.line(class, x, svgHead-6, x, float64(d.bottom+3))
}

// labels writes each label at its time, unless the next one is too near.
func (d *svgDrawing) labels(ticks []tick, y int) {
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

// x returns the position of an instant. Instants outside the window are at its border.
func (d *svgDrawing) x(t int64) float64 {
	t = min(max(t, d.w.From), d.w.To)
	return float64(d.left) + float64(t-d.w.From)*float64(d.w.cells)/float64(d.w.To-d.w.From)
}

func (d *svgDrawing) nowLine() {
	if d.w.nowCell() < 0 {
		return
	}
	x := d.x(d.w.Now)
	d.down("now", x)
	fmt.Fprintf(&d.buf, `<path d="M%.1f %d l-4 -6 h8 z" fill="#b42318"/>`+"\n", x, svgHead-3)
}

// between formats a period.
func (d *svgDrawing) between(start, end int64) string {
	b := append(text.AppendLocal(nil, start, d.zone), " to "...)
	s, e := time.Unix(start, 0).In(d.zone), time.Unix(end, 0).In(d.zone)
	if s.YearDay() == e.YearDay() && s.Year() == e.Year() {
		b = e.AppendFormat(b, time.TimeOnly)
	} else {
		b = text.AppendLocal(b, end, d.zone)
	}
	return string(append(text.AppendDuration(append(b, " ("...), end-start), ')'))
}

// legend explains the colours on as many lines as it needs, and returns where the last one ends. It moves
// the bottom down accordingly.
func (d *svgDrawing) legend(byBucket bool) int {
	type item struct{ class, word string }
	var items []item
	if byBucket {
		items = []item{{"free", "free"}, {"taken", "taken at most"}, {"all", "all taken"}}
	} else {
		classes := [kinds]string{Free: "free", NotUp: "notup", Reserved: "reserved", Planned: "planned c0",
			Running: "running c0", Overdue: "overdue"}
		for kind := kinds - 1; kind > Past; kind-- {
			if d.used[kind] {
				items = append(items, item{classes[kind], kindWords[kind]})
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
		d.line("now", float64(x+2), float64(y-1), float64(x+2), float64(y+12))
		d.text("tick", float64(x+9), y+10, "start", "now")
		x += width + svgMargin
	}
	return x
}

// note says what is not shown, and what comes after the window. It stands beside the legend, or below it
// if there is no room.
func (d *svgDrawing) note(legend int) {
	words := d.data.endNote(&d.w, d.zone)
	if d.hidden > 0 {
		what := text.Comma(d.hidden) + " stretches have"
		if d.hidden == 1 {
			what = "1 stretch has"
		}
		words = strings.TrimSuffix(what+" no room here: -o json lists all. "+words, " ")
	}
	if words == "" {
		return
	}
	right := d.left + d.w.cells
	if legend+output.TextWidth(words)*svgChar > right {
		d.bottom += svgLine
	}
	d.text("tick", float64(right), d.bottom+svgFoot-10, "end", words)
}
