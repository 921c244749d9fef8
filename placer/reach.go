package placer

import (
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/timeline"
)

// Buckets lists the buckets whose nodes a request could use. beyond is true if nodes of other
// buckets matter too: it takes neighbours of its nodes along, or some nodes have rules of their own
// about neighbours.
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

// Sooner returns an instant in [from, to] before which a request for chunks of one kind cannot
// start: to if it cannot start before to. Anything of own counts as given back. A non-nil freed
// says that room was made only on those nodes, and that without it the request could not start
// sooner. A request that is refused as a whole may start at once, so the result is then from.
func (s *Snapshot) Sooner(a Ask, own timeline.Own, freed *roaring.Bitmap, from, to int64) (int64, error) {
	var m mapping
	if err := m.prepare(s, a); err != nil {
		return from, s.orFailure(nil)
	}
	first := from
	if m.sweeps() {
		rooms, known, n := m.rooms(), true, int64(m.Chunks[0].Count)
		if freed != nil { // one of the chunks must be on these nodes
			first, known = s.Calendar.RoomBefore(rooms, freed, own, 1, m.Duration, from, to)
		}
		if known && first < to && (freed == nil || n > 1) && (s.Calendar.Stepped() || m.sweepPays(n)) {
			if at, told := s.Calendar.RoomBefore(rooms, nil, own, n, m.Duration, first, to); told {
				first = at
			}
		}
		if known || freed == nil {
			return first, s.orFailure(nil)
		}
	}
	if freed != nil {
		first = m.firstOn(freed, own.Owner, from, to)
	}
	return first, s.orFailure(nil)
}

// sweepPays reports whether the first sweep at an instant costs less than planning n chunks again, for
// nothing.
func (m *mapping) sweepPays(n int64) bool {
	return int64(m.serving().GetCardinality()) <= nodesAnInstant*max(patience, n)
}

// firstOn returns the first instant, from from on and before to, at which one of some nodes has
// room for a chunk; to if there is none. Whatever owner has there does not count. It examines the
// nodes one by one.
func (m *mapping) firstOn(nodes *roaring.Bitmap, owner uint64, from, to int64) int64 {
	h := holder{mapping: m, guest: Guest{Grants: m.Grants, Owner: owner}}
	if m.path == NodePath {
		h.seeker = m.seek(from, nil, false)
		h.seeker.guest = h.guest
	}
	serving := m.serving()
	for it := nodes.Iterator(); it.HasNext() && to > from; {
		if node := it.Next(); serving.Contains(node) {
			to = h.first(node, from, to)
		}
	}
	return to
}

// holder examines nodes one by one.
type holder struct {
	*mapping
	guest  Guest
	seeker *seeker // nil on the bucket path
	spot   spot
}

// first returns the first instant, from from on and before to, at which a node has room for a
// chunk; to if there is none.
func (h *holder) first(node uint32, from, to int64) int64 {
	after := from
	if g := h.gap(node); g != nil {
		if after = h.Calendar.FirstGap(node, g, from, to); after >= to {
			return to
		}
	}
	if h.holds(node, after) {
		return after
	}
	for _, b := range h.Calendar.At(node) {
		if t := h.Calendar.End(b); t > after && t < to && h.holds(node, t) {
			to = t
		}
	}
	return to
}

// gap returns the least that a chunk needs of a node. It is nil if unknown: with reservations in
// the way, the need depends on the holders.
func (h *holder) gap(node uint32) *timeline.Gap {
	claim := func(b timeline.Busy) bool { return b.Claim }
	if len(h.Grants) > 0 || slices.ContainsFunc(h.Calendar.At(node), claim) {
		return nil
	}
	g := &timeline.Gap{Duration: h.Duration, But: h.guest.Owner}
	if g.Whole = h.seeker == nil; g.Whole {
		return g
	}
	row := h.row(node)
	if row == nil {
		return nil
	}
	b := h.Index.Bucket(row.Bucket)
	if b == nil || !h.seeker.look(&h.spot, node, b, index.Free) {
		return nil
	}
	if g.Whole = h.spot.whole; g.Whole {
		return g
	}
	g.Quantities = h.quantities
	g.Most = slices.Clone(h.spot.left)
	for _, w := range h.Chunks[0].Wants {
		if q, ok := slices.BinarySearch(h.quantities, uint16(w.Res)); ok {
			g.Most[q] -= w.Value.Num
		}
	}
	return g
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
