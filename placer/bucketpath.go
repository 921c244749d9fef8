package placer

import (
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
)

// Place decides a request for a start at an instant, which is Now or later. The
// error is a *Refusal when the request does not fit.
func (s *Snapshot) Place(a Ask, at int64) (*Plan, error) {
	m, err := s.prepare(a)
	if err != nil {
		return nil, err
	}
	return m.place(at, s.endedBy(at))
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
	whole []([]index.Candidate) // by chunk, over all nodes of the queue
	sets  []setMapping          // the placement sets that could serve it, in order
}

// setMapping is what of a mapping lies in one placement set.
type setMapping struct {
	set   *index.Set
	cands [][]index.Candidate
}

// prepare maps the request and decides whether it can ever run.
func (s *Snapshot) prepare(a Ask) (*mapping, error) {
	if _, why := Route(a.Spec); why != "" && !onBucketPath(a.Spec) {
		return nil, fmt.Errorf("%w: %s", ErrNodePath, why)
	}
	m := &mapping{Snapshot: s, Ask: a, whole: make([][]index.Candidate, len(a.Chunks))}
	for i, c := range a.Chunks {
		m.whole[i] = s.Index.Candidates(a.Queue, c.Wants)
		if n := s.capacity(a, m.whole[i]); n < c.Count {
			return nil, s.orFailure(s.explainNever(a, i, n))
		}
	}
	if err := m.neverTogether(m.whole); err != nil {
		return nil, s.orFailure(err)
	}
	if err := m.mapSets(); err != nil {
		return nil, s.orFailure(err)
	}
	return m, s.orFailure(nil)
}

func onBucketPath(spec Spec) bool {
	path, _ := Route(spec)
	return path == BucketPath
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
func (a Ask) perNode(cell index.Cell) int {
	if a.Place.Arrange == Scatter || a.Place.Arrange == VScatter {
		return 1
	}
	return cell.Chunks
}

// capacity is how many chunks all nodes that are up could hold, empty.
func (s *Snapshot) capacity(a Ask, cands []index.Candidate) int {
	n := 0
	for _, c := range cands {
		for _, cell := range c.Cells {
			n = min(n+s.Index.Up(c, cell)*a.perNode(cell), index.Unlimited)
		}
	}
	return n
}

// neverTogether refuses chunks that each fit alone but never all at once.
func (m *mapping) neverTogether(cands [][]index.Candidate) error {
	if len(m.Chunks) < 2 || m.assignable(cands) {
		return nil
	}
	need := 0
	for _, c := range m.Chunks {
		need += c.Count
	}
	return &Refusal{Kind: ErrNever, Chunk: -1, Need: need,
		Why: fmt.Sprintf("the %d chunks of the select fit one by one, but together need more nodes than there are", len(m.Chunks))}
}

// place decides a start at an instant, trying the placement sets first. ended
// is the nodes that are busy now and given back by then, nil for a start now.
func (m *mapping) place(at int64, ended *roaring.Bitmap) (*Plan, error) {
	if len(m.sets) == 0 {
		plan, refusal := m.collect(m.whole, at, ended)
		return m.finish(plan, refusal, "")
	}
	var last *Refusal
	for _, sm := range m.sets {
		plan, refusal := m.collect(sm.cands, at, ended)
		if refusal == nil {
			return m.finish(plan, nil, SetName(m.Index.Defs(), sm.set))
		}
		last = refusal
	}
	last.Why += fmt.Sprintf("; it waits for one of %d placement sets that could hold it", len(m.sets))
	return m.finish(nil, last, "")
}

func (m *mapping) finish(plan *Plan, refusal *Refusal, set string) (*Plan, error) {
	if err := m.orFailure(nil); err != nil {
		return nil, err
	}
	if refusal != nil {
		return nil, refusal
	}
	plan.Set = set
	return plan, nil
}
