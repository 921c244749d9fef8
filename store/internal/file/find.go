package file

import (
	"bytes"

	"github.com/placectl/placectl/store/internal/row"
	"go.etcd.io/bbolt"
)

// nearby is how many rows are stepped over before one is searched for.
const nearby = 8

// Finder finds rows of a table whose keys are asked for in about ascending order, as
// policies ask for nodes: it steps from one to the next rather than search for each.
type Finder struct {
	file   *Recorder
	table  row.Table
	rows   *bbolt.Cursor
	k, v   []byte // where it stands, nil at first and at the end
	writes int    // to the table, when rows was made
}

// Finder makes a finder for a table.
func (r *Recorder) Finder(t row.Table) *Finder { return &Finder{file: r, table: t} }

// Find is the payload of a row, nil when there is none.
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
		return nil, nil
	}
	return row.Unseal(f.table, f.k, f.v)
}

// Last is the greatest key of a table in the file, nil when it is empty there: what a
// reader has changed does not count.
func (r *Recorder) Last(t row.Table) []byte {
	b := r.bucket(t)
	if b == nil {
		return nil
	}
	key, _ := last(b.Cursor())
	return key
}

// last is a cursor's Last. That one does not come to an end in a table of several pages
// of which the transaction has removed every row (bbolt 1.5).
func last(c *bbolt.Cursor) (key, value []byte) {
	if key, _ := c.First(); key == nil {
		return nil, nil
	}
	return c.Last()
}

// Before finds the last row of a table in the file whose key is less than one; its key
// is nil when there is none.
func (r *Recorder) Before(t row.Table, key []byte) (k, payload []byte, err error) {
	b, err := r.table(t)
	if b == nil {
		return nil, nil, err
	}
	c := b.Cursor()
	back := c.Prev
	if k, _ := c.Seek(key); k == nil {
		back = func() ([]byte, []byte) { return last(c) }
	}
	k, value := back()
	if k == nil {
		return nil, nil, nil
	}
	payload, err = row.Unseal(t, k, value)
	return k, payload, err
}
