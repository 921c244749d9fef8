package store

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"time"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/query"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// Query is a statement with its parameters and limits. All fields but Text may be zero.
type Query struct {
	Text   string
	Args   []any          // for ?: nil, bool, numbers, strings, time.Time, time.Duration
	Named  map[string]any // for :name
	Limits query.Limits   // the zero value: query.DefaultLimits
	Zone   *time.Location // of times without one, such as 'tomorrow'; nil: UTC
}

// Query answers one statement with its parameters for ?. The rows are in memory, and other processes go on. An error
// in the text is a *fault.Error, and a limit exceeded a *fault.LimitError, of package query/fault. When ctx ends,
// Query fails with its error.
func (db *DB) Query(ctx context.Context, text string, args ...any) (*Rows, error) {
	var rows *Rows
	err := db.ViewContext(ctx, func(tx *Tx) (err error) {
		if rows, err = tx.Query(ctx, Query{Text: text, Args: args}); err == nil {
			rows.gather()
			err = rows.err
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// Query answers one statement at the transaction's instant. All makes the rows as they are read, so read them within
// the transaction.
func (tx *Tx) Query(ctx context.Context, q Query) (*Rows, error) {
	list, err := query.Parse(q.Text)
	if err != nil {
		return nil, err
	}
	if len(list) != 1 {
		return nil, fmt.Errorf("%w query: one statement is expected, not %d", ErrInvalid, len(list))
	}
	rows, err := tx.tx.Query(ctx, list[0], engine.Query{Text: q.Text, Args: q.Args, Named: q.Named, Limits: q.Limits,
		Zone: q.Zone})
	if err != nil {
		return nil, err
	}
	return &Rows{Columns: rows.Columns, all: rows.All(), at: -1}, nil
}

// Rows are the answer to a query. Read them with All, or with Next, Scan and Err.
type Rows struct {
	Columns []tables.Column
	all     iter.Seq2[[]values.Value, error]
	list    [][]values.Value
	at      int // in list: the row that Scan reads
	err     error
}

// gather reads the rows that are left.
func (r *Rows) gather() {
	if r.all == nil {
		return
	}
	all := r.all
	r.all = nil
	for row, err := range all {
		if err != nil {
			r.err = err
			return
		}
		r.list = append(r.list, slices.Clone(row))
	}
}

// All iterates over the rows. A row is valid until the next one. An error comes last, without a row.
func (r *Rows) All() iter.Seq2[[]values.Value, error] {
	if r.all != nil {
		return r.all
	}
	return func(yield func([]values.Value, error) bool) {
		for _, row := range r.list {
			if !yield(row, nil) {
				return
			}
		}
		if r.err != nil {
			yield(nil, r.err)
		}
	}
}

// Next goes to the next row, the first one at first, and reports whether there is one. The first call reads all rows
// into memory.
func (r *Rows) Next() bool {
	r.gather()
	r.at++
	return r.err == nil && r.at < len(r.list)
}

// Err returns why there are no more rows: nil at the end.
func (r *Rows) Err() error { return r.err }

// Scan copies the columns of the row that Next has gone to, as database/sql does: an instant into a time.Time, a
// duration into a time.Duration, either into a number of seconds or a string, and NULL into a pointer or a sql.Scanner
// such as sql.Null. It fails with ErrInvalid for a value that does not fit.
func (r *Rows) Scan(dest ...any) error {
	if r.at < 0 || r.at >= len(r.list) {
		return fmt.Errorf("%w: Scan without a row: call Next before", ErrInvalid)
	}
	if len(dest) != len(r.Columns) {
		return fmt.Errorf("%w: Scan into %d values of rows with %d columns", ErrInvalid, len(dest), len(r.Columns))
	}
	for i, v := range r.list[r.at] {
		if err := scan(valueOf(r.Columns[i], v), dest[i]); err != nil {
			return fmt.Errorf("%w: column %s: %w", ErrInvalid, r.Columns[i].Name, err)
		}
	}
	return nil
}

// valueOf returns a value of a column as Go has it: nil, int64, float64, string, bool, time.Time in UTC, or
// time.Duration.
func valueOf(c tables.Column, v values.Value) any {
	n, whole := v.Any().(int64)
	switch {
	case whole && c.Unit == tables.Time:
		return time.Unix(n, 0).UTC()
	case whole && c.Unit == tables.Duration:
		return time.Duration(n) * time.Second
	case whole && c.Unit == tables.Truth:
		return n != 0
	}
	return v.Any()
}

// scan puts a value as valueOf returns it into what a pointer points to.
func scan(v, dest any) error {
	if s, ok := dest.(interface{ Scan(any) error }); ok { // a sql.Scanner
		return s.Scan(v)
	}
	to := reflect.ValueOf(dest)
	if to.Kind() != reflect.Pointer || to.IsNil() {
		return fmt.Errorf("a %T is no pointer to a value", dest)
	}
	to = to.Elem()
	from := reflect.ValueOf(v)
	switch {
	case v == nil && (to.Kind() == reflect.Pointer || to.Kind() == reflect.Interface):
		to.SetZero()
	case v == nil:
		return fmt.Errorf("NULL does not fit a %s", to.Type())
	case to.Kind() == reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		return scan(v, to.Interface())
	case from.Type().AssignableTo(to.Type()):
		to.Set(from)
	case to.Kind() == reflect.String:
		to.SetString(text(v))
	default:
		return number(v, to)
	}
	return nil
}

// text returns a value as a string.
func text(v any) string {
	if at, ok := v.(time.Time); ok {
		return at.Format(time.RFC3339)
	}
	return fmt.Sprint(v)
}

// number puts a number into a variable of another type of number.
func number(v any, to reflect.Value) error {
	switch is := v.(type) {
	case time.Time:
		v = is.Unix()
	case time.Duration:
		v = int64(is / time.Second)
	case bool:
		if v = int64(0); is {
			v = int64(1)
		}
	}
	from := reflect.ValueOf(v)
	whole, isWhole := v.(int64)
	switch {
	case isWhole && to.CanInt() && !to.OverflowInt(whole):
		to.SetInt(whole)
	case isWhole && to.CanUint() && whole >= 0 && !to.OverflowUint(uint64(whole)):
		to.SetUint(uint64(whole))
	case to.CanFloat() && from.CanConvert(to.Type()) && from.Kind() != reflect.String:
		to.SetFloat(from.Convert(to.Type()).Float())
	case isWhole && to.Kind() == reflect.Bool:
		to.SetBool(whole != 0)
	default:
		return fmt.Errorf("%v does not fit a %s", v, to.Type())
	}
	return nil
}
