package timeline

import (
	"math"
	"math/bits"
	"slices"
)

// gapSweep receives the gaps of one node after the other, and then finds when n of the nodes
// have an open one. calendar_search.go explains the idea.
type gapSweep struct {
	n        int
	d, after int64

	free   int     // nodes without stretches: free from after on, for good
	ready  int     // other nodes with a gap that is open at after
	opened bool    // the current node has had a gap that opens
	firsts []int64 // for each node that is not ready: when its first gap opens
	opens  []int64 // when gaps open
	shuts  []int64 // the last start that fits into each gap that shuts
	lasts  []int64 // when gaps that never shut open
}

// node begins the gaps of a node.
func (s *gapSweep) node() { s.opened = false }

// gap records that the node is free in [from, to). The gaps of a node come in order, from
// after on.
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

// earliest returns the first instant at which enough gaps are open.
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

// between is earliest for a result known to be in [lo, hi].
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

// nth returns the k-th smallest element of a, counted from one, and reorders a. It is Hoare's
// selection. Elements equal to the pivot are kept apart, because many gaps open together. If
// pivots keep falling badly, it sorts the rest.
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

// partition moves elements less than the pivot to a[:below], and greater ones to a[above:].
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

// middle returns the median of three.
func middle(a, b, c int64) int64 {
	return max(min(a, b), min(max(a, b), c))
}
