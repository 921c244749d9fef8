// Package oracle compares package query with SQLite: given the same rows and the same statement, both
// must return the same answer. It is a module of its own, so that nothing else depends on SQLite.
package oracle

import (
	"database/sql"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"

	"github.com/placectl/placectl/query"
	_ "modernc.org/sqlite"
)

// Tables are tables by name, as a catalog for package query.
type Tables map[string]tables.Table

// Table finds a table, or its state at the instant then.
func (t Tables) Table(name string, at values.Value) (tables.Table, error) {
	if !at.IsNull() {
		name += "_then"
	}
	if table, ok := t[name]; ok {
		return table, nil
	}
	return nil, nil
}

// Function finds the function each.
func (t Tables) Function(name string, _ int) (tables.Function, error) {
	if name == "each" {
		return each{}, nil
	}
	return nil, nil
}

// Names lists the tables.
func (t Tables) Names() (names []string) {
	for name := range t {
		names = append(names, name)
	}
	return names
}

// Literal knows the instant then, and no units.
func (t Tables) Literal(_ tables.Unit, text string) (values.Value, error) {
	if text == strconv.Itoa(then) {
		return values.Int(then), nil
	}
	return values.Value{}, errors.New("no units here")
}

// Load puts tables into a fresh SQLite database in memory.
func Load(tables map[string]*tables.Memory) (*sql.DB, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	for name, t := range tables {
		cols := make([]string, len(t.Cols))
		for i, c := range t.Cols {
			cols[i] = strconv.Quote(c.Name) + " " + c.Type.String()
		}
		if _, err := db.Exec("CREATE TABLE " + name + " (" + strings.Join(cols, ", ") + ")"); err != nil {
			return nil, err
		}
		insert := "INSERT INTO " + name + " VALUES (" + strings.TrimSuffix(strings.Repeat("?,", len(cols)), ",") + ")"
		for _, row := range t.Rows {
			args := make([]any, len(row))
			for i, v := range row {
				args[i] = v.Any()
			}
			if _, err := db.Exec(insert, args...); err != nil {
				return nil, err
			}
		}
	}
	return db, nil
}

// AskSQLite runs a statement in SQLite. Rows are values written as literals.
func AskSQLite(db *sql.DB, text string) (columns []string, rows []string, err error) {
	r, err := db.Query(text)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	if columns, err = r.Columns(); err != nil {
		return nil, nil, err
	}
	values := make([]any, len(columns))
	into := make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for r.Next() {
		if err := r.Scan(into...); err != nil {
			return nil, nil, err
		}
		cells := make([]string, len(values))
		for i, v := range values {
			cells[i] = shown(v)
		}
		rows = append(rows, strings.Join(cells, "|"))
	}
	return columns, rows, r.Err()
}

func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return values.Value{}.Literal()
	case int64:
		return values.Int(v).Literal()
	case float64:
		if v == 0 {
			v = 0 // not -0
		}
		return values.Float(v).Literal()
	case string:
		return values.String(v).Literal()
	}
	return fmt.Sprintf("%T %v", v, v)
}

// AskQuery runs a statement in package query.
func AskQuery(tables tables.Catalog, text string, opt query.Options) (columns []string, rows []string, err error) {
	list, err := query.Parse(text)
	if err != nil {
		return nil, nil, err
	}
	if len(list) != 1 {
		return nil, nil, fmt.Errorf("%d statements", len(list))
	}
	s, err := query.Prepare(tables, text, list[0], opt)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range s.Columns() {
		columns = append(columns, c.Name)
	}
	for row, err := range s.Rows() {
		if err != nil {
			return nil, nil, err
		}
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = shown(v.Any())
		}
		rows = append(rows, strings.Join(cells, "|"))
	}
	return columns, rows, nil
}

// Differ says how two answers to a statement differ, "" if they do not. Without an order it compares rows
// as a bag. Values may be equal except for 3 and 3.0. Either of them may come first in an order, and may
// represent both: that depends on the order in which tables are joined, not on the dialect.
func Differ(statement string, want, got []string, ordered bool) string {
	key := func(row string) string { return row }
	if ordered || oneForAll.MatchString(statement) {
		key = plain
	}
	exactly := ordered && !oneForAll.MatchString(statement) && !strings.Contains(statement, "LIMIT")
	if exactly { // the order is compared below
		a, b := slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(got))
		if !slices.Equal(a, b) {
			return fmt.Sprintf("rows, sorted, are\n  %s\nSQLite has\n  %s", strings.Join(b, "\n  "),
				strings.Join(a, "\n  "))
		}
	}
	if !ordered {
		byKey := func(a, b string) int { return strings.Compare(key(a), key(b)) }
		want, got = slices.SortedFunc(slices.Values(want), byKey), slices.SortedFunc(slices.Values(got), byKey)
	}
	if len(want) != len(got) {
		return fmt.Sprintf("%d rows, SQLite has %d", len(got), len(want))
	}
	for i := range want {
		if key(want[i]) != key(got[i]) {
			return fmt.Sprintf("row %d is\n  %s\nSQLite has\n  %s", i, got[i], want[i])
		}
	}
	return ""
}

// oneForAll matches what lets one value represent all values equal to it.
var oneForAll = regexp.MustCompile(`DISTINCT|GROUP BY|OVER|UNION|INTERSECT|EXCEPT|\b(min|max)\(`)

// plain writes equal whole numbers in the same way: 3, 3.0 and 3e0.
func plain(row string) string {
	cells := strings.Split(row, "|")
	for i, c := range cells {
		cells[i] = strings.TrimSuffix(c, ".0")
		if v, err := strconv.ParseFloat(c, 64); err == nil && strings.Contains(c, "e") && v == math.Trunc(v) &&
			v >= -1<<63 && v < 1<<63 {
			cells[i] = strconv.FormatInt(int64(v), 10)
		}
	}
	return strings.Join(cells, "|")
}
