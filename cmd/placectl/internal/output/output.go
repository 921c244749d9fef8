// Package output formats answers and draws progress. A verb describes its answer once, as columns and
// rows, and a printer formats it in any of the forms of -o. Programs get the values themselves: times
// in RFC 3339 and UTC, seconds, bytes. People get local time, 1h30m and 8.0 GiB.
//
// The package needs a writer, a width, a zone, and whether there is colour. It knows no verb, no run
// and no store.
package output

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/placectl/placectl/internal/text"
)

// Format is a form of output.
type Format int

// The forms, in the order of the table below.
const (
	Table Format = iota
	Line
	JSON
	JSONL
	CSV
	TSV
	ID
)

// Traits say for which readers a form is.
type Traits struct {
	Document bool // for a program that takes one document, not rows
	People   bool // for people, who get times, durations and sizes in words
	Brief    bool // for people, without values that say nothing
	Details  bool // it also has the columns that a table has no room for
}

// forms lists each form's name, traits and layout.
var forms = [...]struct {
	name   string
	traits Traits
	layout func(Result) layout
}{
	Table: {"table", Traits{People: true, Brief: true}, func(res Result) layout {
		if res.Record {
			return &lineLayout{brief: true}
		}
		return &tableLayout{}
	}},
	Line: {"line", Traits{People: true, Details: true}, func(Result) layout { return &lineLayout{} }},
	JSON: {"json", Traits{Document: true, Details: true}, func(res Result) layout {
		return &jsonLayout{array: !res.Record || res.Many}
	}},
	JSONL: {"jsonl", Traits{Document: true, Details: true}, func(Result) layout { return &jsonLayout{lines: true} }},
	CSV:   {"csv", Traits{}, func(Result) layout { return &separated{field: csvField} }},
	TSV:   {"tsv", Traits{}, func(Result) layout { return &separated{field: tsvField} }},
	ID:    {"id", Traits{}, func(Result) layout { return &idLayout{} }},
}

func (f Format) String() string { return forms[f].name }

// Traits returns the form's traits.
func (f Format) Traits() Traits { return forms[f].traits }

// FormatNames returns the names of the forms, in their order.
func FormatNames() []string {
	var names []string
	for _, f := range forms {
		names = append(names, f.name)
	}
	return names
}

// Formats returns the forms, in their order.
func Formats() iter.Seq[Format] {
	return func(yield func(Format) bool) {
		for i := range forms {
			if !yield(Format(i)) {
				return
			}
		}
	}
}

// MarshalText returns the form's name, for kept answers.
func (f Format) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads a form's name.
func (f *Format) UnmarshalText(name []byte) (err error) {
	*f, err = ParseFormat(string(name))
	return err
}

// ParseFormat parses the name of a form. Its error lists all names.
func ParseFormat(s string) (Format, error) {
	for i, f := range forms {
		if s == f.name {
			return Format(i), nil
		}
	}
	return Table, text.NotOneOf(s, FormatNames())
}

// ErrNoColumn says that an answer lacks a requested column.
var ErrNoColumn = errors.New("no such column")

// pick selects columns by name.
func (p *Printer) pick(names string) {
	for name := range strings.FieldsFuncSeq(names, func(r rune) bool { return r == ',' }) {
		at := slices.IndexFunc(p.res.Columns, func(c Column) bool { return c.Name == name })
		if at < 0 {
			var all []string
			for _, c := range p.res.Columns {
				all = append(all, c.Name)
			}
			p.err = fmt.Errorf("--output: %w%w", text.NotOneOf(name, all), wordless{ErrNoColumn})
			return
		}
		p.cols, p.index = append(p.cols, p.res.Columns[at]), append(p.index, at)
	}
}

// wordless is an error that errors.Is finds but messages do not show.
type wordless struct{ error }

func (wordless) Error() string   { return "" }
func (e wordless) Unwrap() error { return e.error }

// Kind says what a column's values mean. In any column a value may be nil. Otherwise it may have any
// Go type that fits: every integer type for a number, time.Time for Time, time.Duration for Duration.
// A value that does not fit its kind is printed as it is.
type Kind uint8

// The kinds, with the Go types or the meaning of their values.
const (
	Text    Kind = iota
	Prose        // our own text, which may contain times
	Integer      // a whole number
	Number       // float64
	Boolean
	Time     // Unix seconds
	Duration // seconds
	Size     // bytes
	List     // []string
	Words    // []string, a command: people see it in shell syntax
	Object   // Objects, something Grouped, or anything that encoding/json takes

	JobNumber // the number of a job: an integer to programs, a name to people
)

// kindNames are the kinds' names in kept answers, which must not change.
var kindNames = [...]string{Text: "text", Prose: "prose", Integer: "integer", Number: "number", Boolean: "boolean",
	Time:     "time",
	Duration: "duration", Size: "size", List: "list", Words: "words", Object: "object", JobNumber: "job"}

// MarshalText returns the kind's name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(kindNames[k]), nil }

// UnmarshalText reads a kind's name.
func (k *Kind) UnmarshalText(name []byte) error {
	i := slices.Index(kindNames[:], string(name))
	if i < 0 {
		return text.NotOneOf(string(name), kindNames[:])
	}
	*k = Kind(i)
	return nil
}

// Column describes one column of an answer. Kept answers have its JSON (package keyed).
type Column struct {
	Name     string `json:"name"` // the SQL column and the JSON key
	Kind     Kind   `json:"kind"`
	Right    bool   `json:"right,omitempty"`    // align right although it is text
	Nodes    bool   `json:"nodes,omitempty"`    // a list of nodes, which people see as node[001-128]
	Detail   bool   `json:"detail,omitempty"`   // only for line and the JSON forms: a table has no room
	Required bool   `json:"required,omitempty"` // never nil
	Flag     bool   `json:"flag,omitempty"`     // shown to people only if true
	Sparse   bool   `json:"sparse,omitempty"`   // a table in which it is empty or 0 in all rows leaves it out
	// the width to which a terminal may cut it, so that a row is one line; 0: it is wrapped
	Least int `json:"least,omitempty"`
}

func (c Column) right() bool {
	return c.Right || c.Kind == Integer || c.Kind == Number || c.Kind == Duration || c.Kind == Size
}

// Result describes an answer. Kept answers have its JSON (package keyed).
type Result struct {
	Columns []Column `json:"columns"`
	ID      int      `json:"id,omitempty"`     // the column that -o id prints
	Made    bool     `json:"made,omitempty"`   // the answer made its jobs: after a dry run they have no number
	Many    bool     `json:"many,omitempty"`   // JSON prints a list, even of a record, because there could be several
	Record  bool     `json:"record,omitempty"` // JSON prints one object, a table its keys and values
	Exact   bool     `json:"exact,omitempty"`  // durations in a table are not rounded
}

// Options describe the destination of an answer. The zero value makes a table in UTC, without colour
// and of any width.
type Options struct {
	Format Format
	// the columns to show, in order and separated by commas, details included; "": the form's default
	Columns  string
	NoHeader bool                // no line of column names
	Quiet    bool                // a table without rows prints no header
	DryRun   bool                // nothing was changed, and JSON objects say so
	Zone     *time.Location      // of times for people; nil is UTC
	Terminal bool                // the writer is a terminal, which no answer may control
	Widths   []int               // of the columns of a table, 0 for automatic
	Color    bool                // the header of a table is bold
	Watch    func(Result, []any) // for tests: sees each row of JSON, and nil at the end
	Width    func() int          // present columns of the terminal, 0 for no limit; may be nil
}

// layout formats rows in one form. It appends to the printer's buffer. What it holds back to
// measure, it appends in flush.
type layout interface {
	begin(p *Printer)
	row(p *Printer, values []any)
	flush(p *Printer)
	end(p *Printer)
}

// Printer streams one answer to its writer. After an error it does nothing more. Flush and Close
// return the error, so callers need not check Row unless rows are costly. A verb that fails half-way
// leaves the printer unclosed, and what it has not yet written is dropped.
type Printer struct {
	w      io.Writer
	o      Options
	res    Result
	cols   []Column // the columns shown
	index  []int    // their indices among all columns
	layout layout
	values []any // scratch: the values of a row
	buf    []byte
	sizes  map[int64]string // formatted sizes: a cluster has few different ones
	rows   int
	rec    *Recording // gets the rows instead of the writer, nil for none
	err    error
}

// spillAt is how many bytes are gathered before they are written.
const spillAt = 1 << 16

// New starts an answer.
func New(w io.Writer, o Options, res Result) *Printer {
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	p := &Printer{w: w, o: o, res: res, layout: forms[o.Format].layout(res)}
	switch {
	case o.Columns != "":
		p.pick(o.Columns)
	case o.Format == ID:
		p.cols, p.index = res.Columns[res.ID:res.ID+1], []int{res.ID}
	default:
		p.cols, p.index = make([]Column, 0, len(res.Columns)), make([]int, 0, len(res.Columns))
		details := o.Format.Traits().Details
		for i := range res.Columns {
			if c := &res.Columns[i]; !c.Detail || details {
				p.cols, p.index = append(p.cols, *c), append(p.index, i)
			}
		}
	}
	p.values = make([]any, len(p.cols))
	if p.err == nil {
		p.layout.begin(p)
	}
	return p
}

// Row prints one row, with a value for each column of the result.
func (p *Printer) Row(values ...any) error {
	return p.row(len(values), func(i int) any { return values[i] })
}

// row prints a row of n values. It calls value only for those that are shown.
func (p *Printer) row(n int, value func(int) any) error {
	if n != len(p.res.Columns) {
		panic(fmt.Sprintf("placectl: a row of %d values for %d columns", n, len(p.res.Columns)))
	}
	if p.err != nil {
		return p.err
	}
	if p.rec != nil {
		row := make([]recorded, n)
		for i := range row {
			row[i] = record(value(i))
		}
		p.rec.Rows = append(p.rec.Rows, row)
		return nil
	}
	for i, at := range p.index {
		p.values[i] = value(at)
	}
	p.layout.row(p, p.values)
	p.rows++
	if len(p.buf) >= spillAt {
		p.write()
	}
	return p.err
}

// Flush writes all rows so far, for answers that grow while you watch.
func (p *Printer) Flush() error {
	if p.err == nil && p.rec == nil {
		p.layout.flush(p)
		p.write()
	}
	return p.err
}

// Close ends the answer.
func (p *Printer) Close() error {
	if p.err == nil && p.rec == nil {
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

func (p *Printer) write() {
	if len(p.buf) == 0 {
		return
	}
	n, err := p.w.Write(p.buf)
	if err == nil && n < len(p.buf) {
		err = io.ErrShortWrite
	}
	if err != nil {
		p.err = fmt.Errorf("the answer could not be written: %w", err)
	}
	p.buf = p.buf[:0]
}
