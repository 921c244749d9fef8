package placer

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/heap"
	"github.com/placectl/placectl/timeline"
)

// A policy that scores nodes examines every node that could serve a chunk, unless there is a
// shortcut (shortcut.go). One exception covers most of a cluster. Free nodes of a bucket score the
// same if nothing is planned on them and nothing of their own affects the score. They form one
// entry, and follow each other in node order.

// entry is a node with its score, or the idle nodes of a bucket with their common score.
type entry struct {
	node   uint32
	class  index.Class
	level  level
	bucket *index.Bucket
	score  float64 // sorted ascending
	ties   []int64 // compared if scores are equal
	rest   roaring.IntPeekable
	hope   *scoreGroup // not one node: all that could score this well (rank_bounds.go)
}

func (e *entry) before(f *entry) bool {
	if c := cmp.Or(cmp.Compare(e.level, f.level), cmp.Compare(e.score, f.score), slices.Compare(e.ties, f.ties),
		cmp.Compare(f.bucket.Priority, e.bucket.Priority)); c != 0 {
		return c < 0
	}
	return e.node < f.node
}

// scorer returns a spot's score and the values that break ties.
type scorer func(sp *spot) (float64, []int64)

// ranking returns the order of a policy that scores nodes.
func (s *seeker) ranking(cands [][]index.Candidate) ordered {
	if order := s.shortcut(cands); order != nil {
		return order
	}
	return s.byScore(cands)
}

// byScore returns the order without a shortcut.
func (s *seeker) byScore(cands [][]index.Candidate) ordered {
	return func(kind int) iter.Seq[*spot] {
		return func(yield func(*spot) bool) {
			for e := range popAll(s.entries(kind, cands[kind])) {
				if sp := s.spotAt(e.node, e.bucket, e.class); sp != nil && !yield(sp) {
					return
				}
			}
		}
	}
}

// entries scores the nodes that could serve a chunk.
func (s *seeker) entries(kind int, cands []index.Candidate) []entry {
	score, alike := s.scorer(kind)
	var out []entry
	var sp spot
	add := func(node uint32, b *index.Bucket, class index.Class, rest roaring.IntPeekable) {
		if s.look(&sp, node, b, class) && s.holds(&sp, kind, 1) > 0 {
			e := entry{node: node, class: class, level: sp.level, bucket: b, rest: rest}
			e.score, e.ties = score(&sp)
			out = append(out, e)
		}
	}
	for i := range cands {
		c := &cands[i]
		for _, class := range []index.Class{index.Free, index.Later, index.Busy} {
			nodes := s.nodes(kind, c, class)
			if nodes == nil {
				continue
			}
			if class == index.Free && alike && !s.empty {
				idle := roaring.AndNot(roaring.AndNot(nodes, s.ranked), s.ruled)
				nodes = roaring.AndNot(nodes, idle)
				if it := idle.Iterator(); it.HasNext() {
					add(it.Next(), c.Bucket, class, it)
				}
			}
			for it := nodes.Iterator(); it.HasNext(); {
				if node := it.Next(); len(s.Grants) == 0 || !s.granting().Contains(node) {
					add(node, c.Bucket, class, nil)
				}
			}
		}
	}
	if len(s.Grants) > 0 {
		for it := s.granting().Iterator(); it.HasNext(); {
			if g := s.grantedSpot(it.Next(), cands); g != nil {
				add(g.node, g.bucket, g.class, nil)
			}
		}
	}
	return out
}

// popAll yields entries in order. It uses a heap rather than a sort, because usually only a few are
// wanted.
func popAll(list []entry) iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		for entries := heap.Of(list, (*entry).before); entries.Len() > 0; {
			top := entries.First()
			if !yield(top) {
				return
			}
			if top.rest != nil && top.rest.HasNext() {
				top.node = top.rest.Next()
				entries.Fix()
			} else {
				entries.Pop()
			}
		}
	}
}

// scorer returns the policy's scorer, and whether idle nodes of a bucket score alike.
func (s *seeker) scorer(kind int) (scorer, bool) {
	switch s.policy {
	case LastAvailable:
		return s.gap, true
	case CPULoad:
		if s.at > s.Now {
			return s.configured(), true // the load at a later time is unknown
		}
		return s.unused, true
	case MinResource:
		return s.configured(), true
	case Fastest:
		return s.slowness, true
	case Tetris:
		return s.misfit(kind), true
	case Priority:
		return s.priority()
	}
	return s.listed(), false
}

// gap scores by how long a node stays unused after the request.
func (s *seeker) gap(sp *spot) (float64, []int64) {
	if sp.class == index.Free || s.empty {
		return math.Inf(1), nil
	}
	next := s.Calendar.NextBusy(sp.node, s.end)
	if next == timeline.Forever {
		return math.Inf(1), nil
	}
	return float64(next - s.end), nil
}

// unused scores by the processors that are neither dedicated nor loaded, negated.
func (s *seeker) unused(sp *spot) (float64, []int64) {
	have, used := s.of(sp, index.NCPUs), 0.0
	if sp.class != index.Free && !s.empty {
		s.taken = s.takenThen(s.taken[:0], sp.node)
		used = float64(takenOf(s.taken, index.NCPUs))
	}
	if row := s.traitsOf(sp); row != nil {
		used = max(used, row.Load)
	}
	return used - float64(have), nil
}

// slowness ranks the fastest node first: by its own speed, then by that of its processors.
func (s *seeker) slowness(sp *spot) (float64, []int64) {
	row := s.traitsOf(sp)
	if row == nil {
		return s.slownessOf(index.Speed{})
	}
	return s.slownessOf(index.Speed{Node: row.Speed, Processors: row.ProcSpeed})
}

func (s *seeker) slownessOf(speed index.Speed) (float64, []int64) {
	own := speed.Node
	if own == 0 {
		own = 1
	}
	if speed.Processors == 0 {
		return -own, unsetSpeed
	}
	return -own, []int64{-int64(speed.Processors * 1e6)}
}

// unsetSpeed is the tie value of a node whose processors have no speed.
var unsetSpeed = []int64{0}

// configured scores by a node's dominant share: its largest share of the cluster in any resource
// (Ghodsi et al., Dominant Resource Fairness, 2011). Ties are broken by each resource as declared.
func (s *seeker) configured() scorer {
	type total struct {
		id  index.ResID
		sum int64
	}
	var totals []total
	for _, def := range s.Index.Defs().All() {
		if !def.Consumable {
			continue
		}
		if sum := s.Index.Configured(def.ID); sum > 0 {
			totals = append(totals, total{def.ID, sum})
		}
	}
	signed := s.allSigned()
	score := func(sp *spot) (float64, []int64) {
		share, have := 0.0, make([]int64, len(totals))
		for i, t := range totals {
			have[i] = s.of(sp, t.id)
			share = max(share, float64(have[i])/float64(t.sum))
		}
		return share, have
	}
	type scored struct {
		share float64
		have  []int64
	}
	memo := make(map[*index.Bucket]scored)
	return func(sp *spot) (float64, []int64) {
		if !signed && s.ranked.Contains(sp.node) {
			return score(sp)
		}
		known, ok := memo[sp.bucket]
		if !ok {
			known.share, known.have = score(sp)
			memo[sp.bucket] = known
		}
		return known.share, known.have
	}
}

// misfit scores by the alignment of a chunk's wants with what is left of a node, both relative to
// the node's size, negated (Grandl et al., Multi-Resource Packing for Cluster Schedulers, 2014).
// Scores are rounded so that equal sums stay equal in whatever order they were added, and node
// order decides.
func (s *seeker) misfit(kind int) scorer {
	return func(sp *spot) (float64, []int64) {
		dot := 0.0
		for _, w := range s.Chunks[kind].Wants {
			q, ok := slices.BinarySearch(s.quantities, uint16(w.Res))
			if !ok {
				continue
			}
			if have := float64(s.of(sp, w.Res)); have > 0 {
				dot += float64(w.Value.Num) / have * float64(sp.left[q]) / have
			}
		}
		return -math.Round(dot * 1e12), nil
	}
}

// listed scores by the site's own order. Nodes that it does not name come last.
func (s *seeker) listed() scorer {
	rank := make(map[uint32]int, len(s.Ranking))
	for i, node := range s.Ranking {
		if _, twice := rank[node]; !twice {
			rank[node] = i
		}
	}
	return func(sp *spot) (float64, []int64) {
		if at, ok := rank[sp.node]; ok {
			return float64(at), nil
		}
		return math.Inf(1), nil
	}
}

// inDeclaredOrder sorts spots in node order.
func inDeclaredOrder(spots []*spot) []*spot {
	slices.SortFunc(spots, func(a, b *spot) int {
		return cmp.Or(cmp.Compare(b.bucket.Priority, a.bucket.Priority), cmp.Compare(a.node, b.node))
	})
	return spots
}
