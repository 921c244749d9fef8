package infile

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/bytejson"
	"github.com/placectl/placectl/internal/text"
)

// Records calls fn for each record of a list, which is CSV with a header, or one JSON object a line. fn
// gets the record's cells in the order of columns, "" for missing ones, and must not keep them: the list
// is never in memory as a whole. progress is called every few thousand lines with their number. name is
// for errors, which give the line.
func Records(in io.Reader, name string, columns []string, progress func(lines int64),
	fn func(line int, cells []string) error) error {
	l := &recordList{file: name, columns: columns, fn: fn, progress: progress}
	buf := bufio.NewReaderSize(in, MaxLine)
	if bom, _ := buf.Peek(3); string(bom) == "\xef\xbb\xbf" {
		buf.Discard(3) //nolint:errcheck // they are buffered
	}
	for {
		c, err := buf.Peek(1)
		if err == io.EOF {
			return l.bad(1, errors.New("the list is empty"))
		}
		if err != nil {
			return err
		}
		switch c[0] {
		case ' ', '\t', '\r', '\n':
			if c[0] == '\n' {
				l.line++
			}
			buf.Discard(1) //nolint:errcheck // it is buffered
		case '{':
			return l.readJSON(buf)
		case '[':
			return l.bad(l.line+1, errors.New("an array; write one object per line"))
		default:
			return l.readCSV(buf)
		}
	}
}

// recordList is a list being read.
type recordList struct {
	file     string
	columns  []string
	fn       func(int, []string) error
	progress func(int64)
	line     int
	cells    []string
}

func (l *recordList) bad(line int, err error) error { return l.badAt(line, 1, err) }

func (l *recordList) badAt(line, col int, err error) error {
	return &Error{Position{l.file, line, col}, err}
}

// take passes one record to fn.
func (l *recordList) take(line int) error {
	if err := l.fn(line, l.cells); err != nil {
		return l.bad(line, err)
	}
	const step = 4096
	if line%step == 0 {
		l.progress(step)
	}
	return nil
}

func (l *recordList) unknown(name string) error {
	return fmt.Errorf("there is no column %s%s; the columns are %s", text.Quoted(name),
		index.DidYouMean(name, l.columns), strings.Join(l.columns, ", "))
}

func (l *recordList) readCSV(in io.Reader) error {
	budget := &recordBudget{from: in}
	c := csv.NewReader(budget)
	c.ReuseRecord = true
	budget.left = MaxLine
	header, err := c.Read()
	if err != nil {
		return l.csvError(err)
	}
	at := make([]int, len(header))
	seen := make(map[string]bool)
	for i, name := range header {
		name = strings.TrimSpace(name)
		if at[i] = slices.Index(l.columns, name); at[i] < 0 {
			return l.bad(l.line+1, l.unknown(name))
		}
		if seen[name] {
			return l.bad(l.line+1, fmt.Errorf("the column %s appears twice", name))
		}
		seen[name] = true
	}
	l.cells = make([]string, len(l.columns))
	for {
		budget.left = MaxLine
		row, err := c.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return l.csvError(err)
		}
		for i, cell := range row {
			l.cells[at[i]] = strings.TrimSpace(cell)
		}
		line, _ := c.FieldPos(0)
		if err := l.take(l.line + line); err != nil {
			return err
		}
	}
}

// recordBudget bounds how much one record may read, because package csv keeps all of it in memory.
type recordBudget struct {
	from io.Reader
	left int
}

func (b *recordBudget) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLongRecord
	}
	n, err := b.from.Read(p)
	b.left -= n
	return n, err
}

var errLongRecord = fmt.Errorf("the record has more than %d bytes", MaxLine)

func (l *recordList) csvError(err error) error {
	if errors.Is(err, errLongRecord) {
		return l.bad(l.line+1, err)
	}
	var bad *csv.ParseError
	if errors.As(err, &bad) {
		return l.badAt(l.line+bad.Line, max(1, bad.Column), bad.Err)
	}
	return err
}

func (l *recordList) readJSON(in *bufio.Reader) error {
	l.cells = make([]string, len(l.columns))
	for {
		line, err := in.ReadSlice('\n')
		l.line++
		if errors.Is(err, bufio.ErrBufferFull) {
			return l.bad(l.line, fmt.Errorf("the line has more than %d bytes", MaxLine))
		}
		if err != nil && err != io.EOF {
			return err
		}
		if len(bytes.TrimSpace(line)) > 0 {
			if err := l.object(line); err != nil {
				return l.bad(l.line, err)
			}
			if err := l.take(l.line); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
	}
}

// object reads a line's object into the cells.
func (l *recordList) object(line []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil {
		return err
	}
	clear(l.cells)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		at := slices.Index(l.columns, name)
		if at < 0 {
			return l.unknown(name)
		}
		var err error
		if l.cells[at], err = jsonCell(fields[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// jsonCell returns a value as a cell of CSV. The elements of a list are joined by |.
func jsonCell(raw json.RawMessage) (string, error) {
	switch raw[0] {
	case '"':
		var s string
		err := bytejson.Unmarshal(raw, &s)
		return s, err
	case '[':
		var list []string
		if err := bytejson.Unmarshal(raw, &list); err != nil {
			return "", errors.New("expected a list of names")
		}
		return strings.Join(list, "|"), nil
	case 'n':
		return "", nil
	case '{', 't', 'f':
		return "", fmt.Errorf("expected a text or a number, not %s", text.Quoted(string(raw)))
	}
	return string(raw), nil
}
