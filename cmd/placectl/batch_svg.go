package main

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"slices"
	"strconv"

	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// The picture of a batch: the file sequence from left to right, time from top to
// bottom, and in the color of its host every stretch of files for the time in which
// the host had a job that uses it. A host that goes on to the next files makes a
// slanted band; where bands meet, files went to two hosts.

// batchMark is a job in a host's hands: files over time.
type batchMark struct {
	host     uint32
	a, b     int
	from, to int64
	state    locality.InstanceState
}

// batchPicture is what is drawn.
type batchPicture struct {
	batch *store.Batch
	names map[uint32]string
	marks []batchMark
	from  int64
	to    int64
	width int
	buf   bytes.Buffer
}

const (
	batchLeft   = 120 // pixels: the labels of time
	batchHeight = 600
	narrowBatch = 300
	maxMarks    = 200_000 // more are joined harder
)

func (r *runner) batchSVG(c *cli.Context) error {
	width := c.Int("width")
	if width < narrowBatch || width > widestSVG {
		return usagef(verbName(c), "--width: %d is not from %d to %d", width, narrowBatch, widestSVG)
	}
	p := &batchPicture{width: width}
	if err := r.view(func(tx *store.Tx) error { return p.read(tx, c.Args().First()) }); err != nil {
		return err
	}
	picture := p.draw(r)
	file := c.String("svg")
	if file == "-" {
		_, err := r.stdout.Write(picture)
		return err
	}
	if err := r.notDatabase("--svg", file); err != nil {
		return usagef(verbName(c), "%w", err)
	}
	return replaceFile(file, picture)
}

// read gathers what hosts had, and joins what a host had one after the other into
// marks no finer than the picture.
func (p *batchPicture) read(tx *store.Tx, name string) error {
	b, err := tx.Batch(name)
	if err != nil {
		return err
	}
	p.batch = b
	if p.names, err = batchHostNames(tx, name); err != nil {
		return err
	}
	p.from, p.to = b.Created, max(b.Created+1, b.Ended)
	err = tx.EachBatchJob(name, func(_ int, j *locality.Job, t *locality.Task) error {
		for _, x := range t.Instances {
			end := x.Until
			if x.State == locality.Live {
				end = tx.Now()
			}
			p.marks = append(p.marks, batchMark{x.Host, j.A, j.B, x.Sent, max(end, x.Sent), x.State})
			p.to = max(p.to, end)
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(p.marks, func(x, y batchMark) int {
		return cmp.Or(cmp.Compare(x.host, y.host), cmp.Compare(x.from, y.from), cmp.Compare(x.a, y.a))
	})
	p.join()
	return nil
}

// join makes one mark of what a host had within a pixel of each other.
func (p *batchPicture) join() {
	files, seconds := max(1, p.batch.Files/p.width), max(1, (p.to-p.from)/batchHeight)
	for len(p.marks) > 0 {
		var out []batchMark
		for _, m := range p.marks {
			if n := len(out); n > 0 {
				last := &out[n-1]
				near := m.host == last.host && m.state == last.state && m.a <= last.b+1+files && m.b >= last.a-1-files
				if near && max(m.to, last.to)-last.from <= 2*seconds {
					last.a, last.b, last.to = min(last.a, m.a), max(last.b, m.b), max(last.to, m.to)
					continue
				}
			}
			out = append(out, m)
		}
		p.marks = out
		if len(out) <= maxMarks {
			return
		}
		files, seconds = 2*files, 2*seconds
	}
}

const batchStyle = `
text { font: 12px system-ui, "Segoe UI", "DejaVu Sans", Helvetica, Arial, sans-serif; fill: #1f2933; }
.title { font-size: 14px; font-weight: 600; } .tick { fill: #52606d; font-size: 11px; } .grid { stroke: #d5dbe1; }
.lost { fill: none; stroke-width: 1; stroke-dasharray: 2 2; } rect:hover { stroke: #111; }
`

func (p *batchPicture) draw(r *runner) []byte {
	height := batchHeight + 110
	fmt.Fprintf(&p.buf, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\"><style>%s</style>\n",
		p.width, height, p.width, height, batchStyle)
	p.buf.WriteString(`<rect width="100%" height="100%" fill="#fff"/>`)
	b := p.batch
	p.text(svgMargin, 24, "title", fmt.Sprintf("batch %s: %d files, %d of %d jobs finished, %d hosts", b.Name, b.Files, b.Done+b.Failed, b.Jobs, len(p.names)))
	p.text(svgMargin, 42, "", fmt.Sprintf("%d transfers; the least there can be is %d. From left to right the files, from top to bottom the time; a color is a host.", b.Transfers, b.Bound))
	p.axes(r)
	for i := range p.marks {
		p.mark(&p.marks[i])
	}
	p.buf.WriteString("</svg>\n")
	return p.buf.Bytes()
}

func (p *batchPicture) text(x, y int, class, s string) {
	fmt.Fprintf(&p.buf, `<text x="%d" y="%d" class="%s">`, x, y, class)
	xml.EscapeText(&p.buf, []byte(s)) //nolint:errcheck // a buffer does not fail
	p.buf.WriteString("</text>\n")
}

func (p *batchPicture) x(file int) float64 {
	return batchLeft + float64(file)/float64(p.batch.Files)*float64(p.width-batchLeft-svgMargin)
}

func (p *batchPicture) y(at int64) float64 {
	return 80 + float64(at-p.from)/float64(max(1, p.to-p.from))*batchHeight
}

// axes draws ten lines for the files and ten for the time.
func (p *batchPicture) axes(r *runner) {
	const lines = 10
	var scratch []byte
	for i := range lines + 1 {
		file := p.batch.Files * i / lines
		at := p.from + (p.to-p.from)*int64(i)/lines
		x, y := p.x(file), p.y(at)
		fmt.Fprintf(&p.buf, `<path class="grid" d="M%.1f 80V%d M%d %.1fH%d"/>`+"\n", x, 80+batchHeight, batchLeft, y, p.width-svgMargin)
		p.text(int(x)-8, 74, "tick", strconv.Itoa(file))
		scratch = spell.AppendLocal(scratch[:0], at, r.loc)
		p.text(4, int(y)+4, "tick", string(scratch))
	}
}

// mark draws a job, or several of a host, dashed where nothing came of them.
func (p *batchPicture) mark(m *batchMark) {
	x, y := p.x(m.a), p.y(m.from)
	w, h := max(1, p.x(m.b+1)-x), max(1, p.y(m.to)-y)
	color := fmt.Sprintf("hsl(%d %d%% %d%%)", int(m.host)*137%360, 45+int(m.host)%3*15, 38+int(m.host)%4*7) // neighbours in number are far apart in hue
	fmt.Fprintf(&p.buf, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" `, x, y, w, h)
	if m.state == locality.Answered || m.state == locality.Live {
		fmt.Fprintf(&p.buf, `fill="%s"`, color)
	} else {
		fmt.Fprintf(&p.buf, `class="lost" stroke="%s"`, color)
	}
	p.buf.WriteString("><title>")
	xml.EscapeText(&p.buf, []byte(fmt.Sprintf("%s: files %d to %d, %s", p.names[m.host], m.a, m.b, m.state))) //nolint:errcheck // a buffer does not fail
	p.buf.WriteString("</title></rect>\n")
}
