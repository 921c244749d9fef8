package timeline

// split makes room in the full leaf that covers t. On the way down it splits every full inner
// node, so that there is always room above for one more child. Leaves fill so slowly that this
// costs almost nothing.
func (p *profile) split(t int64) {
	if p.root.n == p.fanout {
		root := &inner{n: 1}
		root.first[0], root.kid[0] = p.start, p.root
		root.lo[0], root.hi[0] = p.root.bounds()
		p.root = root
		p.height++
	}
	nd := p.root
	for h := p.height; h > 0; h-- {
		i := nd.find(t)
		if nd.kid[i].n == p.fanout {
			p.splitInner(nd, i, h-1)
			i = nd.find(t)
		}
		nd = nd.kid[i]
	}
	p.splitLeaf(nd, nd.find(t), t)
}

func (p *profile) splitInner(nd *inner, i, h int) {
	nd.settle(h+1, i)
	r := nd.kid[i].split()
	nd.open(i + 1)
	nd.kid[i+1], nd.first[i+1], nd.add[i+1] = r, r.first[0], 0
	nd.lo[i], nd.hi[i] = nd.kid[i].bounds()
	nd.lo[i+1], nd.hi[i+1] = r.bounds()
	if h == 0 {
		p.stale.inner(nd.kid[i])
		p.stale.inner(r)
	}
}

// splitLeaf halves leaf i of nd, except at the plan's growing end: there a
// split near the end leaves full leaves behind when spans arrive in order.
func (p *profile) splitLeaf(nd *inner, i int, t int64) {
	nd.settle(0, i)
	l := nd.leaf[i]
	at := l.n / 2
	if late := l.n - max(1, l.n/8); l.end == p.end && l.find(t) >= late {
		at = late
	}
	r := l.split(at)
	nd.open(i + 1)
	nd.leaf[i+1], nd.first[i+1], nd.add[i+1] = r, r.time[0], 0
	nd.lo[i], nd.hi[i] = l.bounds()
	nd.lo[i+1], nd.hi[i+1] = r.bounds()
	p.stale.leaf(l)
	p.stale.leaf(r)
}

// shrink joins the sparse leaf that covers t with a neighbour, and sparse
// inner nodes above it with theirs.
func (p *profile) shrink(t int64) {
	p.shrinkBelow(p.root, p.height, t)
	for p.height > 0 && p.root.n == 1 {
		p.root.settle(p.height, 0)
		p.root = p.root.kid[0]
		if p.height == 1 {
			p.stale.inner(p.root)
		}
		p.height--
	}
}

func (p *profile) shrinkBelow(nd *inner, h int, t int64) {
	i := nd.find(t)
	if h > 0 {
		p.shrinkBelow(nd.kid[i], h-1, t)
		if nd.kid[i].n > p.fanout/4 {
			return
		}
	}
	for i+1 < nd.n && p.join(nd, h, i) {
	}
	for ; i > 0 && p.join(nd, h, i-1); i-- {
	}
}

// join merges child i+1 into child i if that leaves room to grow.
func (p *profile) join(nd *inner, h, i int) bool {
	if h == 0 {
		l, r := nd.leaf[i], nd.leaf[i+1]
		if l.n+r.n > p.leafCap*3/4 && !(r.n == 1 && r.refs[0] == 0) {
			return false
		}
		nd.settle(h, i)
		nd.settle(h, i+1)
		l.absorb(r)
		r.runs.stale = false // a queue that has it skips it
		p.stale.leaf(l)
	} else {
		l, r := nd.kid[i], nd.kid[i+1]
		if l.n+r.n > p.fanout*3/4 {
			return false
		}
		nd.settle(h, i)
		nd.settle(h, i+1)
		seam := l.n
		l.move(seam, r, 0, r.n)
		l.n += r.n
		r.runs.stale = false
		if h == 1 {
			p.stale.inner(l)
		}
		p.join(l, h-1, seam-1) // only now are they siblings
	}
	nd.lo[i] = min(nd.lo[i], nd.lo[i+1])
	nd.hi[i] = max(nd.hi[i], nd.hi[i+1])
	nd.shut(i + 1)
	return true
}
