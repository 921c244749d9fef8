package file

import (
	"bytes"
	"fmt"

	"github.com/placectl/placectl/internal/row"
	"go.etcd.io/bbolt"
)

// Cursor iterates over the rows of a table, and can skip ahead.
type Cursor struct {
	Key, Payload []byte // of the current row
	Err          error  // why there was no next row, nil at the end

	last []byte // the key to end with, nil for none
	cursor
}

// cursor iterates over the rows of a table in key order: those of the file, replaced by those
// of a reader's patch. If the table changes meanwhile, it continues after its row in the
// changed table. Walk iterates over the table as it was.
type cursor struct {
	file   *Recorder
	table  row.Table
	prefix []byte // of all rows that it visits
	err    error  // the table is missing, or damaged where the cursor landed
	writes int    // writes to the table when the cursor found its position

	rows *bbolt.Cursor
	k, v []byte // the next row of the file

	patch   *changes // nil for none
	patched changedRow
	page, i int // where patched is in patch

	placed bool
	past   bool   // the cursor is before the first row after
	from   []byte // this key, or at or after it

	whole bool    // it has visited all rows of the file with the prefix so far
	sum   row.Sum // of those rows
}

func (r *Recorder) cursor(t row.Table, prefix []byte) cursor {
	_, err := r.table(t)
	return cursor{file: r, table: t, prefix: prefix, err: err}
}

// Cursor returns a cursor before the first row of a table.
func (r *Recorder) Cursor(t row.Table) *Cursor {
	return &Cursor{cursor: r.cursor(t, nil)}
}

// Range returns a cursor for the rows with the keys first..last.
func (r *Recorder) Range(t row.Table, first, last []byte) *Cursor {
	c := r.Cursor(t)
	c.last = last
	c.seek(first)
	return c
}

// Numbers returns a cursor for the rows of a table whose keys are the numbers from..to.
func (r *Recorder) Numbers(t row.Table, from, to int64) *Cursor {
	c := r.Range(t, row.Key64(uint64(max(from, 0))), row.Key64(uint64(max(to, 0))))
	if to < max(from, 0) {
		c.last = []byte{}
	}
	return c
}

// Next moves to the next row. It returns false at the end, and after an error.
func (c *Cursor) Next() bool {
	if c.Err != nil {
		return false
	}
	var value []byte
	c.Key, value, c.Err = c.next()
	if c.Key == nil || c.Err != nil {
		return false
	}
	c.Payload, c.Err = row.Unseal(c.table, c.Key, value)
	return c.Err == nil && (c.last == nil || bytes.Compare(c.Key, c.last) <= 0)
}

// Seek moves to the row of a key, or the first one after it. Seek keys in ascending order.
func (c *Cursor) Seek(key []byte) bool {
	c.seek(key)
	return c.Next()
}

// seek moves before the first row whose key is key or comes after it, and never back. The key
// must not change before the next row is read.
func (c *cursor) seek(key []byte) {
	if !c.placed || c.writes != c.file.writes[c.table] {
		if !c.placed || bytes.Compare(key, c.from) > 0 {
			c.from, c.past = key, false
		}
		c.place()
		return
	}
	var before, value []byte
	for i := 0; i < nearby && c.k != nil && bytes.Compare(c.k, key) < 0; i++ {
		before, value = c.k, c.v
		c.step()
	}
	if c.k != nil && bytes.Compare(c.k, key) < 0 {
		c.land(key)
	} else if before != nil {
		c.err = whole(c.table, before, value)
	}
	if c.patched.key != nil && bytes.Compare(c.patched.key, key) < 0 {
		c.page, c.i, _ = c.patch.search(key)
		c.patched, c.page, c.i = c.patch.at(c.page, c.i)
	}
	if bytes.Compare(key, c.from) > 0 {
		c.from, c.past = key, false
	}
}

// place finds the cursor's position in the present table.
func (c *cursor) place() {
	c.placed, c.writes, c.whole = true, c.file.writes[c.table], false
	c.patched = changedRow{}
	if c.patch = c.file.patch(c.table); c.patch != nil {
		page, i, found := c.patch.search(c.from)
		if found && c.past {
			i++
		}
		c.patched, c.page, c.i = c.patch.at(page, i)
	}
	if c.k, c.v = nil, nil; c.patch != nil && c.patch.cleared {
		return
	}
	b, err := c.file.table(c.table)
	if b == nil {
		c.err = err
		return
	}
	c.rows = b.Cursor()
	if !c.past && bytes.Equal(c.from, c.prefix) && (len(c.prefix) == 0 ||
		c.table.Parted()) {
		c.whole, c.sum = true, row.Sum{}
		c.k, c.v = c.rows.Seek(c.from)
		return
	}
	if c.land(c.from); c.past && bytes.Equal(c.k, c.from) {
		c.k, c.v = c.rows.Next()
	}
}

// land moves to the first row of the file whose key is key or comes after it. If a damaged key
// misleads the search, the row before is damaged or out of order.
func (c *cursor) land(key []byte) {
	c.whole = false
	k, v := before(c.rows, key)
	if k != nil {
		if c.err = whole(c.table, k, v); c.err == nil && bytes.Compare(k, key) >= 0 {
			c.err = outOfOrder(c.table, key)
		}
	}
	if c.k, c.v = c.rows.Seek(key); c.k != nil && bytes.Compare(c.k, key) < 0 {
		c.err = outOfOrder(c.table, key)
	}
}

// next returns the next row as stored, and moves past it. Its key is nil at the end.
func (c *cursor) next() (key, value []byte, err error) {
	if c.err != nil {
		return nil, nil, c.err
	}
	if !c.placed || c.writes != c.file.writes[c.table] {
		c.place()
	}
	for {
		if c.err == nil && c.k != nil && !bytes.HasPrefix(c.k, c.prefix) {
			c.err = c.left()
		}
		if c.err != nil {
			return nil, nil, c.err
		}
		if c.patched.key != nil && !bytes.HasPrefix(c.patched.key, c.prefix) {
			c.patched.key = nil
		}
		if c.k == nil && c.patched.key == nil {
			return nil, nil, c.complete()
		}
		if c.patched.key != nil && (c.k == nil || bytes.Compare(c.patched.key, c.k) <= 0) {
			key, value = c.patched.key, c.patched.value
			c.patched, c.page, c.i = c.patch.at(c.page, c.i+1)
			if bytes.Equal(key, c.k) {
				c.step()
			}
			if value == nil {
				continue
			}
		} else {
			key, value = c.k, c.v
			c.step()
		}
		c.from, c.past = key, true
		if value == nil { // to bbolt, it is a nested table
			return nil, nil, fmt.Errorf("%w: table %s has something at %s that is no row", row.ErrDamaged, c.table,
				row.Shown(key))
		}
		if c.table == row.Meta && string(key) == string(row.KeyFormat) {
			continue // not a row, because older and newer versions must be able to read it
		}
		return key, value, nil
	}
}

// left verifies the row that ends a scan: the first one without the prefix.
func (c *cursor) left() error {
	k, v := c.k, c.v
	c.k = nil
	if bytes.Compare(k, c.prefix) < 0 {
		return outOfOrder(c.table, c.prefix)
	}
	return whole(c.table, k, v)
}

// step moves to the next row of the file.
func (c *cursor) step() {
	switch {
	case !c.whole:
	case len(c.prefix) > 0 && c.table.Part(c.k) < len(c.prefix): // the sums are for shorter prefixes
		c.whole = false
	case row.Counted(c.table, c.k):
		c.sum.Add(c.v)
	}
	c.k, c.v = c.rows.Next()
}

// complete verifies, at the end of a scan of a whole table or of all keys with a prefix, that
// no row is missing, because a damaged page may hide some.
func (c *cursor) complete() error {
	if !c.whole {
		return nil
	}
	c.whole = false
	want, known, err := c.file.sumOf(c.table, c.prefix)
	if err != nil || !known || c.sum == want {
		return err
	}
	of := "table " + c.table.String()
	if len(c.prefix) > 0 {
		of += " below " + row.Shown(c.prefix)
	}
	return otherRows(of, c.sum, want)
}

func otherRows(of string, has, want row.Sum) error {
	return fmt.Errorf("%w: %s has %d rows where there should be %d, or others: a page of it is damaged, lost or stale",
		row.ErrDamaged, of, has.Count, want.Count)
}
