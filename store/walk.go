package store

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"go.etcd.io/bbolt"
)

// Whoever goes through rows may change them meanwhile, those of the same table, too:
// cancel each job, remove each node. A cursor of bbolt loses its place when its table
// is written to. So the recorder knows who is under way, and before the first
// change of a table they read the keys that are still before them. Each row that was
// there when they set out comes once: as it is when its turn comes, or as it was,
// where it is gone by then. Rows that are new do not come.

// walk goes through a table's rows from a key on as far as they have a prefix, in key
// order, the patched ones in place of the file's.
type walk struct {
	file    *recorder
	table   table
	prefix  []byte
	cursor  *bbolt.Cursor
	k, v    []byte   // the next row of the file
	patched []string // the keys of the patch that are still before it
	rest    []fileRow
	apart   bool // from the cursor: what is left is in rest
}

type fileRow struct{ key, row []byte }

// walk sets out. The walk is to be ended.
func (r *recorder) walk(t table, from, prefix []byte) (*walk, error) {
	b, err := r.existing(t)
	if err != nil {
		return nil, err
	}
	w := &walk{file: r, table: t, prefix: prefix, cursor: b.Cursor()}
	if r.patch != nil && r.patch[t] != nil {
		for _, k := range slices.Sorted(maps.Keys(r.patch[t])) {
			if k >= string(from) && hasPrefix([]byte(k), prefix) {
				w.patched = append(w.patched, k)
			}
		}
	}
	w.k, w.v = w.cursor.Seek(from)
	if r.writable() {
		r.walks = append(r.walks, w)
	}
	return w, nil
}

// end lets the recorder forget a walk.
func (w *walk) end() {
	if i := slices.Index(w.file.walks, w); i >= 0 {
		w.file.walks = slices.Delete(w.file.walks, i, i+1)
	}
}

// leaveFile makes a walk independent of its cursor: the table is about to be changed.
func (w *walk) leaveFile() {
	if w.apart {
		return
	}
	w.apart = true
	for w.inFile() {
		w.rest = append(w.rest, fileRow{w.k, w.v})
		w.k, w.v = w.cursor.Next()
	}
}

// each goes the rest of the way, until fn fails or says stop.
func (w *walk) each(fn func(key, payload []byte) (more bool, err error)) error {
	for {
		key, row, err := w.next()
		if key == nil || err != nil {
			return err
		}
		if w.table == tableMeta && string(key) == string(keyFormat) {
			continue // not a row: older and newer versions must be able to read it
		}
		payload, err := unseal(w.table, key, row)
		if err != nil {
			return err
		}
		if more, err := fn(key, payload); err != nil || !more {
			return err
		}
	}
}

func (w *walk) inFile() bool { return w.k != nil && hasPrefix(w.k, w.prefix) }

// next is the next row, as it is stored; its key is nil at the end.
func (w *walk) next() (key, row []byte, err error) {
	for {
		key, row, patched := w.step()
		if key == nil || row != nil {
			return key, row, nil
		}
		if !patched { // to bbolt it is a table in the table
			return nil, nil, fmt.Errorf("%w: table %s has something at %x that is no row", ErrDamaged, tables[w.table].name, key)
		}
	}
}

// step goes to the next key. It has no row where the patch says that it is gone.
func (w *walk) step() (key, row []byte, patched bool) {
	if w.apart {
		key, row = w.stepApart()
		return key, row, false
	}
	if len(w.patched) > 0 && (!w.inFile() || w.patched[0] <= string(w.k)) {
		key, row = []byte(w.patched[0]), w.file.patch[w.table][w.patched[0]]
		w.patched = w.patched[1:]
		if w.inFile() && bytes.Equal(key, w.k) {
			w.k, w.v = w.cursor.Next()
		}
		return key, row, true
	}
	if !w.inFile() {
		return nil, nil, false
	}
	key, row = w.k, w.v
	w.k, w.v = w.cursor.Next()
	return key, row, false
}

func (w *walk) stepApart() (key, row []byte) {
	if len(w.rest) == 0 {
		return nil, nil
	}
	next := w.rest[0]
	w.rest = w.rest[1:]
	if now := w.file.table(w.table).Get(next.key); now != nil {
		return next.key, now
	}
	return next.key, next.row
}
