package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/placectl/placectl/cmd/placectl/internal/spell"
)

// A verb describes its answer once, as columns and rows, and the printer puts
// it into any of the forms of -o. Programs get the values themselves (times in
// RFC 3339 and UTC, seconds, bytes); people get local time, 1h30m and 8.0 GiB.

// format is a form of output.
type format int

const (
	formatTable format = iota
	formatLine
	formatJSON
	formatJSONL
	formatCSV
	formatTSV
	formatMD
	formatID
)

var formatNames = []string{"table", "line", "json", "jsonl", "csv", "tsv", "md", "id"}

func parseFormat(s string) (format, error) {
	for i, name := range formatNames {
		if s == name {
			return format(i), nil
		}
	}
	return formatTable, spell.NotOneOf(s, formatNames)
}

// kind says what a column's values mean. A value may be nil in any column, and
// otherwise any Go type that fits: every integer type for a number, time.Time
// for when, time.Duration for span. A value that does not fit its kind is shown
// as what it is.
type kind uint8

const (
	text    kind = iota
	prose        // words of ours, in which times may stand
	integer      // a whole number
	number       // float64
	boolean
	when   // Unix seconds
	span   // seconds
	size   // bytes
	list   // []string
	words  // []string, a command: people see it as a shell takes it
	object // whatever encoding/json takes
)

// column describes one column of an answer.
type column struct {
	Name   string // the SQL column and the JSON key
	Kind   kind
	Right  bool // align to the right although it is text
	Nodes  bool // a list of nodes: people see node[001-128]
	Detail bool // too much for a table: shown by line and the JSON forms only
}

func (c column) right() bool {
	return c.Right || c.Kind == integer || c.Kind == number || c.Kind == span || c.Kind == size
}

// result describes an answer.
type result struct {
	Columns []column
	ID      int  // the column that -o id prints
	Record  bool // the answer is one thing: JSON prints an object, a table its keys and values
}

// layout puts rows into one form. It appends to the printer's buffer; what it
// holds back longer, to measure it, it appends in flush.
type layout interface {
	begin(p *printer)
	row(p *printer, values []any)
	flush(p *printer)
	end(p *printer)
}

// printer streams one answer to stdout. After an error it does nothing more;
// flush and close return the error, so row need not be checked unless rows are
// costly. A verb that fails half-way leaves the printer unclosed, and what it
// has not yet written is dropped.
type printer struct {
	r      *runner
	res    result
	cols   []column // those shown
	index  []int    // of each shown column among all
	layout layout
	values []any // scratch: the shown values of a row
	buf    []byte
	sizes  map[int64]string // sizes in words: a cluster has few different ones
	rows   int
	err    error
}

// spillAt is how much is gathered before it is written.
const spillAt = 1 << 16

// printer starts an answer.
func (r *runner) printer(res result) *printer {
	p := &printer{r: r, res: res, layout: r.layout(res)}
	for i, c := range res.Columns {
		if !c.Detail || r.showsDetail() {
			p.cols, p.index = append(p.cols, c), append(p.index, i)
		}
	}
	if r.Output == formatID {
		p.cols, p.index = res.Columns[res.ID:res.ID+1], []int{res.ID}
	}
	p.values = make([]any, len(p.cols))
	p.layout.begin(p)
	return p
}

func (r *runner) showsDetail() bool {
	return r.printsDocument() || r.Output == formatLine
}

// printsDocument reports whether the answer is one document rather than rows.
func (r *runner) printsDocument() bool { return r.Output == formatJSON || r.Output == formatJSONL }

func (r *runner) layout(res result) layout {
	switch r.Output {
	case formatLine:
		return &lineLayout{}
	case formatJSON:
		return &jsonLayout{array: !res.Record}
	case formatJSONL:
		return &jsonLayout{lines: true}
	case formatCSV:
		return &csvLayout{}
	case formatTSV:
		return &tsvLayout{}
	case formatMD:
		return &mdLayout{}
	case formatID:
		return &idLayout{}
	}
	if res.Record {
		return &lineLayout{brief: true}
	}
	return &tableLayout{}
}

// row prints one row: a value for each column of the result.
func (p *printer) row(values ...any) error {
	if len(values) != len(p.res.Columns) {
		panic(fmt.Sprintf("placectl: a row of %d values for %d columns", len(values), len(p.res.Columns)))
	}
	if p.err != nil {
		return p.err
	}
	for i, at := range p.index {
		p.values[i] = values[at]
	}
	p.layout.row(p, p.values)
	p.rows++
	if len(p.buf) >= spillAt {
		p.write()
	}
	return p.err
}

// flush writes all rows so far, for answers that go on while somebody looks.
func (p *printer) flush() error {
	if p.err == nil {
		p.layout.flush(p)
		p.write()
	}
	return p.err
}

// close ends the answer.
func (p *printer) close() error {
	if p.err == nil {
		p.layout.flush(p)
		p.layout.end(p)
		p.write()
	}
	err := p.err
	if p.err == nil {
		p.err = errors.New("the printer is closed")
	}
	return err
}

func (p *printer) write() {
	if len(p.buf) == 0 {
		return
	}
	n, err := p.r.stdout.Write(p.buf)
	if err == nil && n < len(p.buf) {
		err = io.ErrShortWrite
	}
	if err != nil {
		p.err = fmt.Errorf("the answer could not be written: %w", err)
	}
	p.buf = p.buf[:0]
}
