package placer

import (
	"cmp"
	"iter"
	"math"
	"slices"
)

// speed is what nodes are balanced by: the speed of their processors, else their
// own.
func (s *seeker) speed(sp *spot) float64 {
	row := s.traitsOf(sp)
	switch {
	case row == nil:
		return 1
	case row.ProcSpeed != 0:
		return row.ProcSpeed
	case row.Speed != 0:
		return row.Speed
	}
	return 1
}

// balanced are the spans of speed that hold the request, the smallest first. For
// each slowest speed the narrowest span is enough.
func (s *seeker) balanced(members []member) iter.Seq[[]member] {
	speeds := make([]float64, len(members))
	for i := range members {
		speeds[i] = members[i].speed
	}
	distinct := slices.Clone(speeds)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	sums := make([][]int, len(distinct))
	first := make([]int, len(distinct))
	for i := range sums {
		sums[i], first[i] = make([]int, len(s.Chunks)), math.MaxInt
	}
	for i := range members {
		d, _ := slices.BinarySearch(distinct, speeds[i])
		first[d] = min(first[d], i)
		for k, n := range members[i].per {
			sums[d][k] += n
		}
	}
	type span struct {
		lo, hi float64
		first  int
	}
	var spans []span
	held, hi := make([]int, len(s.Chunks)), 0
	short := func() bool {
		return slices.ContainsFunc(indices(len(held)), func(k int) bool { return held[k] < s.Chunks[k].Count })
	}
	for lo := range distinct {
		for hi < len(distinct) && short() {
			for k, n := range sums[hi] {
				held[k] += n
			}
			hi++
		}
		if short() {
			break
		}
		spans = append(spans, span{distinct[lo], distinct[hi-1], slices.Min(first[lo:hi])})
		for k, n := range sums[lo] {
			held[k] -= n
		}
	}
	width := func(s span) float64 { return math.Round((s.hi - s.lo) * 1e6) } // 2.8-2.6 is no less than 2.6-2.4
	slices.SortStableFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(width(a), width(b)), cmp.Compare(a.first, b.first))
	})
	return func(yield func([]member) bool) {
		for _, sp := range spans[:min(len(spans), maxParts)] {
			var part []member
			for i := range members {
				if speeds[i] >= sp.lo && speeds[i] <= sp.hi {
					part = append(part, members[i])
				}
			}
			if !yield(part) {
				return
			}
		}
		yield(members)
	}
}
