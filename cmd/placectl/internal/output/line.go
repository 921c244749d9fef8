package output

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

func (l *lineLayout) begin(p *Printer) {
	widest := 0
	for _, c := range p.cols {
		name := string(spell.AppendPrintable(nil, c.Name))
		l.names = append(l.names, name)
		widest = max(widest, TextWidth(name))
	}
	for i, name := range l.names {
		l.names[i] = name + ":" + strings.Repeat(" ", widest-TextWidth(name)+1)
	}
}

func (l *lineLayout) row(p *Printer, values []any) {
	if p.rows > 0 {
		p.buf = append(p.buf, '\n')
	}
	for i, v := range values {
		if list, isList := v.([]string); l.brief && (v == nil || isList && len(list) == 0) {
			continue
		}
		p.buf = append(p.buf, l.names[i]...)
		p.buf = p.AppendHuman(p.buf, p.cols[i], v)
		p.buf = EndLine(p.buf)
	}
}

func (l *lineLayout) flush(*Printer) {}
func (l *lineLayout) end(*Printer)   {}
