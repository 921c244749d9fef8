package check

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/placectl/placectl/internal/row"
)

// jobLists holds jobs by the beginning of the keys in a table that lists them. They are
// bitmaps, because millions of jobs may have ended.
type jobLists map[string]*roaring64.Bitmap

func (s jobLists) add(prefix []byte, id uint64) {
	ids := s[string(prefix)]
	if ids == nil {
		ids = roaring64.New()
		s[string(prefix)] = ids
	}
	ids.Add(id)
}

// each calls fn for the keys of the table, in their order.
func (s jobLists) each(fn func(key []byte) error) error {
	for _, prefix := range slices.Sorted(maps.Keys(s)) {
		for ids := s[prefix].Iterator(); ids.HasNext(); {
			if err := fn(binary.BigEndian.AppendUint64([]byte(prefix), ids.Next())); err != nil {
				return err
			}
		}
	}
	return nil
}

// compareLists reports how the table differs from what it should hold.
func (d *recomputed) compareLists(t row.Table) error {
	missing := make(jobLists)
	for prefix, ids := range d.lists[t] {
		missing[prefix] = ids.Clone()
	}
	err := d.store.Rows.Each(t, nil, func(key, payload []byte) (bool, error) {
		var ids *roaring64.Bitmap
		at := max(0, len(key)-8)
		if at > 0 {
			ids = missing[string(key[:at])]
		}
		switch {
		case ids == nil || !ids.CheckedRemove(binary.BigEndian.Uint64(key[at:])):
			d.Find("table %s has %x, which should not be there", t, key)
		case string(payload) != string(row.EncodeMark()):
			d.Find("table %s: %x is not what the rows say", t, key)
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	return missing.each(func(key []byte) error {
		d.Find("table %s lacks %x", t, key)
		return nil
	})
}

// follow notes the rows that follow from a row, as declared.
func follow[T any](d *recomputed, of *row.Stored[T], v *T) { of.Keys(v, d.mark) }

// tally counts a row where it is declared to count.
func tally[T any](d *recomputed, of *row.Stored[T], v *T, payload []byte) {
	for i := range of.Counts {
		c := &of.Counts[i]
		if d.tallied[c.Table] == nil {
			d.tallied[c.Table] = make(map[string]uint64)
		}
		if key := c.Key(nil, v, payload); len(key) > 0 {
			d.tallied[c.Table][string(key)]++
		}
	}
}

// mark notes that a table should hold a row. Tables with millions of rows are kept as bitmaps
// and lists.
func (d *recomputed) mark(t row.Table, key, value []byte) {
	switch at := len(key) - 8; {
	case d.lists[t] != nil:
		d.lists[t].add(key[:at], row.Number64(key[at:]))
	case t == row.Ended:
		d.ended = append(d.ended, endedKey(key))
	default:
		d.rows[t][string(key)] = value
	}
}

// counts writes down the counts.
func (d *recomputed) counts() {
	for t, counted := range d.tallied {
		for key, n := range counted {
			d.rows[t][key] = row.EncodeCount(n)
		}
	}
}
