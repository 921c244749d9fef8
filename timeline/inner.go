package timeline

// fanout is the most children of an inner node.
const fanout = 64

// An inner node has leaves (at height 0) or inner nodes below it. For child i, first[i] is
// where its coverage begins. add[i] is pending for everything below it. lo[i] and hi[i] bound
// the amounts below it, including add[i]. All are relative to the amounts pending further up.
type inner struct {
	n     int
	first [fanout]int64
	add   [fanout]int64
	lo    [fanout]int64
	hi    [fanout]int64
	leaf  [fanout]*leaf  // at height 0
	kid   [fanout]*inner // above
	runs  runs           // at height 0
}

func (nd *inner) find(t int64) int { return find(nd.first[:nd.n], t) }

// bounds returns the least and the greatest amount below the node.
func (nd *inner) bounds() (lo, hi int64) {
	lo, _ = bounds(nd.lo[:nd.n])
	_, hi = bounds(nd.hi[:nd.n])
	return lo, hi
}

// stop returns where the coverage of child i ends; end is where the node's own ends.
func (nd *inner) stop(i int, end int64) int64 {
	if i+1 < nd.n {
		return nd.first[i+1]
	}
	return end
}

// open makes room for a child at i.
func (nd *inner) open(i int) {
	nd.move(i+1, nd, i, nd.n)
	nd.n++
}

// shut closes the gap of the child at i.
func (nd *inner) shut(i int) {
	nd.move(i, nd, i+1, nd.n)
	nd.n--
	nd.leaf[nd.n], nd.kid[nd.n] = nil, nil
}

// move copies children [i, j) of from to position to.
func (nd *inner) move(to int, from *inner, i, j int) {
	copy(nd.first[to:], from.first[i:j])
	copy(nd.add[to:], from.add[i:j])
	copy(nd.lo[to:], from.lo[i:j])
	copy(nd.hi[to:], from.hi[i:j])
	copy(nd.leaf[to:], from.leaf[i:j])
	copy(nd.kid[to:], from.kid[i:j])
}

// raise adds delta to everything below children [i, j).
func (nd *inner) raise(i, j int, delta int64) {
	for k := i; k < j; k++ {
		nd.add[k] += delta
		nd.lo[k] += delta
		nd.hi[k] += delta
	}
}

// split moves the upper half of the children into a new node.
func (nd *inner) split() *inner {
	half := nd.n / 2
	r := &inner{n: nd.n - half}
	r.move(0, nd, half, nd.n)
	nd.n = half
	clear(nd.leaf[half:])
	clear(nd.kid[half:])
	return r
}

// settle hands the amount pending for child i down to it. Nodes that change their coverage
// must be settled. Otherwise a span added to a whole node could later be removed from a part
// of it, and the pending amount would drift with each such round until it overflows. See
// MaxTotal.
func (nd *inner) settle(h, i int) {
	delta := nd.add[i]
	nd.add[i] = 0
	if h > 0 {
		nd.kid[i].raise(0, nd.kid[i].n, delta)
		return
	}
	l := nd.leaf[i]
	for k := range l.n {
		l.used[k] += delta
	}
}
