package output

import (
	"bytes"
	"strings"

	"github.com/placectl/placectl/internal/text"
)

// lineLayout writes each column on a line, with a blank line between rows. A table with a single
// record also looks like this, without its empty columns.
type lineLayout struct {
	brief  bool
	widest int // terminal columns of the longest name
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
		if list, isList := v.([]string); l.brief && (v == nil || v == false && p.cols[i].Flag ||
			isList && len(list) == 0) {
			continue
		}
		name := title(&p.cols[i])
		p.buf = l.appendName(p.buf, name)
		from := len(p.buf)
		p.buf = p.AppendHuman(p.buf, p.cols[i], v)
		l.fold(p, from)
		p.buf = EndLine(p.buf)
	}
}

// fold breaks the text from from on into lines that fit the terminal, and aligns later lines with the
// first.
func (l *lineLayout) fold(p *Printer, from int) {
	indent := l.widest + 2
	if !l.brief || !p.o.Terminal || p.o.Width == nil || bytes.IndexByte(p.buf[from:], '\n') >= 0 {
		return
	}
	room := p.o.Width() - indent
	if room < 20 || TextWidth(p.buf[from:]) <= room {
		return
	}
	lines := Wrap(string(p.buf[from:]), room)
	p.buf = append(p.buf[:from], strings.Join(lines, "\n"+strings.Repeat(" ", indent))...)
}

// appendName appends a name, padded to the longest.
func (l *lineLayout) appendName(b []byte, name string) []byte {
	return AppendBlanks(append(append(b, name...), ':'), l.widest-TextWidth(name)+1)
}

// title returns the name of a column as a terminal can show it.
func title(c *Column) string {
	if text.IsPrintable(c.Name) {
		return c.Name
	}
	return string(text.AppendPrintable(nil, c.Name))
}

func (l *lineLayout) flush(*Printer) {}
func (l *lineLayout) end(*Printer)   {}
