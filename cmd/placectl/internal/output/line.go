package output

import (
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
)

// lineLayout writes a column a line, and a blank line between rows. It is also
// the form of a single thing in a table; that leaves out what is not there.
type lineLayout struct {
	brief  bool
	widest int // columns of a terminal that the longest name takes
}

func (l *lineLayout) begin(p *Printer) {
	for i := range p.cols {
		l.widest = max(l.widest, TextWidth(title(&p.cols[i])))
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
		name := title(&p.cols[i])
		p.buf = l.appendName(p.buf, name)
		p.buf = p.AppendHuman(p.buf, p.cols[i], v)
		p.buf = EndLine(p.buf)
	}
}

// appendName appends a name, padded to the longest.
func (l *lineLayout) appendName(b []byte, name string) []byte {
	return AppendBlanks(append(append(b, name...), ':'), l.widest-TextWidth(name)+1)
}

// title is the name of a column as a terminal can show it.
func title(c *Column) string {
	if spell.IsPrintable(c.Name) {
		return c.Name
	}
	return string(spell.AppendPrintable(nil, c.Name))
}

func (l *lineLayout) flush(*Printer) {}
func (l *lineLayout) end(*Printer)   {}
