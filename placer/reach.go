package placer

import (
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/timeline"
)

// Buckets lists the buckets whose nodes a request could use. Where nodes of others
// matter as well, because it takes the mates of its nodes along or some nodes have
// rules of their own about them, beyond is true.
func (s *Snapshot) Buckets(a Ask) (list []*index.Bucket, beyond bool) {
	beyond = a.Spec.Place.Share == ExclHost || !s.Index.MarkedNodes(index.Ruled).IsEmpty()
	byName := func(w Want) bool { return w.Res == index.Host || w.Res == index.VNode }
	seen := make(map[*index.Bucket]bool)
	for _, c := range a.Chunks {
		wants := c.Wants
		if slices.ContainsFunc(wants, byName) {
			wants = slices.DeleteFunc(slices.Clone(wants), byName)
		}
		for _, c := range s.Index.Candidates(a.Queue, wants) {
			if !seen[c.Bucket] {
				seen[c.Bucket] = true
				list = append(list, c.Bucket)
			}
		}
	}
	return list, beyond
}

// FirstRoom is the first start, from an instant on and before another, at which one
// of some nodes has room for a chunk of a request that is for chunks of one kind; the
// other instant when there is none. What owner has of them, as in the calendar, does not
// count. A request that is refused as a whole may find room at once.
func (s *Snapshot) FirstRoom(a Ask, owner uint64, nodes *roaring.Bitmap, from, to int64) (int64, error) {
	var m mapping
	if err := m.prepare(s, a); err != nil {
		return from, s.orFailure(nil)
	}
	h := holder{mapping: &m, guest: Guest{Grants: m.Grants, Owner: owner}}
	if m.path == NodePath {
		h.seeker = m.seek(from, nil, false)
		h.seeker.guest = h.guest
	}
	first, serving := to, m.serving()
	var rooms []timeline.Room
	if s.Calendar.Tried >= patience && m.sweeps() {
		rooms = m.rooms()
	}
	for it := nodes.Iterator(); it.HasNext() && first > from; {
		node := it.Next()
		if !serving.Contains(node) {
			continue
		}
		if at, known := s.Calendar.FirstRoom(rooms, node, owner, m.Duration, from, first); known {
			first = at
			continue
		}
		if h.holds(node, from) {
			first = from
		}
		for _, b := range s.Calendar.At(node) {
			if t := s.Calendar.End(b); t > from && t < first && h.holds(node, t) {
				first = t
			}
		}
	}
	return first, s.orFailure(nil)
}

// holder looks at nodes one by one.
type holder struct {
	*mapping
	guest  Guest
	seeker *seeker // nil on the bucket path
	spot   spot
}

// holds reports whether a node has room for a chunk from an instant on.
func (h *holder) holds(node uint32, at int64) bool {
	if h.seeker == nil {
		return h.Calendar.Taken(node, at, at+h.Duration, &h.guest, nil, nil) == timeline.Idle
	}
	row := h.row(node)
	if row == nil {
		return true
	}
	b := h.Index.Bucket(row.Bucket)
	h.seeker.at, h.seeker.end = at, at+h.Duration
	return b == nil || h.seeker.look(&h.spot, node, b, index.Busy) && h.seeker.holds(&h.spot, 0, 1) > 0
}
