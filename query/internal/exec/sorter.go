package exec

import (
	"slices"

	"github.com/placectl/placectl/index/heap"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/values"
)

// OrderKey is a term of ORDER BY: a result column by number, or code.
type OrderKey struct {
	Column int // -1 for code
	Code   Code
	Desc   bool
	Nulls  syntax.NullOrder
	Words  string
}

// sorted is a row to be sorted.
type sorted struct {
	keys, row []values.Value
	seq       int
}

// sorter sorts rows. With a limit it keeps no more than that.
type sorter struct {
	keys  []OrderKey
	limit int                // -1 for none
	rows  []sorted           // without a limit as they come, sorted at the end
	kept  *heap.Heap[sorted] // with a limit, the last row on top
	seq   int
}

func newSorter(keys []OrderKey, limit int) *sorter {
	s := &sorter{keys: keys, limit: limit}
	s.kept = heap.New(func(a, b *sorted) bool { return s.compare(a, b) > 0 })
	return s
}

// compare orders rows. Equal ones keep their order.
func (s *sorter) compare(a, b *sorted) int {
	if n := s.compareKeys(a.keys, b.keys); n != 0 {
		return n
	}
	return a.seq - b.seq
}

func (s *sorter) compareKeys(a, b []values.Value) int {
	for i := range s.keys {
		if n := s.keys[i].compare(&a[i], &b[i]); n != 0 {
			return n
		}
	}
	return 0
}

// compare compares two values of the key.
func (k *OrderKey) compare(v, w *values.Value) int {
	if (v.Kind() == values.Null) != (w.Kind() == values.Null) {
		first := k.Nulls == syntax.NullsFirst || k.Nulls == syntax.NullsDefault && !k.Desc
		if (v.Kind() == values.Null) == first {
			return -1
		}
		return 1
	}
	n := values.Compare(*v, *w)
	if k.Desc {
		return -n
	}
	return n
}

// wants reports whether a row with these keys would be kept.
func (s *sorter) wants(keys []values.Value) bool {
	return s.limit < 0 || s.room() || s.limit > 0 && s.compareKeys(keys, s.kept.First().keys) < 0
}

// room reports whether there are fewer rows than the limit.
func (s *sorter) room() bool { return s.kept.Len() < s.limit }

// add keeps a row, and drops the last one if there are too many.
func (s *sorter) add(keys, row []values.Value) {
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

// finish sorts the rows.
func (s *sorter) finish() {
	if s.limit >= 0 {
		s.rows = s.kept.All()
	}
	slices.SortFunc(s.rows, func(a, b sorted) int { return s.compare(&a, &b) })
}
