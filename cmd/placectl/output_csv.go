package main

import (
	"bytes"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/spell"
)

// rawText appends a cell for programs. On a terminal it quotes what cannot be
// shown, as everywhere; into a file or a pipe the value goes as it is.
func (p *printer) rawText(b []byte, v any, k kind) []byte {
	start := len(b)
	b = appendMachine(b, v, k)
	if p.r.stdoutTTY && !spell.IsPrintable(string(b[start:])) {
		b = spell.AppendPrintable(b[:start], string(b[start:]))
	}
	return b
}

// csvLayout writes RFC 4180, with line feeds.
type csvLayout struct{ cell []byte }

func (l *csvLayout) begin(p *printer) {
	if p.r.NoHeader {
		return
	}
	for i, c := range p.cols {
		l.field(p, i, c.Name, text)
	}
	p.buf = append(p.buf, '\n')
}

func (l *csvLayout) row(p *printer, values []any) {
	for i, v := range values {
		l.field(p, i, v, p.cols[i].Kind)
	}
	// A line with one empty field would be an empty line, which readers skip.
	if len(values) == 1 && len(l.cell) == 0 {
		p.buf = append(p.buf, `""`...)
	}
	p.buf = append(p.buf, '\n')
}

func (l *csvLayout) flush(*printer) {}
func (l *csvLayout) end(*printer)   {}

func (l *csvLayout) field(p *printer, i int, v any, k kind) {
	if i > 0 {
		p.buf = append(p.buf, ',')
	}
	l.cell = p.rawText(l.cell[:0], v, k)
	if !p.r.Raw && isFormula(v, l.cell) {
		l.cell = append([]byte{'\''}, l.cell...)
	}
	if !bytes.ContainsAny(l.cell, ",\"\n\r") && !bytes.HasPrefix(l.cell, []byte(" ")) && !bytes.HasSuffix(l.cell, []byte(" ")) {
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

// isFormula finds text that a spreadsheet would run as a formula. A number is
// none, its sign notwithstanding.
func isFormula(v any, cell []byte) bool {
	if len(cell) == 0 || strings.IndexByte("=+-@\t\r", cell[0]) < 0 {
		return false
	}
	if _, ok := wholeNumber(v); ok {
		return false
	}
	_, ok := v.(float64)
	return !ok
}

// tsvLayout writes tabs between fields; tab, line feed, carriage return and
// backslash are escaped, so that a row is a line whatever it holds.
type tsvLayout struct{ cell []byte }

func (l *tsvLayout) begin(p *printer) {
	if p.r.NoHeader {
		return
	}
	for i, c := range p.cols {
		l.field(p, i, c.Name, text)
	}
	p.buf = append(p.buf, '\n')
}

func (l *tsvLayout) row(p *printer, values []any) {
	for i, v := range values {
		l.field(p, i, v, p.cols[i].Kind)
	}
	p.buf = append(p.buf, '\n')
}

func (l *tsvLayout) flush(*printer) {}
func (l *tsvLayout) end(*printer)   {}

func (l *tsvLayout) field(p *printer, i int, v any, k kind) {
	if i > 0 {
		p.buf = append(p.buf, '\t')
	}
	l.cell = appendMachine(l.cell[:0], v, k)
	for at, c := range l.cell {
		switch esc := strings.IndexByte("\t\n\r\\", c); {
		case esc >= 0:
			p.buf = append(p.buf, '\\', `tnr\`[esc])
		case p.r.stdoutTTY && c >= 0x7f:
			p.buf = append(p.buf, spell.Printable(string(l.cell[at:]))...)
			return
		case p.r.stdoutTTY && c < ' ':
			p.buf = append(p.buf, spell.Printable(string(l.cell[at:at+1]))...)
		default:
			p.buf = append(p.buf, c)
		}
	}
}

// mdLayout writes a table of Markdown, with the values that people read.
type mdLayout struct{ cell []byte }

func (l *mdLayout) begin(p *printer) {
	for _, c := range p.cols {
		l.cell = spell.AppendPrintable(l.cell[:0], c.Name)
		l.field(p)
	}
	p.buf = append(p.buf, "|\n"...)
	for _, c := range p.cols {
		if c.right() {
			p.buf = append(p.buf, "|---:"...)
		} else {
			p.buf = append(p.buf, "|---"...)
		}
	}
	p.buf = append(p.buf, "|\n"...)
}

func (l *mdLayout) row(p *printer, values []any) {
	for i, v := range values {
		l.cell = p.appendHuman(l.cell[:0], p.cols[i], v)
		l.field(p)
	}
	p.buf = append(p.buf, "|\n"...)
}

func (l *mdLayout) flush(*printer) {}
func (l *mdLayout) end(*printer)   {}

func (l *mdLayout) field(p *printer) {
	p.buf = append(p.buf, "| "...)
	for _, c := range l.cell {
		if c == '|' || c == '\\' || c == '<' {
			p.buf = append(p.buf, '\\')
		}
		p.buf = append(p.buf, c)
	}
	p.buf = append(p.buf, ' ')
}

// idLayout writes one column, one value a line. A value that would break the
// line is quoted even in a pipe.
type idLayout struct{ cell []byte }

func (l *idLayout) begin(*printer) {}

func (l *idLayout) row(p *printer, values []any) {
	l.cell = p.rawText(l.cell[:0], values[0], p.cols[0].Kind)
	if bytes.ContainsAny(l.cell, "\n\r") {
		l.cell = spell.AppendPrintable(nil, string(l.cell))
	}
	p.buf = append(append(p.buf, l.cell...), '\n')
}

func (l *idLayout) flush(*printer) {}
func (l *idLayout) end(*printer)   {}
