package main

import (
	"bufio"
	"crypto/md5"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/query/values"
)

// record is a statement or a query of a file, and its expected result.
type record struct {
	line   int
	query  bool
	fails  bool   // a statement that should fail
	types  string // of the columns: I, R, T
	sort   string // nosort, rowsort or valuesort
	text   string
	values []string
}

// each calls fn for the records that are meant for SQLite.
func each(file string, fn func(record) error) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<24)
	var lines []string
	number, first := 0, 0
	flush := func() error {
		defer func() { lines = nil }()
		r, ok := parse(lines)
		if r.line = first; !ok {
			return nil
		}
		return fn(r)
	}
	for in.Scan() {
		number++
		if line := strings.TrimRight(in.Text(), "\r"); line != "" {
			if len(lines) == 0 {
				first = number
			}
			lines = append(lines, line)
		} else if err := flush(); err != nil {
			return err
		}
	}
	if err := in.Err(); err != nil {
		return err
	}
	return flush()
}

// parse parses a record. ok is false if it is not for SQLite.
func parse(lines []string) (r record, ok bool) {
	for len(lines) > 0 {
		words := strings.Fields(lines[0])
		switch {
		case strings.HasPrefix(lines[0], "#"):
		case words[0] == "skipif" && words[1] == "sqlite", words[0] == "onlyif" && words[1] != "sqlite":
			return r, false
		case words[0] == "statement":
			r.fails = words[1] == "error"
			r.text = strings.Join(lines[1:], "\n")
			return r, true
		case words[0] == "query":
			r.query, r.types, r.sort = true, words[1], "nosort"
			if len(words) > 2 {
				r.sort = words[2]
			}
			i := slices.Index(lines, "----")
			if i < 0 {
				return r, false
			}
			r.text, r.values = strings.Join(lines[1:i], "\n"), lines[i+1:]
			return r, true
		}
		lines = lines[1:]
	}
	return r, false
}

// differs says how rows differ from the expected ones, "" if they do not.
func (r *record) differs(rows [][]values.Value) string {
	var values []string
	cells := make([][]string, len(rows))
	for i, row := range rows {
		for j, v := range row {
			kind := byte('T')
			if j < len(r.types) {
				kind = r.types[j]
			}
			cells[i] = append(cells[i], shown(v, kind))
		}
	}
	if r.sort == "rowsort" {
		slices.SortFunc(cells, slices.Compare[[]string])
	}
	for _, row := range cells {
		values = append(values, row...)
	}
	if r.sort == "valuesort" {
		slices.Sort(values)
	}
	if len(r.values) == 1 && strings.Contains(r.values[0], " values hashing to ") {
		sum := md5.Sum([]byte(strings.Join(values, "\n") + "\n"))
		got := fmt.Sprintf("%d values hashing to %x", len(values), sum)
		if got != r.values[0] {
			return got + ", not " + r.values[0] + fmt.Sprintf(": %.12q", values[:min(len(values), 40)])
		}
		return ""
	}
	if !slices.Equal(values, r.values) {
		return fmt.Sprintf("%q, not %q", values, r.values)
	}
	return ""
}

// shown formats a value as the files do.
func shown(v values.Value, kind byte) string {
	if v.IsNull() {
		return "NULL"
	}
	switch kind {
	case 'I':
		switch v.Kind() {
		case values.Integer:
			return strconv.FormatInt(v.Int64(), 10)
		case values.Real:
			return strconv.FormatInt(int64(v.Any().(float64)), 10)
		}
		n, _ := strconv.ParseInt(v.String(), 10, 64)
		return strconv.FormatInt(n, 10)
	case 'R':
		var f float64
		switch x := v.Any().(type) {
		case int64:
			f = float64(x)
		case float64:
			f = x
		case string:
			f, _ = strconv.ParseFloat(x, 64)
		}
		return strconv.FormatFloat(f, 'f', 3, 64)
	}
	text := []byte(v.String())
	if len(text) == 0 {
		return "(empty)"
	}
	for i, c := range text {
		if c < ' ' || c > '~' {
			text[i] = '@'
		}
	}
	return string(text)
}
