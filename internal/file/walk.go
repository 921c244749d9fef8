package file

import (
	"slices"

	"github.com/placectl/placectl/internal/row"
)

// Callers that iterate over rows may change them meanwhile, even in the same table: cancel
// each job, remove each node. So the recorder knows all walks under way, and before the first
// change of a table they read their remaining rows. A walk visits each row that existed when
// it began once: as it is at its turn, or as it was if it was removed. It does not visit new
// rows.

// Walk iterates over a table's rows from a key on, as far as they have a prefix, in key order.
type Walk struct {
	cursor cursor
	apart  bool         // detached from the cursor: the remaining rows are in rest
	rest   []changedRow // as they were
	err    error        // returned after rest
}

// Walk begins a walk. The caller must end it.
func (r *Recorder) Walk(t row.Table, from, prefix []byte) *Walk {
	w := &Walk{cursor: r.cursor(t, prefix)}
	w.cursor.seek(from)
	r.walks = append(r.walks, w)
	return w
}

// End removes a walk from the recorder.
func (w *Walk) End() {
	r := w.cursor.file
	if i := slices.Index(r.walks, w); i >= 0 {
		r.walks = slices.Delete(r.walks, i, i+1)
	}
}

// Each calls fn for the rows of a table whose keys begin with prefix, in key order, until fn
// fails or returns false. fn may change rows meanwhile.
func (r *Recorder) Each(t row.Table, prefix []byte, fn func(key, payload []byte) (more bool, err error)) error {
	return r.EachFrom(t, prefix, prefix, fn)
}

// EachFrom is Each, beginning at a key.
func (r *Recorder) EachFrom(t row.Table, from, prefix []byte, fn func(key, payload []byte) (more bool,
	err error)) error {
	w := r.Walk(t, from, prefix)
	defer w.End()
	return w.Each(fn)
}

// leave makes a walk independent of its cursor, because the table is about to be changed.
func (w *Walk) leave() {
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

// Each calls fn for the remaining rows, until fn fails or returns false.
func (w *Walk) Each(fn func(key, payload []byte) (more bool, err error)) error {
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

// next returns the next row, as it is stored; its key is nil at the end.
func (w *Walk) next() (key, value []byte, err error) {
	if !w.apart {
		return w.cursor.next()
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
