package exec

import (
	"cmp"
	"slices"

	"github.com/placectl/placectl/query/values"
)

// Most windows are in the order of one column of numbers, or of none: partitions are numbered
// by their order first, and what is sorted are numbers alone.

// numbered is a row in such an order.
type numbered[T int64 | float64] struct {
	part, row int32
	key       T
}

// sortNumbers is the rows in the order of a window; not ok where it is another order than that.
func (r *windowRows) sortNumbers(spec *WindowSpec) (order []int, ok bool) {
	if len(spec.Keys) > 1 {
		return nil, false
	}
	kind := values.Integer
	for i, row := range r.rows {
		if len(spec.Keys) == 0 {
			break
		}
		if k := row[spec.Keys[0]].Kind(); i == 0 {
			kind = k
		} else if k != kind {
			return nil, false
		}
	}
	switch kind {
	case values.Integer:
		return sortedBy(r, spec, values.Value.Int64), true
	case values.Real:
		return sortedBy(r, spec, values.Value.Float64), true
	}
	return nil, false
}

func sortedBy[T int64 | float64](r *windowRows, spec *WindowSpec, number func(values.Value) T) []int {
	parts := r.partitions(spec)
	rows := make([]numbered[T], len(r.rows))
	for i := range rows {
		rows[i] = numbered[T]{part: parts[i], row: int32(i)}
		if len(spec.Keys) > 0 {
			rows[i].key = number(r.rows[i][spec.Keys[0]])
		}
	}
	sign := 1
	if len(spec.Order) > 0 && spec.Order[0].Desc {
		sign = -1
	}
	slices.SortFunc(rows, func(a, b numbered[T]) int {
		switch {
		case a.part != b.part:
			return int(a.part - b.part)
		case a.key < b.key:
			return -sign
		case a.key > b.key:
			return sign
		}
		return cmp.Compare(a.row, b.row)
	})
	order := make([]int, len(rows))
	for i := range rows {
		order[i] = int(rows[i].row)
	}
	return order
}

// partitions numbers the rows by their partitions, in the order of those.
func (r *windowRows) partitions(spec *WindowSpec) []int32 {
	of := make([]int32, len(r.rows))
	if len(spec.Partition) == 0 {
		return of
	}
	var index values.Index
	var first []int // of each partition: a row
	key := make([]values.Value, len(spec.Partition))
	for i, row := range r.rows {
		for k, in := range spec.Partition {
			key[k] = r.w.Inputs[in].Collate.Fold(row[in])
		}
		n, fresh := index.Put(key, len(first))
		if fresh {
			first = append(first, i)
		}
		of[i] = int32(n)
	}
	inOrder := make([]int, len(first))
	for i := range inOrder {
		inOrder[i] = i
	}
	slices.SortFunc(inOrder, func(a, b int) int { return r.comparePartition(spec, first[a], first[b]) })
	rank := make([]int32, len(first))
	for at, part := range inOrder {
		rank[part] = int32(at)
	}
	for i := range of {
		of[i] = rank[of[i]]
	}
	return of
}
