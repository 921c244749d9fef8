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

// HoldsOne reports whether one of some nodes has room for a chunk of a request that
// is for chunks of one kind, at some start from an instant on and before another. What
// owner has of them, as in the calendar, does not count. A request that is refused as
// a whole may find room anywhere.
func (s *Snapshot) HoldsOne(a Ask, owner uint64, nodes *roaring.Bitmap, from, to int64) (bool, error) {
	var m mapping
	if err := m.prepare(s, a); err != nil {
		return true, s.orFailure(nil)
	}
	serving := m.serving()
	for it := nodes.Iterator(); it.HasNext(); {
		node := it.Next()
		if !serving.Contains(node) {
			continue
		}
		if m.holdsOneAt(owner, node, from) {
			return true, s.orFailure(nil)
		}
		for _, b := range s.Calendar.At(node) {
			if t := s.Calendar.End(b); t > from && t < to && m.holdsOneAt(owner, node, t) {
				return true, s.orFailure(nil)
			}
		}
	}
	return false, s.orFailure(nil)
}

// holdsOneAt reports whether a node has room for a chunk from an instant on.
func (m *mapping) holdsOneAt(owner uint64, node uint32, at int64) bool {
	if m.path == BucketPath {
		guest := Guest{Owner: owner}
		return m.Calendar.Taken(node, at, at+m.Duration, &guest, nil, nil) == timeline.Idle
	}
	s := m.seek(at, nil, false)
	s.guest.Owner = owner
	row := m.row(node)
	if row == nil {
		return true
	}
	var sp spot
	b := m.Index.Bucket(row.Bucket)
	return b == nil || s.look(&sp, node, b, index.Busy) && s.holds(&sp, 0, 1) > 0
}
