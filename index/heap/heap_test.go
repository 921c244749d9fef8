package heap

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

type value struct{ rank, name int }

func before(a, b *value) bool { return a.rank < b.rank || a.rank == b.rank && a.name < b.name }

// Whatever is done to it, a heap returns its values in order, and reports where each of them
// is.
func TestHeap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []value
		for i, rank := range rapid.SliceOf(rapid.IntRange(0, 9)).Draw(t, "ranks") {
			list = append(list, value{rank, i})
		}
		h := Of(slices.Clone(list), before)
		if rapid.Bool().Draw(t, "one by one") {
			h = New(before)
		}
		at := map[int]int{}
		h.Moved = func(x *value, i int) { at[x.name] = i }
		for i := range list {
			if h.Len() < len(list) {
				h.Push(list[i])
			}
		}
		for range rapid.IntRange(0, len(list)).Draw(t, "changes") {
			i := rapid.IntRange(0, len(list)-1).Draw(t, "which")
			if at, ok := at[list[i].name]; ok && h.All()[at].name != list[i].name {
				t.Fatalf("value %v is said to lie at %d, where %v does", list[i], at, h.All()[at])
			} else if ok {
				list[i].rank += rapid.IntRange(-5, 5).Draw(t, "by")
				h.Set(at, list[i])
			}
			first := h.First()
			k := slices.IndexFunc(list, func(v value) bool { return v.name == first.name })
			list[k].rank += rapid.IntRange(0, 5).Draw(t, "later")
			*first = list[k]
			h.Fix()
			if last, ok := at[list[len(list)-1].name]; ok && len(list) > 1 && rapid.Bool().Draw(t, "remove") {
				h.Remove(last)
				list = list[:len(list)-1]
			}
		}
		slices.SortFunc(list, func(a, b value) int { return cmp.Or(a.rank-b.rank, a.name-b.name) })
		for _, want := range list {
			if got := h.Pop(); got != want {
				t.Fatalf("%v, want %v", got, want)
			}
		}
		if h.Len() != 0 {
			t.Errorf("%d values are left", h.Len())
		}
	})
}
