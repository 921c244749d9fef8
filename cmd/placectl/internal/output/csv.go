package output

import (
	"bytes"
	"strings"

	"github.com/placectl/placectl/internal/text"
)

// rawText appends a cell for programs. On a terminal it quotes unprintable characters, as everywhere.
// In a file or a pipe the value stays as it is.
func (p *Printer) rawText(b []byte, v any, k Kind) []byte {
	start := len(b)
	b = appendMachine(b, v, k)
	if p.o.Terminal && !text.IsPrintable(string(b[start:])) {
		b = text.AppendPrintable(b[:start], string(b[start:]))
	}
	return b
}

// atOnce is a layout that holds no rows back, and writes nothing after the last.
type atOnce struct{}

func (atOnce) flush(*Printer) {}
func (atOnce) end(*Printer)   {}

// separated writes each row as a line of fields, with separators.
type separated struct {
	atOnce
	cell  []byte
	field func(l *separated, p *Printer, i int, v any, k Kind)
}

func (l *separated) begin(p *Printer) {
	if p.o.NoHeader {
		return
	}
	for i, c := range p.cols {
		l.field(l, p, i, c.Name, Text)
	}
	p.buf = append(p.buf, '\n')
}

func (l *separated) row(p *Printer, values []any) {
	for i, v := range values {
		l.field(l, p, i, v, p.cols[i].Kind)
	}
	p.buf = append(p.buf, '\n')
}

// csvField appends a field as in RFC 4180, except that lines end in line feeds.
func csvField(l *separated, p *Printer, i int, v any, k Kind) {
	if i > 0 {
		p.buf = append(p.buf, ',')
	}
	l.cell = p.rawText(l.cell[:0], v, k)
	alone := len(p.cols) == 1 && len(l.cell) == 0 // readers would skip an empty line
	if !alone && !bytes.ContainsAny(l.cell, ",\"\n\r") && !bytes.HasPrefix(l.cell, []byte(" ")) &&
		!bytes.HasSuffix(l.cell, []byte(" ")) {
		p.buf = append(p.buf, l.cell...)
		return
	}
	p.buf = append(p.buf, '"')
	for _, c := range l.cell {
		if c == '"' {
			p.buf = append(p.buf, '"')
		}
		p.buf = append(p.buf, c)
	}
	p.buf = append(p.buf, '"')
}

// tsvField appends a tab and a field. It escapes tabs, line feeds, carriage returns and backslashes,
// so that each row is one line.
func tsvField(l *separated, p *Printer, i int, v any, k Kind) {
	if i > 0 {
		p.buf = append(p.buf, '\t')
	}
	l.cell = appendMachine(l.cell[:0], v, k)
	for at, c := range l.cell {
		switch esc := strings.IndexByte("\t\n\r\\", c); {
		case esc >= 0:
			p.buf = append(p.buf, '\\', `tnr\`[esc])
		case p.o.Terminal && c >= 0x7f:
			p.buf = append(p.buf, text.Printable(string(l.cell[at:]))...)
			return
		case p.o.Terminal && c < ' ':
			p.buf = append(p.buf, text.Printable(string(l.cell[at:at+1]))...)
		default:
			p.buf = append(p.buf, c)
		}
	}
}

// idLayout writes one column, one value a line. It quotes a value with a line break, even in a pipe.
type idLayout struct {
	atOnce
	cell []byte
}

func (l *idLayout) begin(*Printer) {}

func (l *idLayout) row(p *Printer, values []any) {
	l.cell = p.rawText(l.cell[:0], values[0], p.cols[0].Kind)
	if bytes.ContainsAny(l.cell, "\n\r") {
		l.cell = text.AppendPrintable(nil, string(l.cell))
	}
	p.buf = append(append(p.buf, l.cell...), '\n')
}
