package store

import (
	"slices"

	"github.com/placectl/placectl/store/internal/row"
)

// Whoever goes through rows may change them meanwhile, those of the same table, too:
// cancel each job, remove each node. So the recorder knows who is under way, and before
// the first change of a table they read the rows that are still before them. Each row
// that was there when they set out comes once: as it is when its turn comes, or as it
// was, where it is gone by then. Rows that are new do not come.

// walk goes through a table's rows from a key on as far as they have a prefix, in key
// order.
type walk struct {
	cursor *cursor
	prefix []byte
	apart  bool         // from the cursor: what is left is in rest
	rest   []changedRow // as they were
	err    error        // what comes after them
}

// walk sets out. The walk is to be ended.
func (r *recorder) walk(t row.Table, from, prefix []byte) (*walk, error) {
	c, err := r.cursor(t)
	if err != nil {
		return nil, err
	}
	c.seek(from)
	w := &walk{cursor: c, prefix: prefix}
	r.walks = append(r.walks, w)
	return w, nil
}

// end lets the recorder forget a walk.
func (w *walk) end() {
	r := w.cursor.file
	if i := slices.Index(r.walks, w); i >= 0 {
		r.walks = slices.Delete(r.walks, i, i+1)
	}
}

// leave makes a walk independent of its cursor: the table is about to be changed.
func (w *walk) leave() {
	if w.apart {
		return
	}
	for {
		key, value, err := w.next()
		if key == nil || err != nil {
			w.apart, w.err = true, err
			return
		}
		w.rest = append(w.rest, changedRow{key, value})
	}
}

// each goes the rest of the way, until fn fails or says stop.
func (w *walk) each(fn func(key, payload []byte) (more bool, err error)) error {
	for {
		key, value, err := w.next()
		if key == nil || err != nil {
			return err
		}
		payload, err := row.Unseal(w.cursor.table, key, value)
		if err != nil {
			return err
		}
		if more, err := fn(key, payload); err != nil || !more {
			return err
		}
	}
}

// next is the next row, as it is stored; its key is nil at the end.
func (w *walk) next() (key, value []byte, err error) {
	if !w.apart {
		if key, value, err = w.cursor.next(); key != nil && !hasPrefix(key, w.prefix) {
			return nil, nil, nil
		}
		return key, value, err
	}
	if len(w.rest) == 0 {
		return nil, nil, w.err
	}
	next := w.rest[0]
	w.rest = w.rest[1:]
	now, err := w.cursor.file.get(w.cursor.table, next.key)
	if now == nil {
		now = next.value
	}
	return next.key, now, err
}
