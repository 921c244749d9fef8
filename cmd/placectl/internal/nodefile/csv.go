package nodefile

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
)

// rows are the rows of a table: of a *csv.Reader, or of words separated by blanks.
type rows interface {
	Read() ([]string, error)
	FieldPos(field int) (line, column int)
	InputOffset() int64
}

// csvNodes reads a node file in CSV: RFC 4180, with either line end. The separator is the one of comma,
// semicolon and tab that the header contains most often. A header without any has words separated by
// blanks, as other tools print them.
type csvNodes struct {
	*File
	r      rows
	keys   []key // of the columns
	nameAt int   // the column with the names
}

func (f *File) parseCSV() error {
	if err := f.CheckLines(); err != nil {
		return err
	}
	c := csvNodes{File: f, r: f.rows(f.Data), nameAt: -1}
	if err := c.header(); err != nil {
		return err
	}
	for {
		at := c.next()
		cells, err := c.r.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return c.syntaxError(err)
		}
		if err := c.row(at, cells); err != nil {
			return err
		}
	}
}

// rows reads the part of the table that begins at a row.
func (f *File) rows(data []byte) rows {
	header, _, _ := bytes.Cut(bytes.TrimLeft(f.Data, "\r\n"), []byte{'\n'})
	separator, most := ',', bytes.Count(header, []byte{','})
	for _, c := range []rune{';', '\t'} {
		if n := bytes.Count(header, []byte{byte(c)}); n > most {
			separator, most = c, n
		}
	}
	if most == 0 && len(bytes.Fields(header)) > 1 && !bytes.Contains(header, []byte{'"'}) {
		return &blankRows{data: data, columns: len(bytes.Fields(header))}
	}
	r := csv.NewReader(bytes.NewReader(data))
	r.Comma = separator
	r.FieldsPerRecord = -1 // we report ragged rows ourselves
	r.ReuseRecord = true
	return r
}

// next returns the offset of the next row.
func (c *csvNodes) next() int {
	at := int(c.r.InputOffset())
	for at < len(c.Data) && (c.Data[at] == '\n' || c.Data[at] == '\r') {
		at++
	}
	return at
}

const csvHeaderHelp = "a CSV begins with a header such as name,ncpus,mem"

func (c *csvNodes) header() error {
	cells, err := c.r.Read()
	if err == io.EOF {
		return c.Errorf(0, "the file is empty; %s", csvHeaderHelp)
	}
	if err != nil {
		return c.syntaxError(err)
	}
	heads := make([]string, len(cells))
	for i, cell := range cells {
		heads[i] = strings.TrimSpace(cell)
	}
	lines := make([]int, len(cells))
	cols := make([]int, len(cells))
	for i := range cells {
		lines[i], cols[i] = c.r.FieldPos(i)
	}
	samples := c.sampleRow(len(heads))
	for i, head := range heads {
		err := c.column(i, head, samples[i])
		if err != nil {
			return c.errLine(lines[i], cols[i], err)
		}
	}
	if c.nameAt < 0 {
		return c.errLine(lines[0], cols[0],
			errors.New("the header has no column name; "+csvHeaderHelp+", or --map HEADER=name says which it is"))
	}
	return c.unmet()
}

// sampleRow looks at the first row of values, to guess the type of an undeclared column. It does not
// move the reader, and ignores errors.
func (c *csvNodes) sampleRow(columns int) []string {
	cells, _ := c.rows(c.Data[min(int(c.r.InputOffset()), len(c.Data)):]).Read()
	out := make([]string, columns)
	for i := range min(len(cells), columns) {
		out[i] = strings.TrimSpace(cells[i])
	}
	return out
}

func (c *csvNodes) column(i int, head, sample string) error {
	if head == "" {
		return fmt.Errorf("column %d has no name", i+1)
	}
	k, err := c.key(head, sample)
	if err != nil {
		return err
	}
	for _, before := range c.keys {
		if before.name == k.name && !k.skip {
			return fmt.Errorf("the column %s appears twice", k.name)
		}
	}
	c.keys = append(c.keys, k)
	if k.isName {
		c.nameAt = i
	}
	if k.computed && !k.skip {
		c.Computed[k.name] = true
	}
	return nil
}

// key finds what a column is about.
func (c *csvNodes) key(head, sample string) (key, error) {
	c.seen[head] = true
	m, ok := c.opt.Columns[head]
	if !ok {
		k, err := findKey(c.Defs, head, sample)
		if err != nil {
			err = fmt.Errorf("%w; map it with --map %s=FIELD, or skip it with --skip %[2]s", err, text.Quoted(head))
		}
		return k, err
	}
	c.met[head] = true
	if m.Skip {
		return key{skip: true, computed: true}, nil
	}
	k, err := findKey(c.Defs, m.Field, sample)
	if err != nil {
		if err := c.declareOne(index.Def{Name: m.Field, Type: typeOf(compact(m.complete(sample)))}); err != nil {
			return k, err
		}
		k, err = findKey(c.Defs, m.Field, sample)
	}
	k.unit = m
	return k, err
}

// compact removes blanks from a number such as 1 024 or 64 GB.
func compact(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) {
			return -1
		}
		return c
	}, s)
}

func (c *csvNodes) row(at int, cells []string) error {
	if len(cells) != len(c.keys) {
		line, _ := c.r.FieldPos(0)
		return c.errLine(line, 1, fmt.Errorf("the row has %s where the header has %s", text.Plural(len(cells), "cell"),
			text.Plural(len(c.keys), "column")))
	}
	p := Patch{At: at}
	p.Name = strings.TrimSpace(cells[c.nameAt])
	p.Res = make([]index.Amount, 0, len(cells))
	for i, k := range c.keys {
		cell := strings.TrimSpace(cells[i])
		if cell == "" || k.isName || k.computed {
			continue
		}
		if k.field < 0 && k.def.Type.Numeric() {
			cell = compact(cell)
		}
		said, err := c.opt.Units.complete(k, k.unit.complete(k.unlisted(cell)))
		if err == nil || c.Computed[ownListing] {
			err = p.set(c.Defs, k, said)
		}
		if err != nil {
			return c.errCell(i, fmt.Errorf("%s: %w", k.name, err))
		}
	}
	err := c.addEach(p)
	var told *infile.Error
	if err != nil && !errors.As(err, &told) {
		err = c.errCell(c.nameAt, err)
	}
	return err
}

func (c *csvNodes) errCell(i int, err error) error {
	line, col := c.r.FieldPos(i)
	return c.errLine(line, col, err)
}

// errLine returns an error at a line and a byte column, as the reader counts them.
func (c *csvNodes) errLine(line, col int, err error) error {
	rest := c.Data
	for range line - 1 {
		_, rest, _ = bytes.Cut(rest, []byte{'\n'})
	}
	col = 1 + utf8.RuneCount(rest[:min(max(col-1, 0), len(rest))])
	return &infile.Error{Position: infile.Position{File: c.Name, Line: line, Col: col}, Err: err}
}

// syntaxError rewords an error of the reader.
func (c *csvNodes) syntaxError(err error) error {
	var p *csv.ParseError
	if !errors.As(err, &p) {
		return err
	}
	what := p.Err
	switch p.Err {
	case csv.ErrBareQuote:
		what = errors.New(`a quote inside a cell; put the whole cell in quotes and write "" for one`)
	case csv.ErrQuote:
		what = errors.New(
			`a quoted cell does not end as it should: after the closing quote comes a comma or the line's end, and "" stands for a quote`)
	}
	return c.errLine(p.Line, p.Column, what)
}
