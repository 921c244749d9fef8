package query

import (
	"slices"

	"github.com/placectl/placectl/index/heap"
)

// orderKey is a term of ORDER BY: a result column by its number, or code.
type orderKey struct {
	column int // -1 for code
	code   code
	desc   bool
	nulls  NullOrder
	coll   Collation
	words  string
}

// sorted is a row that waits for its turn.
type sorted struct {
	keys, row []Value
	seq       int
}

// sorter orders rows; with a limit it keeps no more than that.
type sorter struct {
	keys  []orderKey
	limit int                // -1 for none
	rows  []sorted           // once they are in order; without a limit, as they come
	kept  *heap.Heap[sorted] // with a limit, the last on top
	seq   int
}

func newSorter(keys []orderKey, limit int) *sorter {
	s := &sorter{keys: keys, limit: limit}
	s.kept = heap.New(func(a, b *sorted) bool { return s.compare(a, b) > 0 })
	return s
}

// less orders rows; of equal ones the first stays first.
func (s *sorter) compare(a, b *sorted) int {
	if n := s.compareKeys(a.keys, b.keys); n != 0 {
		return n
	}
	return a.seq - b.seq
}

func (s *sorter) compareKeys(a, b []Value) int {
	for i := range s.keys {
		k := &s.keys[i]
		v, w := &a[i], &b[i]
		if v.kind == Null || w.kind == Null {
			if v.kind == w.kind {
				continue
			}
			first := k.nulls == NullsFirst || k.nulls == NullsDefault && !k.desc
			if (v.kind == Null) == first {
				return -1
			}
			return 1
		}
		n := compareValues(*v, *w, k.coll)
		if n != 0 {
			if k.desc {
				return -n
			}
			return n
		}
	}
	return 0
}

// wants reports whether a row with such keys would be kept.
func (s *sorter) wants(keys []Value) bool {
	return s.limit < 0 || s.room() || s.limit > 0 && s.compareKeys(keys, s.kept.First().keys) < 0
}

// room reports whether there are fewer rows than the limit.
func (s *sorter) room() bool { return s.kept.Len() < s.limit }

// add keeps a row, and lets the last one go where there are too many.
func (s *sorter) add(keys, row []Value) {
	s.seq++
	r := sorted{keys, row, s.seq}
	switch {
	case s.limit < 0:
		s.rows = append(s.rows, r)
	case s.room():
		s.kept.Push(r)
	default:
		*s.kept.First() = r
		s.kept.Fix()
	}
}

// finish puts the rows in order.
func (s *sorter) finish() {
	if s.limit >= 0 {
		s.rows = s.kept.All()
	}
	slices.SortFunc(s.rows, func(a, b sorted) int { return s.compare(&a, &b) })
}
