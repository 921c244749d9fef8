package chart

import (
	"strconv"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
)

// look is the characters of a drawing. Every kind has its own, so that nothing depends on colour.
type look struct {
	fill      [kinds]rune
	begins    [kinds]rune // the first cell of a bar; only if two bars meet, unless eachBegin
	eachBegin bool
	before    rune // the window cuts off the beginning
	after     rune
	tick, now rune // across free time
	axis      rune
	axisTick  rune
	axisNow   rune
	more      string // marks where a name is cut
	times     string // before the number of nodes in a row
	levels    []rune // how many are taken: from none to all
}

var asciiLook = look{
	fill:      [kinds]rune{' ', '.', 'x', '#', '-', '=', '!'},
	begins:    [kinds]rune{' ', '.', 'x', '[', '[', '[', '!'},
	eachBegin: true,
	before:    '<', after: '>', tick: ':', now: '|',
	axis: '-', axisTick: '+', axisNow: 'V',
	more: "~", times: "x", levels: []rune(".123456789#"),
}

var blockLook = look{
	fill:   [kinds]rune{' ', '·', '╳', '╱', '░', '█', '!'},
	begins: [kinds]rune{' ', '·', '╳', '│', '│', '▐', '!'},
	before: '◀', after: '▶', tick: '┊', now: '│',
	axis: '─', axisTick: '┬', axisNow: '▼',
	more: "…", times: "×", levels: []rune("·▁▂▃▄▅▆▇█"),
}

// level returns the character for the taken part of all. Those for none and all are only used for
// exactly none and all.
func (l *look) level(taken, all int) rune {
	top := len(l.levels) - 1
	switch {
	case taken <= 0:
		return l.levels[0]
	case taken >= all:
		return l.levels[top]
	}
	return l.levels[1+taken*(top-1)/all]
}

// The colours are SGR numbers. Successive job numbers get different ones.
var kindColors = [kinds]string{Free: "90", NotUp: "90", Reserved: "33", Overdue: "31"}

var jobColors = []string{"36", "32", "35", "34"}

// color returns the colour of a cell's kind and owner.
func (d *textDrawing) color(c cell) string {
	if c.kind == Running || c.kind == Planned {
		return jobColors[d.data.Owners[c.owner].Job%uint64(len(jobColors))]
	}
	return kindColors[c.kind]
}

// glyph is a character of the drawing and its colour.
type glyph struct {
	char  rune
	style string // SGR numbers, "" for none
}

// appendGlyphs appends characters, with colour changes if the terminal has colours.
func (d *textDrawing) appendGlyphs(b []byte, line []glyph) []byte {
	style := ""
	for _, g := range line {
		if d.colors && g.style != style {
			if style != "" {
				b = append(b, "\x1b[0m"...)
			}
			if style = g.style; style != "" {
				b = append(append(append(b, "\x1b["...), style...), 'm')
			}
		}
		b = append(b, string(g.char)...)
	}
	if style != "" {
		b = append(b, "\x1b[0m"...)
	}
	return b
}

// cutText cuts text to room columns, and marks the cut.
func (l *look) cutText(text string, room int) string {
	if output.TextWidth(text) <= room {
		return text
	}
	if room < 1 {
		return ""
	}
	used := 0
	for i, c := range text {
		if used+output.RuneWidth(c) > room-1 {
			return text[:i] + l.more
		}
		used += output.RuneWidth(c)
	}
	return text
}

// countText returns a label for the number of nodes that share a row, "" for one.
func (l *look) countText(n int) string {
	if n == 1 {
		return ""
	}
	return l.times + strconv.Itoa(n)
}
