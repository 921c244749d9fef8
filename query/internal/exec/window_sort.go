package exec

import (
	"math"
	"slices"

	"github.com/placectl/placectl/query/values"
)

// Most windows are ordered by one column of numbers, or not at all. The numbers are made keys whose bits
// sort in the same order. A radix sort sorts these byte by byte, and the rows are then divided into
// partitions.

// numbered is a row with its key.
type numbered struct {
	key uint64
	row int32
}

// sortNumbers returns the rows in the order of a window, and where its partitions begin; ok is false if
// the order is another one.
func (r *windowRows) sortNumbers(spec *WindowSpec) (order, starts []int, ok bool) {
	if len(spec.Keys) > 1 {
		return nil, nil, false
	}
	rows := make([]numbered, r.n)
	if len(spec.Keys) == 1 && !r.numbers(spec, rows) {
		return nil, nil, false
	}
	for i := range rows {
		rows[i].row = int32(i)
	}
	if len(spec.Keys) == 1 {
		rows = sortedByKey(rows)
	}
	parts, sizes := r.partitions(spec)
	sum := 0
	for _, n := range sizes {
		starts = append(starts, sum)
		sum += n
	}
	order, at := make([]int, r.n), slices.Clone(starts)
	for i := range rows {
		part := parts[rows[i].row]
		order[at[part]] = int(rows[i].row)
		at[part]++
	}
	return order, starts, true
}

// numbers makes the keys; ok is false unless all are integers, or all are reals.
func (r *windowRows) numbers(spec *WindowSpec, rows []numbered) bool {
	kind := values.Null
	desc := spec.Order[0].Desc
	for i := range rows {
		v := &r.row(i)[r.in[spec.Keys[0]]]
		if i == 0 {
			kind = v.Kind()
		}
		var key uint64
		switch {
		case v.Kind() != kind || kind != values.Integer && kind != values.Real:
			return false
		case kind == values.Integer:
			key = uint64(v.Int64()) ^ 1<<63
		default:
			key = math.Float64bits(v.Float64() + 0) // -0 becomes 0
			if key>>63 != 0 {
				key = ^key
			} else {
				key ^= 1 << 63
			}
		}
		if desc {
			key = ^key
		}
		rows[i].key = key
	}
	return true
}

// sortedByKey sorts by keys, and is stable. It goes through the bytes of the keys from the last to the
// first, and skips bytes that are the same in all.
func sortedByKey(rows []numbered) []numbered {
	var counts [8][256]int32
	for i := range rows {
		for b := range counts {
			counts[b][byte(rows[i].key>>(8*b))]++
		}
	}
	other := make([]numbered, len(rows))
	for b := range counts {
		count := &counts[b]
		if len(rows) == 0 || int(count[byte(rows[0].key>>(8*b))]) == len(rows) {
			continue
		}
		sum := int32(0)
		for i, n := range count {
			count[i] = sum
			sum += n
		}
		for i := range rows {
			digit := byte(rows[i].key >> (8 * b))
			other[count[digit]] = rows[i]
			count[digit]++
		}
		rows, other = other, rows
	}
	return rows
}

// partitions numbers the rows by partition, in the order of the partitions, and counts them.
func (r *windowRows) partitions(spec *WindowSpec) (of []int32, sizes []int) {
	of = make([]int32, r.n)
	if len(spec.Partition) == 0 {
		return of, []int{r.n}
	}
	var index values.Index
	var first, counts []int // of each partition: a row, and how many rows
	key := make([]values.Value, len(spec.Partition))
	for i := range of {
		row := r.row(i)
		for k, in := range spec.Partition {
			key[k] = r.w.Inputs[in].Collate.Fold(row[r.in[in]])
		}
		n, fresh := index.Put(key, len(first))
		if fresh {
			first, counts = append(first, i), append(counts, 0)
		}
		of[i] = int32(n)
		counts[n]++
	}
	inOrder := make([]int, len(first))
	for i := range inOrder {
		inOrder[i] = i
	}
	slices.SortFunc(inOrder, func(a, b int) int { return r.comparePartition(spec, first[a], first[b]) })
	rank := make([]int32, len(first))
	for at, part := range inOrder {
		rank[part] = int32(at)
		sizes = append(sizes, counts[part])
	}
	for i := range of {
		of[i] = rank[of[i]]
	}
	return of, sizes
}
