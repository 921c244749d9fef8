package tables

import (
	"iter"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/query/values"
)

// IndexedMemory is a table in memory with an index of some of its columns: it splits, finds and looks up
// by any of them.
type IndexedMemory struct {
	Memory
	By map[int]bool // the indexed columns
}

// All returns all rows.
func (m *IndexedMemory) All() *roaring.Bitmap {
	all := roaring.New()
	all.AddRange(0, uint64(len(m.Rows)))
	return all
}

// Split groups the rows by their values in the columns.
func (m *IndexedMemory) Split(columns []int) (iter.Seq2[Row, *roaring.Bitmap], bool) {
	var parts values.Index
	var first []Row
	var sets []*roaring.Bitmap
	key := make([]values.Value, len(columns))
	for at, row := range m.Rows {
		for i, col := range columns {
			if key[i] = row[col]; !m.By[col] {
				return nil, false
			}
		}
		part, fresh := parts.Put(append(key, values.Value{}), len(sets))
		if fresh {
			first, sets = append(first, RowValues(row)), append(sets, roaring.New())
		}
		sets[part].Add(uint32(at))
	}
	return func(yield func(Row, *roaring.Bitmap) bool) {
		for i := range sets {
			if !yield(first[i], sets[i]) {
				return
			}
		}
	}, true
}

// Find finds rows by a column.
func (m *IndexedMemory) Find(f Find) (*roaring.Bitmap, bool) {
	if !m.By[f.Column] {
		return nil, false
	}
	out := roaring.New()
	for at, row := range m.Rows {
		v := row[f.Column]
		hit := false
		switch f.Op {
		case FindEqual:
			hit = v.Kind() != values.Null && values.Same(v, f.Value)
		case FindPrefix:
			hit = v.Kind() != values.Null && strings.HasPrefix(v.String(), f.Value.Text())
		case FindHas:
			hit = v.Kind() != values.Null && values.HasWord(v.String(), f.Value.Text())
		}
		if hit {
			out.Add(uint32(at))
		}
	}
	return out, true
}

// Lookup finds the rows with a value.
func (m *IndexedMemory) Lookup(column int, v values.Value) (Cursor, bool) {
	rows, ok := m.Find(Find{Column: column, Value: v})
	if !ok {
		return nil, false
	}
	return m.Scan(rows), true
}
