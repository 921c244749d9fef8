package index

import (
	"slices"
)

// valueLists keeps, by family and resource, the values whose bitmaps were made in memory. A
// scan merges them with what its Source lists.
type valueLists map[BitsKey][]string

func (v valueLists) add(k BitsKey) {
	head := BitsKey{Family: k.Family, ID: k.ID}
	list := v[head]
	if n := len(list); n == 0 || list[n-1] < k.Value {
		v[head] = append(list, k.Value)
		return
	}
	if i, ok := slices.BinarySearch(list, k.Value); !ok {
		v[head] = slices.Insert(list, i, k.Value)
	}
}

// from returns the values that are at least the key's.
func (v valueLists) from(k BitsKey) []string {
	list := v[BitsKey{Family: k.Family, ID: k.ID}]
	i, _ := slices.BinarySearch(list, k.Value)
	return list[i:]
}
