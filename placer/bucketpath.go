package placer

import (
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
)

// Place decides a request for a start at an instant, which is Now or later. The
// error is a *Refusal when the request does not fit.
func (s *Snapshot) Place(a Ask, at int64) (*Plan, error) {
	var m mapping
	if err := m.prepare(s, a); err != nil {
		return nil, err
	}
	plan, short, err := m.place(at, s.endedBy(at))
	switch {
	case err != nil:
		return nil, err
	case plan == nil:
		return nil, m.notNow(short)
	}
	return plan, nil
}

// endedBy is the nodes that are busy now and given back by an instant.
func (s *Snapshot) endedBy(at int64) *roaring.Bitmap {
	if at <= s.Now {
		return nil
	}
	ended := roaring.New()
	for t, nodes := range s.Endings(s.Now) {
		if t > at {
			break
		}
		ended.AddMany(nodes)
	}
	return ended
}

// Route tells which path a request takes, and why.
func Route(spec Spec) (Path, string) {
	switch {
	case !spec.Place.Exclusive():
		return "", "the request shares its nodes; add excl to place for whole nodes"
	case spec.Place.Arrange == Pack:
		return "", "place=pack puts all chunks on one host"
	}
	for i, c := range spec.Chunks {
		for _, w := range c.Wants {
			if w.Res == index.Host || w.Res == index.VNode {
				return "", fmt.Sprintf("chunk %d names a node", i+1)
			}
		}
	}
	return BucketPath, "whole nodes, none of them by name"
}

// mapping is a request with the buckets that serve each of its chunks.
type mapping struct {
	*Snapshot
	Ask
	whole [][]index.Candidate // by chunk, over all nodes of the queue
	sets  []setMapping        // the placement sets that could serve it, in order
	room  [1][]index.Candidate
}

// setMapping is what of a mapping lies in one placement set.
type setMapping struct {
	set   *index.Set
	cands [][]index.Candidate
}

// prepare maps the request and decides whether it can ever run.
func (m *mapping) prepare(s *Snapshot, a Ask) error {
	if path, why := Route(a.Spec); path != BucketPath {
		return fmt.Errorf("%w: %s", ErrNodePath, why)
	}
	m.Snapshot, m.Ask, m.whole = s, a, m.room[:]
	if len(a.Chunks) != 1 {
		m.whole = make([][]index.Candidate, len(a.Chunks))
	}
	for i := range m.Chunks {
		c := &m.Chunks[i]
		m.whole[i] = s.Index.Candidates(a.Queue, c.Wants)
		if n := s.capacity(&m.Ask, m.whole[i], c.Count); n < c.Count {
			return s.orFailure(s.explainNever(a, i, n))
		}
	}
	if err := m.neverTogether(m.whole); err != nil {
		return s.orFailure(err)
	}
	return s.orFailure(m.mapSets())
}

// orFailure puts a failure to read the state before an answer made of it.
func (s *Snapshot) orFailure(answer error) error {
	if err := s.Index.Err(); err != nil {
		return err
	}
	if err := s.Calendar.Err(); err != nil {
		return err
	}
	return answer
}

// perNode is how many chunks a node of a cell takes.
func (a *Ask) perNode(cell index.Cell) int {
	if a.Place.Arrange == Scatter || a.Place.Arrange == VScatter {
		return 1
	}
	return cell.Chunks
}

// capacity is how many chunks all nodes that are up could hold, empty. It counts
// no further than enough.
func (s *Snapshot) capacity(a *Ask, cands []index.Candidate, enough int) int {
	n := 0
	for _, c := range cands {
		for _, cell := range c.Cells {
			if n += s.Index.Up(c, cell) * a.perNode(cell); n >= enough {
				return n
			}
		}
	}
	return n
}

// neverTogether refuses chunks that each fit alone but never all at once.
func (m *mapping) neverTogether(cands [][]index.Candidate) error {
	if len(m.Chunks) < 2 || m.apart(cands) || m.assignable(cands) {
		return nil
	}
	need := 0
	for _, c := range m.Chunks {
		need += c.Count
	}
	return &Refusal{Kind: ErrNever, Chunk: -1, Need: need,
		Why: fmt.Sprintf("the %d chunks of the select fit one by one, but together need more nodes than there are", len(m.Chunks))}
}

// apart reports whether no two chunks compete for a bucket: what each can have
// alone they can have together.
func (m *mapping) apart(cands [][]index.Candidate) bool {
	for i := range cands {
		for j := range i {
			if compete(cands[i], cands[j]) {
				return false
			}
		}
	}
	return true
}

// compete reports whether two chunks have a bucket in common. Candidates come in
// the order of index.CompareBuckets.
func compete(a, b []index.Candidate) bool {
	for len(a) > 0 && len(b) > 0 {
		switch order := index.CompareBuckets(a[0].Bucket, b[0].Bucket); {
		case order == 0:
			return true
		case order < 0:
			a = a[1:]
		default:
			b = b[1:]
		}
	}
	return false
}

// place decides a start at an instant, trying the placement sets first. ended
// is the nodes that are busy now and given back by then, nil for a start now.
// Where it does not fit, the shortfall says how, and the plan is nil.
func (m *mapping) place(at int64, ended *roaring.Bitmap) (*Plan, shortfall, error) {
	plan, short := (*Plan)(nil), shortfall{}
	if len(m.sets) == 0 {
		plan, short = m.collect(m.whole, at, ended)
	}
	for _, sm := range m.sets {
		if plan, short = m.collect(sm.cands, at, ended); plan != nil {
			plan.Set = SetName(m.Index.Defs(), sm.set)
			break
		}
	}
	return plan, short, m.orFailure(nil)
}
