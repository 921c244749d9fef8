package main

import (
	"io"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
)

const (
	progressEvery = 100 * time.Millisecond // the soonest it is drawn again
	progressCells = 24                     // the width of the bar itself
)

// progress draws on the terminal how far a long work has come. It shows itself
// only after a moment, so that quick work leaves no flicker. It belongs to one
// goroutine.
type progress struct {
	w     io.Writer // nil to draw nothing
	now   func() time.Time
	label string
	total int64 // 0 when nobody knows
	count int64
	width int
	began time.Time
	drawn time.Time // when it was last drawn
	shown bool
}

// progress begins a bar on stderr: only on a terminal, and not with -q.
func (r *runner) progress(label string, total int64) *progress {
	p := &progress{now: r.env.now, label: label, total: total}
	if r.stderrTTY && !r.Quiet {
		p.w, p.width = r.stderr, r.width()
	}
	p.began = p.now()
	p.drawn = p.began
	return p
}

// add says that n more are done.
func (p *progress) add(n int64) {
	p.count += n
	if p.w == nil {
		return
	}
	if now := p.now(); now.Sub(p.drawn) >= progressEvery {
		p.drawn, p.shown = now, true
		io.WriteString(p.w, "\r"+p.line(now)+"\x1b[K")
	}
}

// done takes the bar away.
func (p *progress) done() {
	if p.shown {
		io.WriteString(p.w, "\r\x1b[K")
		p.shown = false
	}
}

// line is the bar as text, never wider than the terminal: a line that wraps
// could not be drawn over.
func (p *progress) line(now time.Time) string {
	text := p.label + " " + humanize.Comma(p.count)
	if p.total > 0 {
		part := min(float64(p.count)/float64(p.total), 1)
		full := int(part * progressCells)
		text = p.label + " [" + strings.Repeat("#", full) + strings.Repeat(".", progressCells-full) + "] " +
			humanize.Comma(p.count) + "/" + humanize.Comma(p.total)
	}
	text += "  " + spell.FormatDuration(now.Sub(p.began).Truncate(time.Second))
	if p.width > 1 && len(text) >= p.width {
		text = text[:p.width-1]
	}
	return text
}
