package timeline

// A profile is the amount used over [start, end) as a step function. It is the part of a plan
// that knows nothing of totals or spans.
//
// It is a B+ tree of change points by time. For each child, every node holds an amount pending
// for the whole child and the bounds of the amounts used below. So a window is changed or
// checked without looking inside the children that it covers. The tree stores what is used,
// not what is free, so the total is just an argument and can change without touching the tree.
//
// Pending additions in the nodes, and bounds for pruning, come from segment trees. The nodes
// are wide plain arrays because of the cache: sweeping a leaf is faster than following one
// pointer.
type profile struct {
	root   *inner
	height int // of the root; its children are leaves at 0
	start  int64
	end    int64
	stale  staleNodes

	// leafCap and fanout limit leaves and inner nodes. Tests lower them, to get deep trees
	// with few spans.
	leafCap, fanout int
}

func newProfile(start, end int64) *profile {
	l := &leaf{n: 1, end: end}
	l.time[0], l.refs[0] = start, 1
	root := &inner{n: 1}
	root.first[0], root.leaf[0] = start, l
	p := &profile{root: root, start: start, end: end, leafCap: leafCap, fanout: fanout}
	p.stale.leaf(l)
	p.stale.inner(root)
	return p
}

// add raises the amount used in [s, e) by amount, and counts a reference for the change points
// s and e. The window must lie inside the profile.
func (p *profile) add(s, e, amount int64) {
	p.touch(s)
	if e < p.end {
		p.touch(e)
	}
	p.change(s, e, amount)
}

// sub undoes an add.
func (p *profile) sub(s, e, amount int64) {
	if p.subWithin(s, e, amount) {
		return
	}
	p.change(s, e, -amount)
	p.untouch(s)
	if e < p.end {
		p.untouch(e)
	}
}

// change alters the amount used in [s, e) between existing change points.
func (p *profile) change(s, e, delta int64) {
	if delta != 0 {
		p.shift(p.root, p.height, s, e, delta, p.end)
	}
}

// leafAt returns the leaf that covers t and its amount pending.
func (p *profile) leafAt(t int64) (*leaf, int64) {
	nd, pending := p.root, int64(0)
	for h := p.height; h > 0; h-- {
		i := nd.find(t)
		pending += nd.add[i]
		nd = nd.kid[i]
	}
	i := nd.find(t)
	return nd.leaf[i], pending + nd.add[i]
}

// usedAt returns the amount used at t.
func (p *profile) usedAt(t int64) int64 {
	l, pending := p.leafAt(t)
	return l.used[l.find(t)] + pending
}

// touch counts a reference to the change point t, making it if there is none.
func (p *profile) touch(t int64) {
	l, _ := p.leafAt(t)
	i := l.find(t)
	if l.time[i] == t {
		l.refs[i]++
		return
	}
	if l.n == p.leafCap {
		p.split(t)
		p.touch(t)
		return
	}
	l.insert(i+1, t)
}

// untouch gives a reference back and drops the point with its last one.
func (p *profile) untouch(t int64) {
	l, _ := p.leafAt(t)
	l.release(l.find(t))
	if l.n <= p.leafCap/4 {
		p.shrink(t)
	}
}

// shift adds delta to [s, e), which must begin and end at change points, below
// nd, whose coverage ends at end.
func (p *profile) shift(nd *inner, h int, s, e, delta, end int64) {
	i := 0
	if s > nd.first[0] {
		i = nd.find(s)
	}
	for ; i < nd.n && nd.first[i] < e; i++ {
		stop := nd.stop(i, end)
		if s <= nd.first[i] && stop <= e {
			nd.raise(i, i+1, delta)
			continue
		}
		var lo, hi int64
		if h == 0 {
			lo, hi = p.shiftLeaf(nd.leaf[i], s, e, delta, nd.lo[i]-nd.add[i], nd.hi[i]-nd.add[i])
		} else {
			p.shift(nd.kid[i], h-1, s, e, delta, stop)
			lo, hi = nd.kid[i].bounds()
		}
		nd.lo[i], nd.hi[i] = lo+nd.add[i], hi+nd.add[i]
	}
	if h == 0 && p.stale.changed(&nd.runs, delta) {
		p.stale.inner(nd)
	}
}

func (p *profile) shiftLeaf(l *leaf, s, e, delta, lo, hi int64) (int64, int64) {
	i, j := 0, l.n
	if s > l.time[0] {
		i = l.find(s)
	}
	if e < l.end {
		j = l.find(e)
	}
	if p.stale.changed(&l.runs, delta) {
		p.stale.leaf(l)
	}
	return l.shift(i, j, delta, lo, hi)
}
