package daily

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/internal/text"
)

// screen is text that grows line by line. Nothing in it can control a terminal.
type screen struct {
	width int // 0: no limit
	zone  *time.Location
	now   time.Time
	text  []byte
}

// line adds a line, cut to the width.
func (t *screen) line(format string, args ...any) {
	s := text.Printable(fmt.Sprintf(format, args...))
	if t.width > 0 {
		t.text = output.EndLine(output.Cut(t.text, s, t.width))
		return
	}
	t.text = output.EndLine(append(t.text, s...))
}

// wrapped adds a text on as many lines as it needs, each indented.
func (t *screen) wrapped(indent, s string) {
	width := math.MaxInt
	if t.width > 0 {
		width = max(t.width-len(indent), 10)
	}
	for _, line := range output.Wrap(text.Printable(s), width) {
		t.text = output.EndLine(append(append(t.text, indent...), line...))
	}
}

func (t *screen) at(at time.Time) string { return text.BriefTime(at, t.now, t.zone) }

// meter draws how much of something is taken.
func meter(taken, of int64, width int, blocks bool) string {
	full, empty := "#", "."
	if blocks {
		full, empty = "█", "░"
	}
	n := 0
	if of > 0 {
		n = int((min(max(taken, 0), of)*int64(width) + of/2) / of)
	}
	return strings.Repeat(full, n) + strings.Repeat(empty, width-n)
}
