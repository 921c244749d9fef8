package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/placectl/placectl/internal/kernel"
	views "github.com/placectl/placectl/internal/tables"
	"github.com/placectl/placectl/query"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// Query is a question in SQL with its limits. The zero value of all fields but Text works.
type Query struct {
	Text   string
	Args   []any          // positional parameters: nil, bool, numbers, strings, time.Time, time.Duration
	Named  map[string]any // named parameters, without their sign
	Limits query.Limits
	// Views are named queries to use as tables, by their names in lower case.
	Views map[string]*syntax.View
	// Progress is called now and then with the number of further rows examined. It may be nil.
	Progress func(rows int64)
	// Zone is the time zone of times without one, such as 2026-11-20 10:00, tomorrow and
	// friday 18:00, and of 'localtime' and 'utc' in date functions; nil is UTC.
	Zone *time.Location
}

// Rows are the answer to a query.
type Rows struct {
	Columns []tables.Column
	all     iter.Seq2[[]values.Value, error]
}

// All iterates over the rows. A row is valid until the next one. An error comes last, without a
// row.
func (r *Rows) All() iter.Seq2[[]values.Value, error] { return r.all }

// Query runs statements and collects the rows of the answer, so that you do not hold the file
// while you read them. Statements run one after the other, and each sees the database at one
// instant. An error in the text is a *fault.Error, and a limit exceeded is a
// *fault.LimitError. Query obeys ctx, also while it waits for the file.
func (db *DB) Query(ctx context.Context, text string, args ...any) (*Rows, error) {
	list, err := query.Parse(text)
	if err != nil {
		return nil, err
	}
	if len(list) != 1 {
		return nil, fmt.Errorf("%w query: one statement is expected, not %d", ErrInvalid, len(list))
	}
	var out *Rows
	err = db.ViewContext(ctx, func(tx *Tx) error {
		rows, err := tx.Query(ctx, list[0], Query{Text: text, Args: args})
		if err != nil {
			return err
		}
		out, err = rows.gather()
		return err
	})
	return out, err
}

// gather reads all rows.
func (r *Rows) gather() (*Rows, error) {
	var rows [][]values.Value
	for row, err := range r.all {
		if err != nil {
			return nil, err
		}
		rows = append(rows, append([]values.Value(nil), row...))
	}
	return &Rows{r.Columns, func(yield func([]values.Value, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}}, nil
}

// Query runs one statement of q.Text at the transaction's instant. Rows are made as you read them,
// and are valid only within the transaction.
func (tx *Tx) Query(ctx context.Context, statement *syntax.Statement, q Query) (*Rows, error) {
	opt := query.Options{Limits: q.Limits, Context: ctx, Now: func() int64 { return tx.k.Now }, Ahead: aheadIn(q.Zone),
		Views: q.Views, Progress: q.Progress, Nanos: nanos(), Input: isInput}
	for i, arg := range q.Args {
		v, err := queryValue(arg)
		if err != nil {
			return nil, fmt.Errorf("%w parameter %d: %w", ErrInvalid, i+1, err)
		}
		opt.Args = append(opt.Args, v)
	}
	for name, arg := range q.Named {
		v, err := queryValue(arg)
		if err != nil {
			return nil, fmt.Errorf("%w parameter %s: %w", ErrInvalid, name, err)
		}
		if opt.Named == nil {
			opt.Named = make(map[string]values.Value)
		}
		opt.Named[name] = v
	}
	c := tx.catalog(q.Zone)
	s, err := query.Prepare(c, q.Text, statement, opt)
	if err != nil {
		return nil, err
	}
	return &Rows{s.Columns(), watched(tx, c, s.Rows())}, nil
}

// catalogs holds a reader's tables, nil until needed.
var catalogs kernel.Slot[*views.Catalog]

// catalog returns the tables for queries in the transaction.
func (tx *Tx) catalog(zone *time.Location) *views.Catalog {
	made := catalogs.In(tx.k)
	c := *made
	if c == nil {
		c = views.New(tx.k)
		if !tx.Writable() { // its rows do not change
			*made = c
		}
	}
	c.Begin(zone)
	return c
}

// QueryTables returns the tables for queries, by name, with their columns, for help and completion.
func (tx *Tx) QueryTables() (names []string, columns map[string][]tables.Column, err error) {
	return tx.catalog(nil).Columns()
}

// watched adds the errors that the index, the calendar and the tables have recorded.
func watched(tx *Tx, c *views.Catalog, rows iter.Seq2[[]values.Value, error]) iter.Seq2[[]values.Value, error] {
	return func(yield func([]values.Value, error) bool) {
		for row, err := range rows {
			if !yield(row, err) || err != nil {
				return
			}
		}
		var err error
		if ix := tx.k.Loaded.Index; ix != nil {
			err = ix.Err()
		}
		if cal := tx.k.Loaded.Calendar; cal != nil && err == nil {
			err = cal.Err()
		}
		if err == nil {
			err = c.Err()
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// isInput reports errors about the request, not about the file.
func isInput(err error) bool {
	return !errors.Is(err, ErrDamaged)
}

// aheadIn returns a function that tells how many seconds a zone's clocks are ahead of UTC at
// an instant.
func aheadIn(zone *time.Location) func(int64) int {
	if zone == nil {
		zone = time.UTC
	}
	return func(at int64) int {
		_, ahead := time.Unix(at, 0).In(zone).Zone()
		return ahead
	}
}

// nanos returns a clock for EXPLAIN ANALYZE.
func nanos() func() int64 {
	start := time.Now()
	return func() int64 { return int64(time.Since(start)) }
}

// queryValue converts a parameter to a value.
func queryValue(v any) (values.Value, error) {
	switch v := v.(type) {
	case nil:
		return values.Value{}, nil
	case values.Value:
		return v, nil
	case bool:
		return values.Bool(v), nil
	case int:
		return values.Int(int64(v)), nil
	case int32:
		return values.Int(int64(v)), nil
	case int64:
		return values.Int(v), nil
	case uint32:
		return values.Int(int64(v)), nil
	case float64:
		return values.Float(v), nil
	case string:
		return values.String(v), nil
	case time.Time:
		return values.Int(v.Unix()), nil
	case time.Duration:
		return values.Int(int64(v / time.Second)), nil
	}
	return values.Value{}, fmt.Errorf("a %T cannot be one", v)
}
