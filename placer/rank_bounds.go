package placer

import (
	"iter"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/heap"
)

// A policy that depends on what is left of nodes need not examine all of them for a start now. The
// index holds how much shared nodes have left at most, which bounds the best possible score of
// each. Nodes are grouped by that bound, and examined only if no better group is left. Plans, and
// rounding in the index, can only make a node score worse than its group. So the order is the same
// as if all had been scored.

// scoreGroup is nodes of a bucket with the same best possible score.
type scoreGroup struct {
	class index.Class
	left  []int64 // of each quantity that bounds use, at most
	parts int     // how many of the quantities that count they were split by
	nodes *roaring.Bitmap
	rest  roaring.IntPeekable // nodes not examined yet
}

// byBounds returns the order of a policy by the bounds of scores, or nil if there are no bounds.
func (s *seeker) byBounds(cands [][]index.Candidate) ordered {
	if s.at > s.Now || s.ended != nil || s.empty || s.swept != nil {
		return nil
	}
	by := s.quantities
	switch s.policy {
	case Tetris:
	case CPULoad:
		by = []uint16{uint16(index.NCPUs)}
	default:
		return nil
	}
	if slices.ContainsFunc(by, func(q uint16) bool { return !s.Index.Signed(index.ResID(q)) }) {
		return nil
	}
	return func(kind int) iter.Seq[*spot] {
		b := bounded{seeker: s, kind: kind, by: by}
		for i, q := range by {
			wanted := func(w Want) bool { return uint16(w.Res) == q && w.Value.Num > 0 }
			if s.policy == CPULoad || slices.ContainsFunc(s.Chunks[kind].Wants, wanted) {
				b.counts = append(b.counts, i)
			}
		}
		return b.spots(cands[kind])
	}
}

// bounded ranks the nodes for a chunk under such a policy.
type bounded struct {
	*seeker
	kind   int
	by     []uint16 // the quantities that bounds use
	counts []int    // the counts that matter for this chunk
	score  scorer
	spot   spot
	queue  *heap.Heap[entry]
}

// spots yields the nodes in order, the best first.
func (b *bounded) spots(cands []index.Candidate) iter.Seq[*spot] {
	return func(yield func(*spot) bool) {
		b.score, _ = b.scorer(b.kind)
		b.queue = heap.New((*entry).before)
		for i := range cands {
			b.begin(&cands[i])
		}
		for b.queue.Len() > 0 {
			top := b.queue.First()
			switch h := top.hope; {
			case h == nil:
				if sp := b.spotAt(top.node, top.bucket, top.class); sp != nil && !yield(sp) {
					return
				}
				b.next()
			case h.parts < len(b.counts):
				bucket := top.bucket
				b.queue.Pop()
				b.part(bucket, h)
			default:
				e := entry{node: top.node, class: h.class, bucket: top.bucket}
				b.next()
				b.looked(e)
			}
		}
	}
}

// next advances to the node after the first of the queue.
func (b *bounded) next() {
	top := b.queue.First()
	rest := top.rest
	if top.hope != nil {
		rest = top.hope.rest
	}
	if rest != nil && rest.HasNext() {
		top.node = rest.Next()
		b.queue.Fix()
		return
	}
	b.queue.Pop()
}

// looked puts an examined node into the queue with its score.
func (b *bounded) looked(e entry) {
	if b.look(&b.spot, e.node, e.bucket, e.class) && b.holds(&b.spot, b.kind, 1) > 0 {
		e.level = b.spot.level
		e.score, e.ties = b.score(&b.spot)
		b.queue.Push(e)
	}
}

// begin puts the nodes of a bucket into the queue.
func (b *bounded) begin(c *index.Candidate) {
	full := make([]int64, len(b.by))
	for i, q := range b.by {
		v, _ := c.Bucket.Get(index.ResID(q))
		full[i] = v.Num
	}
	for _, class := range [...]index.Class{index.Free, index.Later, index.Busy} {
		nodes := b.nodes(b.kind, c, class)
		if nodes == nil {
			continue
		}
		h := &scoreGroup{class: class, left: full, parts: len(b.counts), nodes: nodes}
		switch class {
		case index.Busy:
			h.parts = 0
		case index.Free:
			alike := roaring.AndNot(nodes, b.ruled)
			if b.policy == CPULoad {
				alike.AndNot(b.ranked)
			}
			h.nodes = roaring.AndNot(nodes, alike)
			if it := alike.Iterator(); it.HasNext() {
				b.looked(entry{node: it.Next(), class: class, bucket: c.Bucket, rest: it})
			}
		}
		b.hope(c.Bucket, h)
	}
}

// hope puts nodes into the queue with their best possible score.
func (b *bounded) hope(bucket *index.Bucket, h *scoreGroup) {
	if h.nodes.IsEmpty() {
		return
	}
	h.rest = h.nodes.Iterator()
	b.queue.Push(entry{node: h.rest.Next(), class: h.class, level: unreserved, bucket: bucket,
		score: b.best(bucket, h.left), hope: h})
}

// best returns the best possible score of a bucket's node with at most the given amounts left.
func (b *bounded) best(bucket *index.Bucket, left []int64) float64 {
	if b.policy == CPULoad {
		return -float64(left[0])
	}
	score, _ := b.score(&spot{node: index.NoNode, bucket: bucket, left: left})
	return score
}

// part splits nodes by how much of a quantity they have left.
func (b *bounded) part(bucket *index.Bucket, h *scoreGroup) {
	rest, which := h.nodes.Clone(), b.counts[h.parts]
	push := func(most int64, nodes *roaring.Bitmap) {
		left := slices.Clone(h.left)
		left[which] = min(left[which], most)
		b.hope(bucket, &scoreGroup{class: h.class, left: left, parts: h.parts + 1, nodes: nodes})
	}
	for most, nodes := range b.Index.Rooms(index.ResID(b.by[which])) {
		part := roaring.And(rest, nodes)
		rest.AndNot(part)
		push(most, part)
	}
	push(0, rest)
}
