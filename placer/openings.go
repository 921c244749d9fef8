package placer

import (
	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/heap"
	"github.com/placectl/placectl/timeline"
)

// openings tracks, from instant to instant, the nodes given back since the request was last tried
// that stay free for its whole time. Instants at which the returned nodes are soon taken again are
// then cheap to skip.
type openings struct {
	*mapping
	open  *roaring.Bitmap
	shuts *heap.Heap[shutting] // the earliest first
	room  int                  // on the node path: the most chunks that the room given back can hold

	seeker *seeker // on the node path, to look at nodes one by one
	spot   spot
}

// shutting is a node that has opened, and when its next stretch comes too near.
type shutting struct {
	after int64 // the last instant at which the request fits on it
	node  uint32
}

// reset forgets everything, because the request is being tried.
func (o *openings) reset() {
	o.open, o.room = roaring.New(), 0
	o.shuts = heap.New(func(a, b *shutting) bool { return a.after < b.after })
}

func (o *openings) count() int {
	if o.open == nil {
		return 0
	}
	if o.path == NodePath {
		return o.room
	}
	return int(o.open.GetCardinality())
}

// pass moves on to an instant.
func (o *openings) pass(in instant) {
	if o.open == nil {
		return // the request has not been tried yet
	}
	if o.path == NodePath {
		o.passNodes(in)
		return
	}
	for o.shuts.Len() > 0 && o.shuts.First().after < in.at {
		o.open.Remove(o.shuts.Pop().node)
	}
	for _, node := range in.back {
		if !o.serving().Contains(node) || !o.Calendar.FreeThrough(node, in.at, in.at+o.Duration) {
			continue
		}
		o.open.Add(node)
		if next := o.Calendar.NextBusy(node, in.at); next != timeline.Forever {
			o.shuts.Push(shutting{next - o.Duration, node})
		}
	}
}

// passNodes counts how many chunks the nodes given back could hold. A node has no more room until
// more of it is given back. A node on a shared host may have kept the request off its neighbours,
// whatever it could serve itself.
func (o *openings) passNodes(in instant) {
	if o.seeker == nil {
		o.seeker = o.seek(in.at, in.ended, false)
	}
	s, sp := o.seeker, &o.spot
	s.at, s.end = in.at, in.at+o.Duration
	for _, node := range in.back {
		serves := o.serving().Contains(node)
		if !serves && len(o.hosts) == 0 {
			continue
		}
		if !o.ruled.IsEmpty() {
			o.room++ // the node's neighbours may have opened
			continue
		}
		row := o.row(node)
		if row == nil {
			return
		}
		if o.sharingOn(row).host != "" {
			o.room++
			continue
		}
		if b := o.Index.Bucket(row.Bucket); !serves || b == nil || !s.look(sp, node, b, index.Busy) {
			continue
		}
		most := 0
		for kind, c := range o.Chunks {
			most = max(most, s.holds(sp, kind, c.Count))
		}
		o.room += most
	}
}

// serving returns the nodes of all buckets that serve a chunk.
func (m *mapping) serving() *roaring.Bitmap {
	if m.nodes != nil {
		return m.nodes
	}
	seen := make(map[*index.Bucket]bool)
	var parts []*roaring.Bitmap
	lists := m.whole
	if m.path == NodePath {
		for _, on := range m.onHosts {
			lists = append(lists[:len(lists):len(lists)], on.whole...)
		}
	}
	for _, cands := range lists {
		for _, c := range cands {
			if !seen[c.Bucket] {
				seen[c.Bucket] = true
				parts = append(parts, m.Index.Nodes(c.Bucket, index.None))
			}
		}
	}
	m.nodes = roaring.FastOr(parts...)
	return m.nodes
}
