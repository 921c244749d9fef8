package output

import (
	"bytes"
	"fmt"
	"io"
)

// Page is an answer of several parts, tables and records under headings. It is written only when it
// is complete, so that an error half-way leaves nothing.
type Page struct {
	Options
	text bytes.Buffer
}

// Heading begins a part with its title, and the rest of that line.
func (p *Page) Heading(title, format string, args ...any) {
	if p.Color {
		title = "\x1b[1m" + title + "\x1b[0m"
	}
	p.Printf("\n%s%s\n", title, fmt.Sprintf(format, args...))
}

// Printf adds formatted text.
func (p *Page) Printf(format string, args ...any) { fmt.Fprintf(&p.text, format, args...) }

// Begin starts an answer that becomes part of the page.
func (p *Page) Begin(res Result) *Printer { return New(&p.text, p.Options, res) }

// Table adds a table.
func (p *Page) Table(columns []Column, rows [][]any) error {
	t := p.Begin(Result{Columns: columns})
	for _, row := range rows {
		t.Row(row...)
	}
	return t.Close()
}

// Record adds a record.
func (p *Page) Record(f *Record) error {
	t := p.Begin(Result{Columns: f.columns, Record: true})
	t.Row(f.values...)
	return t.Close()
}

// WriteTo writes the page.
func (p *Page) WriteTo(w io.Writer) (int64, error) {
	n, err := p.text.WriteTo(w)
	if err != nil {
		err = fmt.Errorf("the answer could not be written: %w", err)
	}
	return n, err
}

// Record is the fields of one thing, in order.
type Record struct {
	columns []Column
	values  []any
}

// Add adds a field. An object is a detail.
func (f *Record) Add(name string, k Kind, v any) {
	f.columns = append(f.columns, Column{Name: name, Kind: k, Detail: k == Object})
	f.values = append(f.values, v)
}

// Must adds a field that is never nil.
func (f *Record) Must(name string, k Kind, v any) {
	f.Add(name, k, v)
	f.columns[len(f.columns)-1].Required = true
}

// Object returns the fields as an object within an answer.
func (f *Record) Object() Objects { return Objects{f.columns, [][]any{f.values}, true} }

// OrNil returns a value for an answer: nil for the zero value.
func OrNil[T comparable](v T) any {
	var none T
	if v == none {
		return nil
	}
	return v
}
