package file

import (
	"bytes"
	"fmt"

	"github.com/placectl/placectl/internal/row"
	"go.etcd.io/bbolt"
)

// nearby is the number of rows to step over before searching.
const nearby = 8

// Finder finds rows of a table by keys in roughly ascending order, as policies read nodes. It
// steps from one to the next instead of searching for each.
type Finder struct {
	file   *Recorder
	table  row.Table
	rows   *bbolt.Cursor
	k, v   []byte // the current row; nil at first and at the end
	writes int    // writes to the table when rows was made
}

// Finder makes a finder for a table.
func (r *Recorder) Finder(t row.Table) *Finder { return &Finder{file: r, table: t} }

// Find returns the payload of a row, or nil if there is none.
func (f *Finder) Find(key []byte) ([]byte, error) {
	r := f.file
	if r.patch(f.table) != nil {
		return r.Get(f.table, key)
	}
	if f.rows == nil || f.writes != r.writes[f.table] {
		b, err := r.table(f.table)
		if b == nil {
			return nil, err
		}
		f.rows, f.k, f.writes = b.Cursor(), nil, r.writes[f.table]
	}
	for i := 0; i < nearby && f.k != nil && bytes.Compare(f.k, key) < 0; i++ {
		f.k, f.v = f.rows.Next()
	}
	if f.k == nil || !bytes.Equal(f.k, key) {
		f.k, f.v = f.rows.Seek(key)
	}
	if !bytes.Equal(f.k, key) {
		return nil, r.absent(f.table, key)
	}
	return row.Unseal(f.table, f.k, f.v)
}

// around is the number of bytes of rows examined on each side of a missing row: a page of the
// usual size. rowHead is bbolt's overhead in a page for each row.
const (
	around  = 4096
	rowHead = 16
)

// absent verifies that a row which was not found does not exist. A damaged page can mislead a
// search, or lead it to another page. Then the rows around the place are out of order. Or the
// row has another key, and its checksum is wrong. Or the table seems empty, as a small table
// inside another page does if it loses its header. The sums then tell how many rows it has. In
// a table that the transaction has changed, nothing is verified.
func (r *Recorder) absent(t row.Table, key []byte) error {
	b := r.bucket(t)
	if b == nil || r.writes[t] > 0 {
		return nil
	}
	c := b.Cursor()
	k, v := c.Seek(key)
	if err := inOrder(t, key, k, v, c.Next, 1); err != nil {
		return err
	}
	none := k == nil
	if k, v = before(c, key); k == nil && none {
		return r.hasNone(t)
	}
	return inOrder(t, key, k, v, c.Prev, -1)
}

// before moves to the last row whose key is less than the given one, as far as a search finds
// it. Its key is nil if there is none.
func before(c *bbolt.Cursor, key []byte) (k, v []byte) {
	if k, _ := c.Seek(key); k == nil {
		return last(c)
	}
	return c.Prev()
}

// whole verifies a row that is not read, because a search or a scan ends there.
func whole(t row.Table, key, value []byte) error {
	if isFormat(t, key) {
		return nil
	}
	_, err := row.Unseal(t, key, value)
	return err
}

func outOfOrder(t row.Table, key []byte) error {
	return fmt.Errorf("%w: the rows of %s around %s are out of order", row.ErrDamaged, t, row.Shown(key))
}

// hasNone verifies that a table without rows should be empty. The table of sums is never
// empty: opening the file checks its rows.
func (r *Recorder) hasNone(t row.Table) error {
	if t == row.Meta {
		return nil
	}
	sums, err := r.storedSums()
	if err == nil && sums != nil && sums.Tables[t].Count > 0 {
		err = fmt.Errorf("%w: table %s seems empty, and should have %d rows", row.ErrDamaged, t, sums.Tables[t].Count)
	}
	return err
}

// inOrder verifies that the rows on one side of a place are in order, and that the first is
// whole.
func inOrder(t row.Table, place, k, v []byte, step func() (k, v []byte), way int) error {
	if k != nil {
		if err := whole(t, k, v); err != nil {
			return err
		}
	}
	for at, seen := place, 0; k != nil && seen < around; {
		if bytes.Compare(k, at)*way <= 0 {
			return outOfOrder(t, place)
		}
		at, seen = k, seen+rowHead+len(k)+len(v)
		k, v = step()
	}
	return nil
}

// Last returns the greatest key of a table, or nil if it is empty.
func (r *Recorder) Last(t row.Table) ([]byte, error) {
	b, err := r.table(t)
	if b == nil {
		return nil, err
	}
	c := b.Cursor()
	k, v := last(c)
	if p := r.patch(t); p != nil {
		k, _ = p.back(c, k, v, len(p.pages), 0)
		return k, nil
	}
	if k == nil {
		return nil, r.hasNone(t)
	}
	return k, whole(t, k, v)
}

// last returns a cursor's Last. bbolt's own (1.5) does not return in a table of several pages whose rows
// the transaction has all removed.
func last(c *bbolt.Cursor) (key, value []byte) {
	if key, _ := c.First(); key == nil {
		return nil, nil
	}
	return c.Last()
}

// Before finds the last row of a table whose key is less than the given one. Its key is nil if
// there is none.
func (r *Recorder) Before(t row.Table, key []byte) (k, payload []byte, err error) {
	b, err := r.table(t)
	if b == nil {
		return nil, nil, err
	}
	c := b.Cursor()
	if k, v := c.Seek(key); k != nil {
		if err := whole(t, k, v); err != nil {
			return nil, nil, err
		}
	}
	k, value := before(c, key)
	if p := r.patch(t); p != nil {
		page, i, _ := p.search(key)
		k, value = p.back(c, k, value, page, i)
	}
	if k == nil {
		return nil, nil, nil
	}
	payload, err = row.Unseal(t, k, value)
	return k, payload, err
}
