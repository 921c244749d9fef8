package placer

import (
	"cmp"
	"iter"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
)

// If bitmaps tell which nodes score the same, nodes are visited group by group, the best first, in
// node order within each. No node is examined before its turn.

// spotsAmong yields the spots of candidates in node order, only for nodes in among unless it is
// nil. It reports whether the caller wants more.
func (s *seeker) spotsAmong(kind int, cands []index.Candidate, among *roaring.Bitmap, yield func(*spot) bool) bool {
	for f := range s.inOrderAmong(kind, cands, among) {
		if sp := s.spotAt(f.node, f.bucket, f.class); sp != nil && !yield(sp) {
			return false
		}
	}
	return true
}

// byBucket returns the order of a policy that scores all nodes of a bucket the same: bucket by
// bucket, with equal scores in node order.
func (s *seeker) byBucket(cands [][]index.Candidate) ordered {
	score := s.configured()
	type scored struct {
		index.Candidate
		share float64
		have  []int64
	}
	return func(kind int) iter.Seq[*spot] {
		list := make([]scored, len(cands[kind]))
		for i, c := range cands[kind] {
			share, have := score(&spot{bucket: c.Bucket, node: index.NoNode})
			list[i] = scored{c, share, have}
		}
		same := func(a, b scored) int {
			return cmp.Or(cmp.Compare(a.share, b.share), slices.Compare(a.have, b.have))
		}
		slices.SortStableFunc(list, same)
		return func(yield func(*spot) bool) {
			for from := 0; from < len(list); {
				var alike []index.Candidate
				first := list[from]
				for ; from < len(list) && same(first, list[from]) == 0; from++ {
					alike = append(alike, list[from].Candidate)
				}
				if !s.spotsAmong(kind, alike, nil, yield) {
					return
				}
			}
		}
	}
}

// allSigned reports whether signatures include every consumable that nodes have.
func (s *seeker) allSigned() bool {
	for _, def := range s.Index.Defs().All() {
		if def.Consumable && !s.Index.Signed(def.ID) && s.Index.Configured(def.ID) > 0 {
			return false
		}
	}
	return true
}

// speedGroup is nodes whose speeds count as equal.
type speedGroup struct {
	score float64
	ties  []int64
	nodes *roaring.Bitmap
}

func (g speedGroup) compare(o speedGroup) int {
	return cmp.Or(cmp.Compare(g.score, o.score), slices.Compare(g.ties, o.ties))
}

// speeds returns the groups of equally fast nodes, the fastest first.
func (s *seeker) speeds() (groups []speedGroup) {
	unset, others := speedGroup{nodes: roaring.New()}, roaring.New()
	unset.score, unset.ties = s.slownessOf(index.Speed{})
	for speed, nodes := range s.Index.Speeds() {
		g := speedGroup{nodes: nodes}
		g.score, g.ties = s.slownessOf(speed)
		if g.compare(unset) == 0 {
			continue
		}
		others.Or(nodes)
		i, found := slices.BinarySearchFunc(groups, g, speedGroup.compare)
		if found {
			groups[i].nodes = roaring.Or(groups[i].nodes, nodes)
		} else {
			groups = slices.Insert(groups, i, g)
		}
	}
	unset.nodes = roaring.Flip(others, 0, uint64(s.Index.Limits().Nodes))
	i, _ := slices.BinarySearchFunc(groups, unset, speedGroup.compare)
	return slices.Insert(groups, i, unset)
}

// bySpeed returns the order of nodes by groups of equal speed.
func (s *seeker) bySpeed(cands [][]index.Candidate, groups []speedGroup) ordered {
	return func(kind int) iter.Seq[*spot] {
		return func(yield func(*spot) bool) {
			for _, g := range groups {
				if !s.spotsAmong(kind, cands[kind], g.nodes, yield) {
					return
				}
			}
		}
	}
}

// nodeSet is the nodes of one class of one bucket.
type nodeSet struct {
	nodes  *roaring.Bitmap
	bucket *index.Bucket
	class  index.Class
}

// nodeSets returns the nodes that could serve a chunk.
func (s *seeker) nodeSets(kind int, cands []index.Candidate) (sets []nodeSet) {
	for i := range cands {
		for _, class := range []index.Class{index.Free, index.Later, index.Busy} {
			if nodes := s.nodes(kind, &cands[i], class); nodes != nil {
				sets = append(sets, nodeSet{nodes, cands[i].Bucket, class})
			}
		}
	}
	return sets
}

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
