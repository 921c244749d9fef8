package placer

import (
	"iter"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/heap"
)

// found is a node that the bitmaps do not rule out for a chunk.
type found struct {
	node   uint32
	bucket *index.Bucket
	class  index.Class
}

// before reports whether f comes before g in node order: by priority, then as declared.
func (f found) before(g found) bool {
	if f.bucket.Priority != g.bucket.Priority {
		return f.bucket.Priority > g.bucket.Priority
	}
	return f.node < g.node
}

// candidates are the nodes of one class of one bucket, ascending.
type candidates struct {
	roaring.IntPeekable
	bucket *index.Bucket
	class  index.Class
}

func (f *candidates) before(g *candidates) bool {
	if f.bucket.Priority != g.bucket.Priority {
		return f.bucket.Priority > g.bucket.Priority
	}
	return f.PeekNext() < g.PeekNext()
}

// inOrder visits the nodes that could serve a chunk in node order: by priority, then as declared.
// The candidates come by their first nodes, and a bucket is not opened before its first node's
// turn.
func (s *seeker) inOrder(kind int, cands []index.Candidate) iter.Seq[found] {
	return s.inOrderAmong(kind, cands, nil)
}

// inOrderAmong does the same for the nodes in among, or for all if among is nil.
func (s *seeker) inOrderAmong(kind int, cands []index.Candidate, among *roaring.Bitmap) iter.Seq[found] {
	return func(yield func(found) bool) {
		streams := heap.New(func(f, g **candidates) bool { return (*f).before(*g) })
		for next := 0; ; {
			for next < len(cands) && (streams.Len() == 0 || !ahead(*streams.First(), cands[next].Bucket)) {
				for _, class := range []index.Class{index.Free, index.Later, index.Busy} {
					nodes := s.nodes(kind, &cands[next], class)
					if nodes != nil && among != nil {
						nodes = roaring.And(nodes, among)
					}
					if nodes != nil && !nodes.IsEmpty() {
						streams.Push(&candidates{nodes.Iterator(), cands[next].Bucket, class})
					}
				}
				next++
			}
			if streams.Len() == 0 {
				return
			}
			top := *streams.First()
			if !yield(found{top.Next(), top.bucket, top.class}) {
				return
			}
			if top.HasNext() {
				streams.Fix()
			} else {
				streams.Pop()
			}
		}
	}
}

// ahead reports whether the next candidate comes before all nodes of a bucket.
func ahead(f *candidates, b *index.Bucket) bool {
	if f.bucket.Priority != b.Priority {
		return f.bucket.Priority > b.Priority
	}
	return f.PeekNext() < b.First
}

// nodes returns the nodes of a candidate's class that could serve a chunk at the instant. Busy
// nodes count if they have room now, or if something on them is given back by then.
func (s *seeker) nodes(kind int, c *index.Candidate, class index.Class) *roaring.Bitmap {
	if !s.empty && s.ended == nil && c.Bucket.Count[class] == 0 {
		return nil
	}
	nodes := s.Index.Nodes(c.Bucket, class)
	if class == index.Busy && !s.empty {
		might := s.ended
		if s.shares {
			might = s.roomFor(kind)
		}
		if might == nil {
			return nil
		}
		nodes = roaring.And(nodes, might)
	}
	if s.swept != nil {
		nodes = roaring.And(nodes, s.swept.Fit)
	}
	return within(nodes, c.Cells)
}

// within limits nodes to those of a candidate's cells.
func within(nodes *roaring.Bitmap, cells []index.Cell) *roaring.Bitmap {
	if part := cellNodes(cells); part != nil {
		return roaring.And(nodes, part)
	}
	return nodes
}

// cellNodes returns the nodes of a candidate's cells, nil for all of its bucket.
func cellNodes(cells []index.Cell) *roaring.Bitmap {
	part := cells[0].Nodes
	for _, cell := range cells[1:] {
		part = roaring.Or(part, cell.Nodes)
	}
	return part
}

// roomFor returns the busy nodes that may have room for a chunk at the instant.
func (s *seeker) roomFor(kind int) *roaring.Bitmap {
	if s.rooms[kind] == nil {
		room := s.Index.WithRoom(s.Chunks[kind].Wants)
		if s.ended != nil {
			room = roaring.Or(room, s.ended)
		}
		s.rooms[kind] = room
	}
	return s.rooms[kind]
}

// mapSets finds the placement sets that could serve each chunk of the request when empty, in the
// order to try them. If sets are not configured, or none could serve it, there are none. The
// request then spans all nodes, unless that is forbidden.
func (m *mapping) mapSets() error {
	keys := m.Rules.GroupKey
	if m.Spec.Place.HasGroup {
		keys = []index.ResID{m.Spec.Place.Group}
	}
	if len(keys) == 0 {
		return nil
	}
	finders := make([]*index.Finder, len(m.Chunks))
	for i := range finders {
		finders[i] = index.NewFinder(m.whole[i])
	}
	sets := m.Index.Sets(m.Queue, keys, m.Rules.ExplicitSets)
	switch m.Rules.SetOrder {
	case FirstSet:
		index.FirstSets(sets)
	case LargestSet:
		index.LargestSets(sets)
	}
	for _, set := range sets {
		if cands, ok := m.within(set, finders); ok {
			m.sets = append(m.sets, setMapping{set, cands})
		}
	}
	m.unsure = len(m.sets) > 0 &&
		!(len(m.Chunks) < 2 && (m.path == BucketPath || m.policy != Contiguous && m.ruled.IsEmpty()))
	if m.Rules.DoNotSpan && !m.someSet() {
		return &Refusal{Kind: ErrNever, Chunk: -1, Why: "it fits none of the placement sets, and may not span them"}
	}
	return nil
}

// within restricts the mapping to a set. It returns false if the set could not hold one of the
// chunks even when empty.
func (m *mapping) within(set *index.Set, finders []*index.Finder) ([][]index.Candidate, bool) {
	cands := make([][]index.Candidate, len(m.Chunks))
	for i, c := range m.Chunks {
		cands[i] = m.Index.Restrict(finders[i], set)
		if m.capacity(&m.Ask, cands[i], c.Count) < c.Count {
			return nil, false
		}
	}
	return cands, true
}

// A set that could hold each chunk, but not all of them together, must not be a candidate: the
// request would wait for it forever. Finding that out takes a search, and matters only if the
// request fits none of the sets now, so it is done only then.

// someSet reports whether a set could hold the whole request when empty.
func (m *mapping) someSet() bool {
	if !m.unsure {
		return len(m.sets) > 0
	}
	return slices.ContainsFunc(m.sets, func(sm setMapping) bool { return m.assignable(sm.cands) == yes })
}

// sureSets returns the sets that could hold the whole request when empty.
func (m *mapping) sureSets() []setMapping {
	if m.unsure {
		var sure []setMapping
		for _, sm := range m.sets {
			if m.assignable(sm.cands) == yes {
				sure = append(sure, sm)
			}
		}
		m.sets, m.unsure = sure, false
	}
	return m.sets
}

// SetName returns the name of a placement set: key=value.
func SetName(defs *index.Defs, set *index.Set) string {
	def, _ := defs.Get(set.Key)
	return def.Name + "=" + set.Value
}

// maySpan reports whether a request that could fit a set may span sets at an instant, because it
// has waited for a set long enough.
func (m *mapping) maySpan(at int64) bool {
	wait := m.Rules.SetDelay
	return !m.Rules.DoNotSpan && !m.Spec.Place.HasGroup && (wait < 0 || wait > 0 && at >= m.Since+wait)
}
