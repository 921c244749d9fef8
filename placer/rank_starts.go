package placer

import (
	"iter"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
)

// byNextStart returns the order of lastavailable: nodes by how soon after the request's end
// something planned begins on them, then those without plans, in node order. It reads plans in
// order of time, so it only examines nodes whose turn has come. It is nil if plans are not stored
// by time.
func (s *seeker) byNextStart(cands [][]index.Candidate) ordered {
	if s.Planned == nil || s.empty {
		return nil
	}
	return func(kind int) iter.Seq[*spot] {
		return func(yield func(*spot) bool) {
			sets, begun := s.nodeSets(kind, cands[kind]), roaring.New()
			for _, together := range s.startingFrom(s.end, sets, begun) {
				for _, f := range together {
					if sp := s.spotAt(f.node, f.bucket, f.class); sp != nil && !yield(sp) {
						return
					}
				}
			}
			s.spotsAmong(kind, cands[kind], roaring.Flip(begun, 0, uint64(s.Index.Limits().Nodes)), yield)
		}
	}
}

// startingFrom lists, from an instant on, the instants at which something begins on nodes of the
// sets, with those nodes in node order. Each node comes once, at its first such instant, and is
// added to begun.
func (s *seeker) startingFrom(from int64, sets []nodeSet, begun *roaring.Bitmap) iter.Seq2[int64, []found] {
	return func(yield func(int64, []found) bool) {
		var together []found
		at := from
		begin := func() bool {
			slices.SortFunc(together, func(a, b found) int {
				if a.before(b) {
					return -1
				}
				return 1
			})
			more := len(together) == 0 || yield(at, together)
			together = together[:0]
			return more
		}
		for t, nodes := range s.Planned(from) {
			if t != at {
				if !begin() {
					return
				}
				at = t
			}
			for _, node := range nodes {
				i := slices.IndexFunc(sets, func(c nodeSet) bool { return c.nodes.Contains(node) })
				if i >= 0 && s.Calendar.NextBusy(node, from) == t && begun.CheckedAdd(node) {
					together = append(together, found{node, sets[i].bucket, sets[i].class})
				}
			}
		}
		begin()
	}
}
