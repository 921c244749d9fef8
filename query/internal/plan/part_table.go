package plan

import (
	"iter"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// partTable is some columns and some rows of a table.
type partTable struct {
	table   tables.Table
	columns []tables.Column
	of      []int // the table's number of each column
	rows    *roaring.Bitmap
}

func (t *partTable) Columns() []tables.Column { return t.columns }

func (t *partTable) Scan(rows *roaring.Bitmap) tables.Cursor {
	switch {
	case rows == nil:
		rows = t.rows
	case t.rows != nil:
		rows = roaring.And(rows, t.rows)
	}
	return t.cursor(t.table.Scan(rows))
}

func (t *partTable) cursor(c tables.Cursor) tables.Cursor { return &partCursor{partRow{t.of, c}, c} }

// Lookup finds the rows with a value if the table does, and if the part has all rows.
func (t *partTable) Lookup(column int, v values.Value) (tables.Cursor, bool) {
	keyed, ok := t.table.(tables.Keyed)
	if !ok || t.rows != nil {
		return nil, false
	}
	c, ok := keyed.Lookup(t.of[column], v)
	if !ok {
		return nil, false
	}
	return t.cursor(c), true
}

// mapped returns the table's numbers of columns.
func (t *partTable) mapped(columns []int) []int {
	of := make([]int, len(columns))
	for i, c := range columns {
		of[i] = t.of[c]
	}
	return of
}

// Order returns the column by which the table is sorted, or -1 if it is not in the part.
func (t *partTable) Order() int {
	if ordered, ok := t.table.(tables.Ordered); ok {
		return slices.Index(t.of, ordered.Order())
	}
	return -1
}

// Range goes through the rows with a value between from and to. If the part is a set of rows,
// it goes through all of them, unless their numbers are in that order. The condition is
// checked again.
func (t *partTable) Range(from, to int64) tables.Cursor {
	if t.rows == nil {
		return t.cursor(t.table.(tables.Ordered).Range(from, to))
	}
	if _, ok := t.table.(tables.Ranged); ok {
		return t.Scan(numbered(from, to))
	}
	return t.Scan(nil)
}

// Size is roughly how many rows there are.
func (t *partTable) Size() int {
	if t.rows != nil {
		return int(t.rows.GetCardinality())
	}
	switch known := t.table.(type) {
	case tables.Counted:
		return known.Count()
	case tables.Sized:
		return known.Size()
	}
	return unknownSize
}

type partRow struct {
	of  []int
	row tables.Row
}

func (r *partRow) Column(i int) values.Value { return r.row.Column(r.of[i]) }

// Code is called for columns with a Domain.
func (r *partRow) Code(column int) uint32 { return r.row.(tables.Coded).Code(r.of[column]) }

type partCursor struct {
	partRow
	cursor tables.Cursor
}

func (c *partCursor) Next() bool { return c.cursor.Next() }
func (c *partCursor) Err() error { return c.cursor.Err() }

// indexedPart is part of a table that knows sets of its rows.
type indexedPart struct {
	partTable
	indexed tables.Indexed
}

func (t *indexedPart) within(rows *roaring.Bitmap) *roaring.Bitmap {
	if t.rows == nil {
		return rows
	}
	return roaring.And(rows, t.rows)
}

func (t *indexedPart) All() *roaring.Bitmap {
	if t.rows != nil {
		return t.rows
	}
	return t.indexed.All()
}

func (t *indexedPart) Find(f tables.Find) (*roaring.Bitmap, bool) {
	f.Column = t.of[f.Column]
	rows, ok := t.indexed.Find(f)
	if !ok {
		return nil, false
	}
	return t.within(rows), true
}

func (t *indexedPart) Split(columns []int) (iter.Seq2[tables.Row, *roaring.Bitmap], bool) {
	parts, ok := t.indexed.Split(t.mapped(columns))
	if !ok {
		return nil, false
	}
	return func(yield func(tables.Row, *roaring.Bitmap) bool) {
		for row, rows := range parts {
			if rows = t.within(rows); !rows.IsEmpty() && !yield(&partRow{t.of, row}, rows) {
				return
			}
		}
	}, true
}

func (t *indexedPart) Between(column int, from, to int64) (tables.Range, bool) {
	ranged, ok := t.indexed.(tables.Ranged)
	if !ok {
		return tables.Range{}, false
	}
	return ranged.Between(t.of[column], from, to)
}
