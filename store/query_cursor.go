package store

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"go.etcd.io/bbolt"
)

// rowCursor goes through the rows of a table of the file by key, the patched ones in
// place of the file's, and leaps where it is told to.
type rowCursor struct {
	tx      *Tx
	table   table
	cursor  *bbolt.Cursor
	k, v    []byte // where the file's cursor stands
	begun   bool
	patched []string // keys of the patch from here on
	last    []byte   // the key to end with, nil for none
	key     []byte
	payload []byte
	writes  int // to the table, when the cursor was last moved
	err     error
}

func (tx *Tx) rowCursor(t table) *rowCursor {
	c := &rowCursor{tx: tx, table: t}
	if b := tx.file.table(t); b != nil {
		c.cursor, c.writes = b.Cursor(), tx.file.writes[t]
	} else if tx.format >= tables[t].since {
		c.err = fmt.Errorf("%w: table %s is missing", ErrDamaged, tables[t].name)
	}
	if tx.file.patch != nil {
		c.patched = slices.Sorted(maps.Keys(tx.file.patch[t]))
	}
	return c
}

// rowRange goes through the rows whose keys are first..last.
func (tx *Tx) rowRange(t table, first, last []byte) *rowCursor {
	c := tx.rowCursor(t)
	c.last = last
	if c.cursor != nil {
		c.begun = true
		c.k, c.v = c.cursor.Seek(first)
	}
	c.leave(first)
	return c
}

// numberRange goes through the rows of a table with numbers for keys that are from..to.
func (tx *Tx) numberRange(t table, from, to int64) *rowCursor {
	c := tx.rowRange(t, key64(uint64(max(from, 0))), key64(uint64(max(to, 0))))
	if to < max(from, 0) {
		c.cursor = nil
	}
	return c
}

// leave lets go of what is patched before a key.
func (c *rowCursor) leave(key []byte) {
	for len(c.patched) > 0 && c.patched[0] < string(key) {
		c.patched = c.patched[1:]
	}
}

// next goes to the next row.
func (c *rowCursor) next() bool {
	if c.cursor == nil || c.err != nil {
		return false
	}
	if !c.begun {
		c.begun = true
		c.k, c.v = c.cursor.First()
	}
	c.again()
	return c.settle()
}

// again finds its place anew in a table that was changed meanwhile.
func (c *rowCursor) again() {
	if c.writes == c.tx.file.writes[c.table] {
		return
	}
	c.cursor, c.writes = c.tx.file.table(c.table).Cursor(), c.tx.file.writes[c.table]
	if c.k != nil {
		c.k, c.v = c.cursor.Seek(c.k)
	}
}

// settle takes the row at hand, of the file or of the patch, and steps past it.
func (c *rowCursor) settle() bool {
	for c.k != nil || len(c.patched) > 0 {
		row := c.v
		if len(c.patched) > 0 && (c.k == nil || c.patched[0] <= string(c.k)) {
			c.key, row = []byte(c.patched[0]), c.tx.file.patch[c.table][c.patched[0]]
			c.patched = c.patched[1:]
			if bytes.Equal(c.key, c.k) {
				c.k, c.v = c.cursor.Next()
			}
		} else {
			c.key = c.k
			c.k, c.v = c.cursor.Next()
		}
		if row == nil {
			continue
		}
		if c.last != nil && bytes.Compare(c.key, c.last) > 0 {
			return false
		}
		c.payload, c.err = unseal(c.table, c.key, row)
		return c.err == nil
	}
	return false
}

// seek goes to the row of a key, or the first one behind it. Keys are asked for in
// ascending order.
func (c *rowCursor) seek(key []byte) bool {
	if c.cursor == nil || c.err != nil {
		return false
	}
	if !c.begun {
		c.begun = true
		c.k, c.v = c.cursor.Seek(key)
	}
	c.again()
	for i := 0; i < nearby && c.k != nil && bytes.Compare(c.k, key) < 0; i++ {
		c.k, c.v = c.cursor.Next()
	}
	if c.k != nil && bytes.Compare(c.k, key) < 0 {
		c.k, c.v = c.cursor.Seek(key)
	}
	c.leave(key)
	return c.settle()
}

// word reads a text, the same one for equal bytes. What was read of late is found by a
// glance at the bytes, without a map.
func (c *queryCatalog) word(b []byte) string {
	late := &c.late[(7*len(b)+31*int(b[0])+int(b[len(b)-1]))%len(c.late)]
	if *late != string(b) {
		*late = c.anyWord(b)
	}
	return *late
}

func (c *queryCatalog) anyWord(b []byte) string {
	r := &c.tx.loaded.reader
	if s, ok := r.words[string(b)]; ok {
		return s
	}
	if len(r.words) > 1<<16 {
		return string(b)
	}
	if r.words == nil {
		r.words = make(map[string]string)
	}
	s := string(b)
	r.words[s] = s
	return s
}
