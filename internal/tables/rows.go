package tables

import (
	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// rowsTable is a table that may be large. Its rows are made from those of a table of the file,
// one after the other, as they are read. A row in the file may hold many rows.
type rowsTable[T any] struct {
	columns []getter[T]
	size    int // approximate number of rows
	open    func() *file.Cursor
	// read appends the rows in a row of the file to out.
	read func(key, payload []byte, out []T) ([]T, error)
	// keys holds, for some columns, a function that opens the table at the rows with a value.
	keys map[string]func(values.Value) *file.Cursor
}

func (t *rowsTable[T]) Columns() []tables.Column { return columnsOf(t.columns) }

func (t *rowsTable[T]) Size() int { return t.size }

func (t *rowsTable[T]) Scan(*roaring.Bitmap) tables.Cursor { return t.from(t.open()) }

func (t *rowsTable[T]) from(rows *file.Cursor) tables.Cursor {
	return &rowsCursor[T]{listCursor: listCursor[T]{columns: t.columns, at: -1}, t: t, file: rows}
}

// Lookup finds rows by one of the keys. It may return more rows than match. NULL finds
// nothing.
func (t *rowsTable[T]) Lookup(column int, v values.Value) (tables.Cursor, bool) {
	open, ok := t.keys[t.columns[column].Name]
	if !ok {
		return nil, false
	}
	if v.IsNull() {
		return &listCursor[T]{columns: t.columns, at: -1}, true
	}
	return t.from(open(v)), true
}

// orderedTable is a rowsTable whose rows have the same numbers as those in the file.
type orderedTable[T any] struct {
	rowsTable[T]
	part func(from, to int64) *file.Cursor
}

// Order returns the first column.
func (t *orderedTable[T]) Order() int { return 0 }

func (t *orderedTable[T]) Range(from, to int64) tables.Cursor { return t.from(t.part(from, to)) }

// rowsCursor is a listCursor that reads its rows in blocks.
type rowsCursor[T any] struct {
	listCursor[T]
	t    *rowsTable[T]
	file *file.Cursor // nil if there is nothing to find
}

func (c *rowsCursor[T]) Next() bool {
	for c.at++; c.at >= len(c.rows); c.at = 0 {
		if c.err != nil || c.file == nil || !c.file.Next() {
			return false
		}
		c.rows, c.err = c.t.read(c.file.Key, c.file.Payload, c.rows[:0])
	}
	return c.err == nil
}

func (c *rowsCursor[T]) Err() error {
	if c.err == nil && c.file != nil {
		return c.file.Err
	}
	return c.err
}
