package timeline

import "math"

// fits reports whether no more than limit is used anywhere in [s, e) below nd.
func fits(nd *inner, h int, s, e, limit int64) bool {
	i := 0
	if s > nd.first[0] {
		i = nd.find(s)
	}
	for ; i < nd.n && nd.first[i] < e; i++ {
		if nd.hi[i] <= limit {
			continue
		}
		whole := s <= nd.first[i] && i+1 < nd.n && nd.first[i+1] <= e
		if whole || nd.lo[i] > limit {
			return false
		}
		if h > 0 && !fits(nd.kid[i], h-1, s, e, limit-nd.add[i]) {
			return false
		}
		if h == 0 && nd.leaf[i].peak(s, e) > limit-nd.add[i] {
			return false
		}
	}
	return true
}

// peak returns the greatest amount used in [s, e) below nd.
func peak(nd *inner, h int, s, e int64) int64 {
	i := 0
	if s > nd.first[0] {
		i = nd.find(s)
	}
	most := int64(math.MinInt64)
	for ; i < nd.n && nd.first[i] < e; i++ {
		if nd.hi[i] <= most {
			continue
		}
		switch {
		case s <= nd.first[i] && i+1 < nd.n && nd.first[i+1] <= e:
			most = nd.hi[i]
		case h > 0:
			most = max(most, peak(nd.kid[i], h-1, s, e)+nd.add[i])
		default:
			most = max(most, nd.leaf[i].peak(s, e)+nd.add[i])
		}
	}
	return most
}
