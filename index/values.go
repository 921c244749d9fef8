package index

import (
	"slices"
)

// valueLists keep, for each family and resource, the values whose bitmaps were
// made in memory: what a scan has to weave into what its Source lists.
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

// from lists the values at or above the key's.
func (v valueLists) from(k BitsKey) []string {
	list := v[BitsKey{Family: k.Family, ID: k.ID}]
	i, _ := slices.BinarySearch(list, k.Value)
	return list[i:]
}
