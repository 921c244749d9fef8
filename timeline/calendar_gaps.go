package timeline

import (
	"math"
	"math/bits"
	"slices"
)

// gapSweep is told the gaps of one node after the other, and then says when n of
// the nodes have one open. calendar_search.go has the idea.
type gapSweep struct {
	n        int
	d, after int64

	free   int     // nodes without stretches: free from after on, for good
	ready  int     // other nodes with a gap that is open at after
	opened bool    // the node at hand has had a gap that opens
	firsts []int64 // when the first gap of each node opens that is not ready
	opens  []int64 // when gaps open
	shuts  []int64 // the last start that fits into each gap that shuts
	lasts  []int64 // when gaps open that never shut
}

// node begins the gaps of a node.
func (s *gapSweep) node() { s.opened = false }

// gap takes note that the node is free in [from, to). The gaps of a node come in
// order, from after on.
func (s *gapSweep) gap(from, to int64) {
	if to < math.MinInt64+s.d || to-s.d < from {
		return
	}
	switch {
	case s.opened:
	case from == s.after:
		s.ready++
	default:
		s.firsts = append(s.firsts, from)
	}
	s.opened = true
	s.opens = append(s.opens, from)
	if to < Forever {
		s.shuts = append(s.shuts, to-s.d)
	} else {
		s.lasts = append(s.lasts, from)
	}
}

// enough reports whether the nodes seen so far can start at after.
func (s *gapSweep) enough() bool { return s.free+s.ready >= s.n }

// earliest is the first instant at which enough gaps are open.
func (s *gapSweep) earliest() (int64, bool) {
	need := s.n - s.free
	switch {
	case s.ready >= need:
		return s.after, true
	case s.ready+len(s.firsts) < need:
		return 0, false
	}
	lo, hi := nth(s.firsts, need-s.ready), int64(Forever)
	if len(s.lasts) >= need {
		hi = nth(s.lasts, need)
	}
	if lo == hi {
		return lo, true
	}
	return s.between(lo, hi, need)
}

// between is earliest, known not to be before lo nor after hi.
func (s *gapSweep) between(lo, hi int64, need int) (int64, bool) {
	open := 0
	opens := slices.DeleteFunc(s.opens, func(t int64) bool {
		if t <= lo {
			open++
		}
		return t <= lo || t > hi
	})
	shuts := slices.DeleteFunc(s.shuts, func(t int64) bool {
		if t < lo {
			open--
		}
		return t < lo || t >= hi
	})
	if open >= need {
		return lo, true
	}
	slices.Sort(opens)
	slices.Sort(shuts)
	i := 0
	for _, t := range opens {
		for ; i < len(shuts) && shuts[i] < t; i++ {
			open--
		}
		if open++; open >= need {
			return t, true
		}
	}
	return 0, false
}

// nth is the k-th smallest of a, counted from one; a is reordered. It is Hoare's
// selection, with what equals the pivot kept apart, for many gaps open together.
// Where pivots keep falling badly the rest is sorted.
func nth(a []int64, k int) int64 {
	k--
	for rounds := 2 * bits.Len(uint(len(a))); rounds > 0; rounds-- {
		pivot := middle(a[0], a[len(a)/2], a[len(a)-1])
		below, above := partition(a, pivot)
		switch {
		case k < below:
			a = a[:below]
		case k >= above:
			a, k = a[above:], k-above
		default:
			return pivot
		}
	}
	slices.Sort(a)
	return a[k]
}

// partition moves what is less than the pivot to a[:below], and what is greater
// to a[above:].
func partition(a []int64, pivot int64) (below, above int) {
	above = len(a)
	for i := 0; i < above; {
		switch {
		case a[i] < pivot:
			a[i], a[below] = a[below], a[i]
			below++
			i++
		case a[i] > pivot:
			above--
			a[i], a[above] = a[above], a[i]
		default:
			i++
		}
	}
	return below, above
}

// middle is the median of three.
func middle(a, b, c int64) int64 {
	return max(min(a, b), min(max(a, b), c))
}
