package lineedit

import (
	"fmt"
	"io"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
)

// screen is what of the terminal was drawn on: so many rows, and in which of them the
// cursor stands.
type screen struct{ rows, at int }

// layout lays a text out as rows of the width of a terminal.
type layout struct {
	width int
	rows  []string
	row   strings.Builder
	used  int // columns of the row at hand
	atRow int // where the cursor is
	atCol int
}

const tabStop = 4

func (l *layout) add(c rune) {
	text, w := string(c), 0
	switch {
	case c == '\t':
		text = "    "[:tabStop-l.used%tabStop]
		w = len(text)
	case c < 0x20 || c == 0x7f:
		text, w = "^"+string(c^0x40), 2
	default:
		w = output.RuneWidth(c)
	}
	if l.used+w > l.width && l.used > 0 {
		l.end()
	}
	if c == '\t' && w > l.width {
		text, w = " ", 1
	}
	l.row.WriteString(text)
	l.used += w
}

func (l *layout) end() {
	l.rows = append(l.rows, l.row.String())
	l.row.Reset()
	l.used = 0
}

// mark says that the cursor is here: at the beginning of the next row where this is full.
func (l *layout) mark() {
	if l.used >= l.width {
		l.end()
	}
	l.atRow, l.atCol = len(l.rows), l.used
}

// lay lays the text out with its prompts.
func (e *Editor) lay(width int) *layout {
	l := &layout{width: width}
	for _, c := range e.prompt[0] {
		l.add(c)
	}
	for i, c := range e.line.text {
		if i == e.line.at {
			l.mark()
		}
		if c != '\n' {
			l.add(c)
			continue
		}
		l.end()
		for _, c := range e.prompt[1] {
			l.add(c)
		}
	}
	if e.line.at == len(e.line.text) {
		l.mark()
	}
	l.end()
	return l
}

// draw draws the text where the last drawing of it was, with what is below it.
func (e *Editor) draw() error {
	below := e.below
	width, height := e.term.Size()
	if width <= 0 {
		width = 80
	}
	if height <= 0 {
		height = 24
	}
	width = max(width, 2) // as much as a rune may take
	l := e.lay(width)
	if e.search != nil {
		below = append(below, clip(e.search.prompt(), width))
	}
	rows, first := l.rows, 0
	if room := max(height-len(below), 1); len(rows) > room {
		first = min(max(l.atRow-room/2, 0), len(rows)-room)
		rows = rows[first : first+room]
	}
	var b strings.Builder
	if e.screen.at > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", e.screen.at)
	}
	b.WriteString("\r\x1b[J")
	all := append(rows[:len(rows):len(rows)], below...)
	b.WriteString(strings.Join(all, "\r\n"))
	at := l.atRow - first
	if up := len(all) - 1 - at; up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	b.WriteString("\r")
	if l.atCol > 0 {
		fmt.Fprintf(&b, "\x1b[%dC", l.atCol)
	}
	e.screen = screen{len(all), at}
	_, err := io.WriteString(e.term, b.String())
	return err
}

// clip cuts a line to a width.
func clip(text string, width int) string {
	used := 0
	for i, c := range text {
		if used += output.RuneWidth(c); used > width {
			return text[:i]
		}
	}
	return text
}
