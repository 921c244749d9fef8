package placer

import (
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
)

// sieve is the nodes of the cluster, sorted for a chunk.
type sieve struct {
	layers []layer                    // sorted by bitmaps
	open   *roaring.Bitmap            // examined one by one
	fits   map[int]*roaring.Bitmap    // nodes that could serve the chunk, by how many of it
	hosts  map[string]*roaring.Bitmap // of these, the nodes of each host that takes only one chunk
}

type layer struct {
	nodes *roaring.Bitmap
	Reason
}

// sift removes, layer by layer, the nodes that bitmaps rule out for a chunk.
func (x *explainer) sift(kind int) *sieve {
	v := &sieve{fits: make(map[int]*roaring.Bitmap), hosts: make(map[string]*roaring.Bitmap)}
	rest := x.all
	cut := func(keep *roaring.Bitmap, why Reason) {
		if out := roaring.AndNot(rest, keep); !out.IsEmpty() {
			v.layers = append(v.layers, layer{out, why})
			rest = roaring.And(rest, keep)
		}
	}
	cut(x.up, reason(CauseNotUp))
	for _, q := range x.otherQueues() {
		why := reason(CauseQueue)
		why.Queue = q.queue
		cut(roaring.AndNot(rest, q.nodes), why)
	}
	wants, named := x.named(x.Chunks[kind].Wants)
	for i, w := range wants {
		had := rest
		cut(x.nodesOf(x.Index.Candidates(x.Queue, wants[:i+1])), reason(CauseLacks))
		if rest != had {
			x.lacking(&v.layers[len(v.layers)-1], w)
		}
	}
	if named != nil {
		cut(named, reason(CauseNotNamed))
	}
	if len(x.sets) > 0 && !x.maySpan(x.Now) {
		var sets []*roaring.Bitmap
		for _, sm := range x.sets {
			sets = append(sets, x.nodesOf(sm.cands[kind]))
		}
		cut(roaring.FastOr(sets...), reason(CauseSet))
	}
	if x.insists {
		why := reason(CauseReservation)
		why.Owner = x.Grants[slices.IndexFunc(x.Grants, func(g Grant) bool { return g.Affinity == Required })].Owner
		cut(x.granting(), why)
		if why.Limit = x.longest(); why.Limit < x.Duration {
			cut(roaring.New(), why)
		}
	}
	v.open = rest
	return v
}

// queueNodes are the nodes of a queue.
type queueNodes struct {
	queue string
	nodes *roaring.Bitmap
}

// otherQueues returns the queues whose nodes the request may not use.
func (x *explainer) otherQueues() []queueNodes {
	parts := make(map[string][]*roaring.Bitmap)
	var names []string
	for _, b := range x.Index.Buckets() {
		if b.Queue != x.Queue {
			if parts[b.Queue] == nil {
				names = append(names, b.Queue)
			}
			parts[b.Queue] = append(parts[b.Queue], x.Index.Nodes(b, index.None))
		}
	}
	slices.Sort(names)
	out := make([]queueNodes, len(names))
	for i, name := range names {
		out[i] = queueNodes{name, roaring.FastOr(parts[name]...)}
	}
	return out
}

// nodesOf returns the nodes of candidates, including those that are not up.
func (x *explainer) nodesOf(cands []index.Candidate) *roaring.Bitmap {
	var parts []*roaring.Bitmap
	for i := range cands {
		parts = append(parts, within(x.Index.Nodes(cands[i].Bucket, index.None), cands[i].Cells))
	}
	return roaring.FastOr(parts...)
}

// looked limits how many rows are read to learn which values nodes have. Values that a bucket's
// signature holds cost no row.
const looked = 10_000

// lacking describes what nodes lack that do not meet a want, and what they have instead.
func (x *explainer) lacking(l *layer, w Want) {
	def, _ := x.Index.Defs().Get(w.Res)
	l.Want, l.None = w, true
	words := make(map[string]int)
	note := func(v index.Value, nodes int) {
		l.None = false
		if def.Type.Numeric() {
			l.Best.Num = max(l.Best.Num, v.Num)
			return
		}
		words[v.Str] += nodes
		if n, most := words[v.Str], words[l.Best.Str]; n > most || n == most && v.Str < l.Best.Str || l.Best.Str == "" {
			l.Best.Str = v.Str
		}
	}
	rows := 0
	for _, b := range x.Index.Buckets() {
		nodes := roaring.And(l.nodes, x.Index.Nodes(b, index.None))
		if x.Index.Signed(w.Res) {
			if v, ok := b.Get(w.Res); ok && !nodes.IsEmpty() {
				note(v, int(nodes.GetCardinality()))
			}
			continue
		}
		for it := roaring.And(nodes, x.ranked).Iterator(); it.HasNext() && rows < looked; rows++ {
			if v, ok := x.valueOn(it.Next(), w.Res); ok {
				note(v, 1)
			}
		}
	}
}

// valueOn returns a resource's value in a node's row.
func (x *explainer) valueOn(node uint32, id index.ResID) (index.Value, bool) {
	row := x.row(node)
	if row == nil || id == index.Feature {
		return index.Value{}, false
	}
	return row.Get(id)
}

// longest returns the longest time, in seconds, that a request may spend in one of the reservations
// that it insists on.
func (x *explainer) longest() int64 {
	longest := int64(0)
	for i := range x.Grants {
		g := &x.Grants[i]
		switch length := g.End - g.Start; {
		case g.Affinity != Required:
		case g.Limit > 0:
			longest = max(longest, min(length, g.Limit))
		default:
			longest = max(longest, length)
		}
	}
	return longest
}
