package placer

import (
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
)

// chunk sorts the nodes for a chunk.
func (x *explainer) chunk(kind int) {
	v := x.sift(kind)
	open, groups := x.judgeAll(kind, v)
	view := ChunkView{Chunk: x.Chunks[kind]}
	var fits []*roaring.Bitmap
	for _, nodes := range v.fits {
		fits = append(fits, nodes)
	}
	serving := roaring.FastOr(fits...)
	if !serving.IsEmpty() {
		r := reason(CauseFits)
		r.Until, r.Nodes, r.Chunks = x.Now, serving.ToArray(), v.room(nil)
		view.Reasons = append(view.Reasons, r)
	}
	for _, l := range v.layers {
		if l.Cause == CauseNotUp {
			view.Reasons = append(view.Reasons, x.byState(l.nodes)...)
			continue
		}
		r := l.Reason
		r.Nodes = l.nodes.ToArray()
		view.Reasons = append(view.Reasons, r)
	}
	for _, r := range groups {
		view.Reasons = append(view.Reasons, *r)
	}
	slices.SortStableFunc(view.Reasons, compareReasons)
	view.Buckets = x.buckets(kind, serving)
	v.open = open
	x.sieves = append(x.sieves, *v)
	x.out.Chunks = append(x.out.Chunks, view)
}

// byState splits the nodes that are not up.
func (x *explainer) byState(nodes *roaring.Bitmap) []Reason {
	var out []Reason
	for it := nodes.Iterator(); it.HasNext(); {
		one := x.notUp(it.Next())
		i := slices.IndexFunc(out, func(r Reason) bool { return r.State == one.State })
		if i < 0 {
			out = append(out, one)
			continue
		}
		if out[i].Note != one.Note {
			out[i].Note = "" // their reasons differ
		}
		out[i].Nodes = append(out[i].Nodes, one.Nodes...)
	}
	return out
}

func (x *explainer) notUp(node uint32) Reason {
	r := reason(CauseNotUp)
	r.Nodes = []uint32{node}
	if row := x.row(node); row != nil {
		r.State, r.Note = row.State, row.Reason
	}
	return r
}

// buckets describes the chunk's candidates.
func (x *explainer) buckets(kind int, serving *roaring.Bitmap) []BucketView {
	var out []BucketView
	for _, c := range x.whole[kind] {
		count := func(class index.Class) int {
			return int(within(x.Index.Nodes(c.Bucket, class), c.Cells).GetCardinality())
		}
		b := c.Bucket
		out = append(out, BucketView{b.ID, x.Index.Describe(b), b.Queue, b.Priority, count(index.Free),
			count(index.Later), count(index.Busy),
			int(serving.AndCardinality(x.Index.Nodes(c.Bucket, index.None)))})
	}
	return out
}

// judgeAll finds the nodes that could serve a chunk among those that the sieve has left, and the
// reasons of the others. Idle nodes without rules of their own can serve it. All others are
// examined.
func (x *explainer) judgeAll(kind int, v *sieve) (*roaring.Bitmap, []*Reason) {
	var open []*roaring.Bitmap
	var order []*Reason
	groups := make(map[group]*Reason)
	for i := range x.whole[kind] {
		c := &x.whole[kind][i]
		for _, class := range []index.Class{index.Free, index.Later, index.Busy} {
			if c.Bucket.Count[class] == 0 {
				continue
			}
			nodes := within(roaring.And(v.open, x.Index.Nodes(c.Bucket, class)), c.Cells)
			if class == index.Free {
				nodes = x.idle(kind, v, c, nodes)
			}
			open = append(open, nodes)
			for it := nodes.Iterator(); it.HasNext(); {
				r := x.judge(it.Next(), c.Bucket, class, kind)
				if r.Cause == CauseFits {
					x.keep(v, r)
					continue
				}
				if same := groups[r.group()]; same != nil {
					same.join(r)
					continue
				}
				groups[r.group()] = &r
				order = append(order, &r)
			}
		}
	}
	for _, r := range order {
		slices.Sort(r.Nodes)
	}
	return roaring.FastOr(open...), order
}

// idle adds the free nodes of a candidate that certainly serve the chunk, and returns the others.
func (x *explainer) idle(kind int, v *sieve, c *index.Candidate, nodes *roaring.Bitmap) *roaring.Bitmap {
	certain := roaring.AndNot(nodes, x.ruled)
	if x.Access == index.AccessSingleTask && x.severalPacked() {
		return nodes // none of them takes it
	}
	if len(x.Grants) > 0 {
		certain = roaring.AndNot(certain, x.granting())
	}
	for _, cell := range c.Cells {
		part := certain
		if cell.Nodes != nil {
			part = roaring.And(certain, cell.Nodes)
		}
		if !part.IsEmpty() {
			v.holding(min(x.perNode(cell), x.Chunks[kind].Count)).Or(part)
		}
	}
	return roaring.AndNot(nodes, certain)
}

// keep adds a node that fits.
func (x *explainer) keep(v *sieve, r Reason) {
	v.holding(int(r.Chunks)).AddMany(r.Nodes)
	host := x.spot.host
	if x.Spec.Place.Arrange != Scatter || host == "" {
		return
	}
	if v.hosts[host] == nil {
		v.hosts[host] = roaring.New()
	}
	v.hosts[host].AddMany(r.Nodes)
}

// holding returns the nodes that could each serve per of the chunk.
func (v *sieve) holding(per int) *roaring.Bitmap {
	if v.fits[per] == nil {
		v.fits[per] = roaring.New()
	}
	return v.fits[per]
}

// room returns how many chunks fit on some nodes, or on all if on is nil.
func (v *sieve) room(on *roaring.Bitmap) int64 {
	n := int64(0)
	for per, nodes := range v.fits {
		if on == nil {
			n = index.Plus(n, index.Times(int64(per), int64(nodes.GetCardinality())))
		} else {
			n = index.Plus(n, index.Times(int64(per), int64(nodes.AndCardinality(on))))
		}
	}
	for _, nodes := range v.hosts {
		if on != nil {
			nodes = roaring.And(nodes, on)
		}
		n -= max(0, int64(nodes.GetCardinality())-1)
	}
	return n
}

// nodeReason returns the reason for one node.
func (x *explainer) nodeReason(kind int, node uint32) Reason {
	v := &x.sieves[kind]
	for _, l := range v.layers {
		if !l.nodes.Contains(node) {
			continue
		}
		r := l.Reason
		switch r.Cause {
		case CauseNotUp:
			return x.notUp(node)
		case CauseLacks:
			r.Best, r.None = index.Value{}, true
			if has, ok := x.valueOn(node, r.Want.Res); ok {
				r.Best, r.None = has, false
			}
		}
		r.Nodes = []uint32{node}
		return r
	}
	if v.open.Contains(node) {
		if row := x.row(node); row != nil {
			b := x.Index.Bucket(row.Bucket)
			return x.judge(node, b, x.Index.ClassOf(b, node), kind)
		}
	}
	r := reason(CauseFits)
	r.Nodes, r.Until = []uint32{node}, x.Now
	for per, nodes := range v.fits {
		if nodes.Contains(node) {
			r.Chunks = int64(per)
		}
	}
	return r
}
