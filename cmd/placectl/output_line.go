package main

import (
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/spell"
)

// lineLayout writes a column a line, and a blank line between rows. It is also
// the form of a single thing in a table; that leaves out what is not there.
type lineLayout struct {
	brief bool
	names []string // padded to the longest
}

func (l *lineLayout) begin(p *printer) {
	widest := 0
	for _, c := range p.cols {
		name := string(spell.AppendPrintable(nil, c.Name))
		l.names = append(l.names, name)
		widest = max(widest, textWidth(name))
	}
	for i, name := range l.names {
		l.names[i] = name + ":" + strings.Repeat(" ", widest-textWidth(name)+1)
	}
}

func (l *lineLayout) row(p *printer, values []any) {
	if p.rows > 0 {
		p.buf = append(p.buf, '\n')
	}
	for i, v := range values {
		if list, isList := v.([]string); l.brief && (v == nil || isList && len(list) == 0) {
			continue
		}
		p.buf = append(p.buf, l.names[i]...)
		p.buf = p.appendHuman(p.buf, p.cols[i], v)
		p.buf = endLine(p.buf)
	}
}

func (l *lineLayout) flush(*printer) {}
func (l *lineLayout) end(*printer)   {}

// endLine drops the blanks at the end of the line, and ends it.
func endLine(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	return append(b, '\n')
}
