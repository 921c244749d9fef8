package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/placectl/placectl/query"
)

// Query is a question in SQL, and what it may take. The zero value of all but Text
// works.
type Query struct {
	Text   string
	Args   []any          // positional parameters: nil, bool, numbers, strings, time.Time, time.Duration
	Named  map[string]any // the others, without their sign
	Limits query.Limits
	// Reader reads times and durations in words; nil reads RFC 3339, 2026-11-20 10:00
	// (UTC), @epoch, now and now+1h30m, seconds, 1h30m and 1:30:00.
	Reader Reader
}

// Reader reads what people write for an instant, or for a length of time.
type Reader interface {
	Time(text string) (unix int64, err error)
	Duration(text string) (seconds int64, err error)
}

// Rows are the answer to a query.
type Rows struct {
	Columns []query.Column
	all     iter.Seq2[[]query.Value, error]
}

// All goes through the rows. A row lasts until the next one; an error comes last, and
// without a row.
func (r *Rows) All() iter.Seq2[[]query.Value, error] { return r.all }

// Query asks one question and gathers the answer, so that nothing keeps others from
// the file while it is read: statements go one after the other, and each sees the
// database at one instant. An error in the text is a *query.Error, one of the limits a
// *query.LimitError; ctx is honoured.
func (db *DB) Query(ctx context.Context, text string, args ...any) (*Rows, error) {
	list, err := query.Parse(text)
	if err != nil {
		return nil, err
	}
	if len(list) != 1 {
		return nil, fmt.Errorf("%w query: one statement is expected, not %d", ErrInvalid, len(list))
	}
	var out *Rows
	err = db.View(func(tx *Tx) error {
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
	var rows [][]query.Value
	for row, err := range r.all {
		if err != nil {
			return nil, err
		}
		rows = append(rows, append([]query.Value(nil), row...))
	}
	return &Rows{r.Columns, func(yield func([]query.Value, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}}, nil
}

// Query asks one question, a statement of q.Text, as of the transaction's instant. The
// rows are made as they are read, and last no longer than the transaction.
func (tx *Tx) Query(ctx context.Context, statement *query.Statement, q Query) (*Rows, error) {
	opt := query.Options{Limits: q.Limits, Context: ctx, Now: tx.Now, Nanos: nanos(), Input: isInput}
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
			opt.Named = make(map[string]query.Value)
		}
		opt.Named[name] = v
	}
	c := tx.catalog(q.Reader)
	s, err := query.Prepare(c, q.Text, statement, opt)
	if err != nil {
		return nil, err
	}
	return &Rows{s.Columns(), c.watched(s.Rows())}, nil
}

// catalog is the tables of a query in the transaction.
func (tx *Tx) catalog(r Reader) *queryCatalog {
	if r == nil {
		r = plainReader(tx.now)
	}
	c := tx.loaded.queries
	if c == nil {
		c = &queryCatalog{tx: tx}
		if !tx.Writable() { // what it has read stays as it is
			tx.loaded.queries = c
		}
	}
	c.Reader, c.failed = r, nil
	return c
}

// watched adds the errors that the index and the calendar have kept to themselves.
func (c *queryCatalog) watched(rows iter.Seq2[[]query.Value, error]) iter.Seq2[[]query.Value, error] {
	return func(yield func([]query.Value, error) bool) {
		for row, err := range rows {
			if !yield(row, err) || err != nil {
				return
			}
		}
		if err := c.err(); err != nil {
			yield(nil, err)
		}
	}
}

func (c *queryCatalog) err() error {
	var err error
	if ix := c.tx.loaded.index; ix != nil {
		err = ix.Err()
	}
	if cal := c.tx.loaded.calendar; cal != nil && err == nil {
		err = cal.Err()
	}
	if err == nil {
		err = c.failed
	}
	return err
}

// isInput reports errors that are about what was asked for, not about the file.
func isInput(err error) bool {
	return !errors.Is(err, ErrDamaged)
}

// nanos is a clock for EXPLAIN ANALYZE.
func nanos() func() int64 {
	start := time.Now()
	return func() int64 { return int64(time.Since(start)) }
}

// queryValue is a parameter as a value.
func queryValue(v any) (query.Value, error) {
	switch v := v.(type) {
	case nil:
		return query.Value{}, nil
	case query.Value:
		return v, nil
	case bool:
		return query.Bool(v), nil
	case int:
		return query.Int(int64(v)), nil
	case int32:
		return query.Int(int64(v)), nil
	case int64:
		return query.Int(v), nil
	case uint32:
		return query.Int(int64(v)), nil
	case float64:
		return query.Float(v), nil
	case string:
		return query.String(v), nil
	case time.Time:
		return query.Int(v.Unix()), nil
	case time.Duration:
		return query.Int(int64(v / time.Second)), nil
	}
	return query.Value{}, fmt.Errorf("a %T cannot be one", v)
}
