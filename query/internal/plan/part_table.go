package plan

import (
	"iter"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// partTable is some columns of a table, and some of its rows.
type partTable struct {
	table   tables.Table
	columns []tables.Column
	of      []int // which of the table's each is
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

// Lookup finds the rows with a value where the table does, and all of its rows are meant.
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

// Size is about how many rows there are.
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

// partRow is a row of it.
type partRow struct {
	of  []int
	row tables.Row
}

func (r *partRow) Column(i int) values.Value { return r.row.Column(r.of[i]) }

// Code is asked of columns with a Domain.
func (r *partRow) Code(column int) uint32 { return r.row.(tables.Coded).Code(r.of[column]) }

type partCursor struct {
	partRow
	cursor tables.Cursor
}

func (c *partCursor) Next() bool { return c.cursor.Next() }
func (c *partCursor) Err() error { return c.cursor.Err() }

// indexedPart is one of a table that knows sets of its rows.
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
	of := make([]int, len(columns))
	for i, c := range columns {
		of[i] = t.of[c]
	}
	parts, ok := t.indexed.Split(of)
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
