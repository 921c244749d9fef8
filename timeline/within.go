package timeline

// Most spans of most plans begin and end in the same leaf, among a few points. For these, one
// descent of the tree serves all parts of a change. The general method descends once for each
// part.

// maxHeight is more than the height of any tree that fits in memory.
const maxHeight = 12

// A path leads down to a leaf: it has the node and the child taken at every height, from 0 up
// to the root's.
type path [maxHeight]struct {
	nd *inner
	i  int
}

// descend fills in the path to the leaf that covers t.
func (p *profile) descend(t int64, way *path) (l *leaf, pending int64) {
	nd := p.root
	for h := p.height; ; h-- {
		i := nd.find(t)
		way[h].nd, way[h].i = nd, i
		pending += nd.add[i]
		if h == 0 {
			return nd.leaf[i], pending
		}
		nd = nd.kid[i]
	}
}

// within reports whether a leaf that covers the start of a span also covers its end e.
func (p *profile) within(l *leaf, e int64) bool {
	return e < l.end || e == p.end && l.end == p.end
}

// addFree is add if no more than limit is used anywhere in the window, and reports whether
// that was so.
func (p *profile) addFree(s, e, amount, limit int64) bool {
	var way path
	l, pending := p.descend(s, &way)
	if !p.within(l, e) || l.n+2 > p.leafCap {
		if !fits(p.root, p.height, s, e, limit) {
			return false
		}
		p.add(s, e, amount)
		return true
	}
	limit -= pending
	i := l.find(s)
	j := i
	for ; j < l.n && l.time[j] < e; j++ {
		if l.used[j] > limit {
			return false
		}
	}
	if l.time[i] == s {
		l.refs[i]++
	} else {
		i++
		l.insert(i, s)
		j++
	}
	switch {
	case e == p.end:
	case j < l.n && l.time[j] == e:
		l.refs[j]++
	default:
		l.insert(j, e)
	}
	p.shiftWithin(l, i, j, amount, &way)
	return true
}

// subWithin is sub if the window lies in one leaf, and reports whether that was so.
func (p *profile) subWithin(s, e, amount int64) bool {
	var way path
	l, _ := p.descend(s, &way)
	if !p.within(l, e) {
		return false
	}
	i := l.find(s)
	j := i
	for j < l.n && l.time[j] < e {
		j++
	}
	p.shiftWithin(l, i, j, -amount, &way)
	if e < p.end {
		l.release(j)
	}
	l.release(i)
	if l.n <= p.leafCap/4 {
		p.shrink(s)
	}
	return true
}

// shiftWithin adds delta to points [i, j) of a leaf and corrects the bounds on
// the way up, as far as they change.
func (p *profile) shiftWithin(l *leaf, i, j int, delta int64, way *path) {
	nd, k := way[0].nd, way[0].i
	if p.stale.changed(&l.runs, delta) {
		p.stale.leaf(l)
	}
	if p.stale.changed(&nd.runs, delta) {
		p.stale.inner(nd)
	}
	lo, hi := l.shift(i, j, delta, nd.lo[k]-nd.add[k], nd.hi[k]-nd.add[k])
	for h := 0; ; h++ {
		nd, k := way[h].nd, way[h].i
		lo, hi = lo+nd.add[k], hi+nd.add[k]
		if lo == nd.lo[k] && hi == nd.hi[k] {
			return
		}
		nd.lo[k], nd.hi[k] = lo, hi
		if h == p.height {
			return
		}
		lo, hi = nd.bounds()
	}
}
