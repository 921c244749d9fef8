package placer

import (
	"slices"

	"github.com/placectl/placectl/index"
)

// rooms tells how many chunks nodes have room for. Idle nodes of a bucket have the same room,
// unless they have something of their own that counts.
type rooms struct {
	*seeker
	kind  int  // of chunk
	spot  spot // of the node examined last
	idle  map[*index.Bucket]int
	alike bool // buckets describe idle nodes completely
}

func (s *seeker) roomsFor(kind int) *rooms {
	r := &rooms{seeker: s, kind: kind, idle: make(map[*index.Bucket]int), alike: len(s.Grants) == 0}
	for _, q := range s.quantities {
		r.alike = r.alike && s.Index.Signed(index.ResID(q))
	}
	return r
}

// on returns how many chunks a node has room for.
func (r *rooms) on(f found) int {
	idle := r.alike && (f.class == index.Free || r.empty) && !r.ruled.Contains(f.node)
	if idle {
		if n, known := r.idle[f.bucket]; known {
			r.spot = spot{node: f.node, bucket: f.bucket, class: f.class, level: unreserved, left: r.spot.left[:0]}
			return n
		}
	}
	n := 0
	if r.look(&r.spot, f.node, f.bucket, f.class) {
		if n = r.holds(&r.spot, r.kind, r.Chunks[r.kind].Count); n > 0 && !r.takeHost(&r.spot) {
			n = 0
		}
	}
	if idle {
		r.idle[f.bucket] = n
	}
	return n
}

// most returns how many chunks a node of a bucket could have room for at best.
func (r *rooms) most(b *index.Bucket) int {
	n := r.Chunks[r.kind].Count
	if p := r.Spec.Place.Arrange; p == Scatter || p == VScatter {
		n = 1
	}
	for _, w := range r.Chunks[r.kind].Wants {
		if v, _ := b.Get(w.Res); w.Value.Num > 0 && slices.Contains(r.quantities, uint16(w.Res)) && r.Index.Signed(w.Res) {
			n = min(n, int(min(v.Num/w.Value.Num, index.Unlimited)))
		}
	}
	return n
}
