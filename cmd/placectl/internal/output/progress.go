package output

import (
	"io"
	"strings"
	"time"

	"github.com/placectl/placectl/internal/text"
)

const (
	progressEvery = 100 * time.Millisecond // the shortest time between two drawings
	progressCells = 24                     // the width of the bar itself
)

// Progress draws the progress of a long work on the terminal. It appears only after a moment, so that
// quick work leaves no flicker. It belongs to one goroutine.
type Progress struct {
	w     io.Writer // nil to draw nothing
	now   func() time.Time
	label string
	total int64 // 0 if unknown
	count int64
	width int
	began time.Time
	drawn time.Time // when it was last drawn
	shown bool
}

// NewProgress starts a bar on w, a terminal of width columns (0 for no limit). A nil w draws nothing.
// The total is 0 if unknown.
func NewProgress(w io.Writer, width int, now func() time.Time, label string, total int64) *Progress {
	began := now()
	return &Progress{w: w, width: width, now: now, label: label, total: total, began: began, drawn: began}
}

// Add counts n more as done.
func (p *Progress) Add(n int64) {
	p.count += n
	if p.w == nil {
		return
	}
	if now := p.now(); now.Sub(p.drawn) >= progressEvery {
		p.drawn, p.shown = now, true
		io.WriteString(p.w, "\r"+p.line(now)+"\x1b[K")
	}
}

// Done removes the bar.
func (p *Progress) Done() {
	if p.shown {
		io.WriteString(p.w, "\r\x1b[K")
		p.shown = false
	}
}

// line returns the bar as text. It is never wider than the terminal, because a wrapped line cannot
// be drawn over.
func (p *Progress) line(now time.Time) string {
	words := p.label + " " + text.Comma(p.count)
	if p.total > 0 {
		part := min(float64(p.count)/float64(p.total), 1)
		full := int(part * progressCells)
		words = p.label + " [" + strings.Repeat("#", full) + strings.Repeat(".", progressCells-full) + "] " +
			text.Comma(p.count) + "/" + text.Comma(p.total)
	}
	words += "  " + text.FormatDuration(now.Sub(p.began).Truncate(time.Second))
	if p.width > 1 && len(words) >= p.width {
		words = words[:p.width-1]
	}
	return words
}
