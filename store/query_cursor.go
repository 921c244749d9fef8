package store

import (
	"bytes"

	"github.com/placectl/placectl/store/internal/row"
)

// rowCursor goes through the rows of a table for a query, and leaps where it is told to.
type rowCursor struct {
	table   row.Table
	rows    *cursor // nil for none
	last    []byte  // the key to end with, nil for none
	key     []byte
	payload []byte
	err     error
}

func (tx *Tx) rowCursor(t row.Table) *rowCursor {
	c := &rowCursor{table: t}
	if tx.file.table(t) != nil || tx.format >= t.Since() {
		c.rows, c.err = tx.file.cursor(t)
	}
	return c
}

// rowRange goes through the rows whose keys are first..last.
func (tx *Tx) rowRange(t row.Table, first, last []byte) *rowCursor {
	c := tx.rowCursor(t)
	if c.last = last; c.rows != nil {
		c.rows.seek(first)
	}
	return c
}

// numberRange goes through the rows of a table with numbers for keys that are from..to.
func (tx *Tx) numberRange(t row.Table, from, to int64) *rowCursor {
	c := tx.rowRange(t, row.Key64(uint64(max(from, 0))), row.Key64(uint64(max(to, 0))))
	if to < max(from, 0) {
		c.rows = nil
	}
	return c
}

// next goes to the next row.
func (c *rowCursor) next() bool {
	if c.rows == nil || c.err != nil {
		return false
	}
	var value []byte
	c.key, value, c.err = c.rows.next()
	if c.key == nil || c.err != nil || c.last != nil && bytes.Compare(c.key, c.last) > 0 {
		return false
	}
	c.payload, c.err = row.Unseal(c.table, c.key, value)
	return c.err == nil
}

// seek goes to the row of a key, or the first one behind it. Keys are asked for in
// ascending order.
func (c *rowCursor) seek(key []byte) bool {
	if c.rows == nil || c.err != nil {
		return false
	}
	c.rows.seek(key)
	return c.next()
}

// word reads a text, the same one for equal bytes. What was read of late is found by a
// glance at the bytes, without a map.
func (c *queryCatalog) word(b []byte) string {
	late := &c.late[(7*len(b)+31*int(b[0])+int(b[len(b)-1]))%len(c.late)]
	if *late != string(b) {
		*late = c.tx.loaded.reader.words.Of(b)
	}
	return *late
}
