package tables

import (
	"fmt"
	"math"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// getter is a column, with the function that returns its value for a row.
type getter[T any] struct {
	tables.Column
	get func(*T) values.Value
}

// Constructors for columns of each kind.

func textColumn[T any](name, doc string, get func(*T) string) getter[T] {
	return getter[T]{tables.Column{Name: name, Type: values.TextAffinity, Doc: doc}, func(r *T) values.Value {
		return values.TextOrNull(get(r))
	}}
}

func intColumn[T any](name, doc string, get func(*T) int64) getter[T] {
	return getter[T]{tables.Column{Name: name, Type: values.IntegerAffinity, NotNull: true, Doc: doc},
		func(r *T) values.Value { return values.Int(get(r)) }}
}

// numberColumn returns a column of numbers, NULL for 0.
func numberColumn[T any](name, doc string, get func(*T) int64) getter[T] {
	return valueColumn(name, doc, values.IntegerAffinity, tables.NoUnit, func(r *T) values.Value {
		if n := get(r); n != 0 {
			return values.Int(n)
		}
		return values.Value{}
	})
}

func boolColumn[T any](name, doc string, get func(*T) bool) getter[T] {
	return getter[T]{
		tables.Column{Name: name, Type: values.IntegerAffinity, Unit: tables.Truth, NotNull: true, Doc: doc},
		func(r *T) values.Value { return values.Bool(get(r)) }}
}

func realColumn[T any](name, doc string, get func(*T) float64) getter[T] {
	return getter[T]{tables.Column{Name: name, Type: values.RealAffinity, NotNull: true, Doc: doc},
		func(r *T) values.Value { return values.Float(get(r)) }}
}

// unitColumn returns an integer of a unit.
func unitColumn[T any](name, doc string, u tables.Unit, get func(*T) int64) getter[T] {
	c := intColumn(name, doc, get)
	c.Unit = u
	return c
}

// timeColumn returns a column of instants, NULL for 0.
func timeColumn[T any](name, doc string, get func(*T) int64) getter[T] {
	return getter[T]{tables.Column{Name: name, Type: values.IntegerAffinity, Unit: tables.Time, Doc: doc},
		func(r *T) values.Value { return timeValue(get(r)) }}
}

func valueColumn[T any](name, doc string, a values.Affinity, u tables.Unit, get func(*T) values.Value) getter[T] {
	return getter[T]{tables.Column{Name: name, Type: a, Unit: u, Doc: doc}, get}
}

func timeValue(at int64) values.Value {
	if at <= 0 || at == math.MaxInt64 {
		return values.Value{}
	}
	return values.Int(at)
}

// sizeValue returns kb as bytes.
func sizeValue(kb int64) values.Value {
	if kb > math.MaxInt64/1024 {
		return values.Float(float64(kb) * 1024)
	}
	return values.Int(kb * 1024)
}

func notAnInstant(v values.Value) error { return fmt.Errorf("%s is not an instant", v.Literal()) }

// listTable is a small or seldom used table. Its rows are gathered when it is scanned.
type listTable[T any] struct {
	columns []getter[T]
	gather  func(add func(T)) error
}

func (t *listTable[T]) Columns() []tables.Column { return columnsOf(t.columns) }

func columnsOf[T any](list []getter[T]) []tables.Column {
	out := make([]tables.Column, len(list))
	for i := range list {
		out[i] = list[i].Column
	}
	return out
}

func (t *listTable[T]) Scan(*roaring.Bitmap) tables.Cursor {
	c := &listCursor[T]{columns: t.columns, at: -1}
	c.err = t.gather(func(row T) { c.rows = append(c.rows, row) })
	return c
}

type listCursor[T any] struct {
	columns []getter[T]
	rows    []T
	at      int
	err     error
}

func (c *listCursor[T]) Next() bool                { c.at++; return c.err == nil && c.at < len(c.rows) }
func (c *listCursor[T]) Column(i int) values.Value { return c.columns[i].get(&c.rows[c.at]) }
func (c *listCursor[T]) Err() error                { return c.err }
