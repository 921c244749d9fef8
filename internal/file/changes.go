package file

import (
	"bytes"
	"slices"

	"github.com/placectl/placectl/internal/row"
	"go.etcd.io/bbolt"
)

// ChangeSet is the changes to a file: the puts and removals of each table, in key order, as
// Recorder records them. A reader may be at a later instant than the file, when reservations
// have begun and ended, and planned jobs have started. A writer would write these changes to
// the rows. A reader keeps them as a change-set through which it sees the rows, so that both
// see the same.
type ChangeSet [row.TableCount]changes

// Each calls fn for the rows of a table that were put or removed, for which value is nil.
// Values are as stored.
func (s *ChangeSet) Each(t row.Table, fn func(key, value []byte)) {
	c := &s[t]
	for r, page, i := c.at(0, 0); r.key != nil; r, page, i = c.at(page, i+1) {
		fn(r.key, r.value)
	}
}

// Cleared reports whether all older rows of a table were removed.
func (s *ChangeSet) Cleared(t row.Table) bool { return s[t].cleared }

// clone returns a copy that later changes do not reach.
func (s *ChangeSet) clone() *ChangeSet {
	of := *s
	for t := range of {
		of[t].pages = slices.Clone(of[t].pages)
		for i, page := range of[t].pages {
			of[t].pages[i] = slices.Clone(page)
		}
	}
	return &of
}

// changes are the changes of one table. Each key comes once, with its last row.
type changes struct {
	cleared bool           // all older rows were removed
	pages   [][]changedRow // in key order; no page is empty
}

// changedRow is a row that was put, or the key of one that was removed: row is nil.
type changedRow struct{ key, value []byte }

// changesPage is the most rows in a page. Rows are inserted into the middle of a page, and
// pages into the middle of their list, and both are short.
const changesPage = 128

// search finds where a key is, or would be put.
func (c *changes) search(key []byte) (page, i int, found bool) {
	page, found = slices.BinarySearchFunc(c.pages, key, func(p []changedRow, key []byte) int {
		return bytes.Compare(p[0].key, key)
	})
	if found || page == 0 {
		return page, 0, found
	}
	page-- // the last one that begins before the key
	i, found = slices.BinarySearchFunc(c.pages[page], key, func(r changedRow, key []byte) int {
		return bytes.Compare(r.key, key)
	})
	return page, i, found
}

// set puts a row, or removes the one of the key if row is nil. It keeps row, not key.
func (c *changes) set(key, value []byte) {
	page, i, found := c.search(key)
	if found {
		c.pages[page][i].value = value
		return
	}
	if len(c.pages) == 0 {
		c.pages = append(c.pages, nil)
	}
	p := slices.Insert(c.pages[page], i, changedRow{bytes.Clone(key), value})
	c.pages[page] = p
	if half := len(p) / 2; len(p) > changesPage {
		c.pages[page] = p[:half:half]
		c.pages = slices.Insert(c.pages, page+1, p[half:])
	}
}

// clear removes every row.
func (c *changes) clear() { *c = changes{cleared: true} }

// get returns a changed row, or nil if it was removed. known is false if the row is unchanged.
func (c *changes) get(key []byte) (value []byte, known bool) {
	page, i, found := c.search(key)
	if !found {
		return nil, c.cleared
	}
	return c.pages[page][i].value, true
}

// at returns the row at a position, or the first one after it. Its key is nil if there is
// none.
func (c *changes) at(page, i int) (changedRow, int, int) {
	if page < len(c.pages) && i == len(c.pages[page]) {
		page, i = page+1, 0
	}
	if page >= len(c.pages) {
		return changedRow{}, page, i
	}
	return c.pages[page][i], page, i
}

// before returns the row before a position, and its position. The key is nil if there is none.
func (c *changes) before(page, i int) (changedRow, int, int) {
	for i == 0 {
		if page == 0 {
			return changedRow{}, 0, 0
		}
		page--
		i = len(c.pages[page])
	}
	return c.pages[page][i-1], page, i - 1
}

// back returns the last row before a cursor of the file, which is at k, and before a position
// in the changes. It is the row that a reader sees through the changes.
func (c *changes) back(file *bbolt.Cursor, k, v []byte, page, i int) (key, value []byte) {
	if c.cleared {
		k = nil
	}
	r, page, i := c.before(page, i)
	for r.key != nil && (k == nil || bytes.Compare(r.key, k) >= 0) {
		if r.value != nil {
			return r.key, r.value
		}
		if bytes.Equal(r.key, k) {
			k, v = file.Prev()
		}
		r, page, i = c.before(page, i)
	}
	return k, v
}
