package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/placectl/placectl/internal/text"
)

// Batch is the picture of a batch: the file sequence from left to right, time from top to bottom. Each
// stretch of files has the colour of a host for the time in which the host had a job that uses it. A
// host that goes on to the next files makes a slanted band. Where bands meet, files went to two hosts.
type Batch struct {
	Title, Note string // the two lines above the drawing
	Files       int
	From, To    int64 // Unix seconds
	Hosts       map[uint32]string
	Marks       []BatchMark
}

// BatchMark is a job at a host: files over time.
type BatchMark struct {
	Host        uint32
	First, Last int   // of the files
	From, To    int64 // Unix seconds
	State       string
	Lost        bool // it brought no result
}

const (
	batchLeft   = 120 // pixels: the labels of time
	batchTop    = 80
	batchHeight = 600
	maxMarks    = 200_000 // beyond this, more are joined
)

// batchDrawing draws a batch.
type batchDrawing struct {
	canvas
	*Batch
	marks []BatchMark // joined
	width int
	zone  *time.Location
}

// SVG draws the picture, width pixels wide, as a complete document. It sorts the marks.
func (b *Batch) SVG(width int, zone *time.Location) []byte {
	d := &batchDrawing{Batch: b, width: width, zone: zone}
	d.join()
	d.text("title", svgMargin, 24, "start", b.Title)
	d.text("", svgMargin, 42, "start", b.Note)
	d.axes()
	for i := range d.marks {
		d.mark(&d.marks[i])
	}
	return d.document(width, batchHeight+110)
}

// join joins marks of a host that lie within a pixel of each other, so that none is finer than the
// picture.
func (d *batchDrawing) join() {
	d.marks = d.Marks
	slices.SortFunc(d.marks, func(x, y BatchMark) int {
		return cmp.Or(cmp.Compare(x.Host, y.Host), cmp.Compare(x.From, y.From), cmp.Compare(x.First, y.First))
	})
	files, seconds := max(1, d.Files/d.width), max(1, (d.To-d.From)/batchHeight)
	for len(d.marks) > 0 {
		var out []BatchMark
		for _, m := range d.marks {
			if n := len(out); n > 0 {
				last := &out[n-1]
				near := m.Host == last.Host && m.State == last.State && m.First <= last.Last+1+files &&
					m.Last >= last.First-1-files
				if near && max(m.To, last.To)-last.From <= 2*seconds {
					last.First, last.Last, last.To = min(last.First, m.First), max(last.Last, m.Last),
						max(last.To, m.To)
					continue
				}
			}
			out = append(out, m)
		}
		d.marks = out
		if len(out) <= maxMarks {
			return
		}
		files, seconds = 2*files, 2*seconds
	}
}

func (d *batchDrawing) x(file int) float64 {
	return batchLeft + float64(file)/float64(d.Files)*float64(d.width-batchLeft-svgMargin)
}

func (d *batchDrawing) y(at int64) float64 {
	return batchTop + float64(at-d.From)/float64(max(1, d.To-d.From))*batchHeight
}

// axes draws ten lines for the files and ten for the time.
func (d *batchDrawing) axes() {
	const lines = 10
	for i := range lines + 1 {
		file := d.Files * i / lines
		at := d.From + (d.To-d.From)*int64(i)/lines
		x, y := d.x(file), d.y(at)
		d.line("grid", x, batchTop, x, batchTop+batchHeight)
		d.line("grid", batchLeft, y, float64(d.width-svgMargin), y)
		d.text("tick", float64(int(x)-8), batchTop-6, "start", strconv.Itoa(file))
		d.text("tick", 4, int(y)+4, "start", string(text.AppendLocal(nil, at, d.zone)))
	}
}

// mark draws one or several jobs of a host, dashed if they brought no result.
func (d *batchDrawing) mark(m *BatchMark) {
	x, y := d.x(m.First), d.y(m.From)
	w, h := max(1, d.x(m.Last+1)-x), max(1, d.y(m.To)-y)
	class, paint := "had", "fill"
	if m.Lost {
		class, paint = "lost", "stroke"
	}
	host := int(m.Host)
	// neighbours in number are far apart in hue
	color := fmt.Sprintf("%s=\"hsl(%d %d%% %d%%)\"", paint, host*137%360, 45+host%3*15, 38+host%4*7)
	title := fmt.Sprintf("%s: files %d to %d, %s", d.Hosts[m.Host], m.First, m.Last, m.State)
	d.rect(class, color, svgSpan{x, x + w}, svgSpan{y, y + h}, title)
}
