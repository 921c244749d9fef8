package placer

import (
	"iter"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
)

// NodePath places on nodes one by one. It handles shared nodes, nodes asked for by name, and orders
// of nodes that buckets do not know.
const NodePath Path = "node"

// ordered lists the nodes for a chunk of the select, in the order in which to take them.
type ordered func(kind int) iter.Seq[*spot]

// choose decides a start at an instant on the node path.
func (m *mapping) choose(cands [][]index.Candidate, at int64, ended *roaring.Bitmap) (*Plan, shortfall) {
	s := m.seek(at, ended, false)
	if at >= m.bucketable {
		return s.wholeByPolicy(cands)
	}
	return s.choose(cands)
}

// wholeByPolicy serves a request that differs from one for the bucket path only in its policy. The
// policy does not decide whether it fits: the bucket path does. If the policy's order finds no
// placement, the bucket path's nodes are taken.
func (s *seeker) wholeByPolicy(cands [][]index.Candidate) (*Plan, shortfall) {
	if s.policy == Contiguous && len(s.Chunks) > 1 {
		return s.choose(cands) // first fit in the order of buckets says nothing of rows
	}
	plan, short := s.collect(cands, s.at, s.ended)
	if plan == nil {
		return nil, short
	}
	if s.policy != FirstAvailable {
		if chunks, _ := s.byPolicy(cands); chunks != nil {
			return s.plan(chunks), shortfall{}
		}
	}
	if s.policy == Contiguous {
		return nil, s.scattered(cands)
	}
	plan.Path, plan.Policy = NodePath, s.policy.String()
	return plan, shortfall{}
}

// choose serves the chunks in the order of the select, each on the nodes in the policy's order. If
// that fails, it tries node order, in case the policy's was a bad order for the chunks. If the
// rules allow it, it then looks for any assignment.
func (s *seeker) choose(cands [][]index.Candidate) (*Plan, shortfall) {
	chunks, short := s.byPolicy(cands)
	if chunks == nil && s.policy == Contiguous {
		if s.exact = len(s.Chunks) > 1 && s.exactly(); s.exact {
			chunks, short = s.byPolicy(cands)
		}
		if chunks == nil {
			return nil, s.scattered(cands)
		}
	}
	if chunks == nil && len(s.Chunks) > 1 && s.policy != FirstAvailable {
		chunks, short = s.handOut(s.firstAvailable(cands))
	}
	if chunks == nil && len(s.Chunks) > 1 && !short.alone && s.exactly() {
		chunks = s.settle(s.pool(cands))
	}
	if chunks == nil {
		short.cands = cands
		return nil, short
	}
	return s.plan(chunks), shortfall{}
}

func (s *seeker) byPolicy(cands [][]index.Candidate) ([]Allotment, shortfall) {
	switch s.policy {
	case FirstAvailable:
		return s.handOut(s.firstAvailable(cands))
	case Contiguous, MaxBalance, Topology:
		return s.byPool(cands)
	}
	return s.handOut(s.ranking(cands))
}

func (s *seeker) plan(chunks []Allotment) *Plan {
	p := &Plan{Path: NodePath, Policy: s.policy.String(), Start: s.at, End: s.end, Chunks: chunks}
	for _, c := range chunks {
		for _, pick := range c.Picks {
			if sp := s.spots[pick.Node]; sp.within != 0 {
				if p.Claims == nil {
					p.Claims = make(map[uint32]uint64)
				}
				p.Claims[pick.Node] = sp.within
			}
		}
	}
	s.unpack(p)
	return p
}

// handOut gives every chunk nodes in order. If one falls short, it gives nothing, and the shortfall
// says which.
func (s *seeker) handOut(nodes ordered) ([]Allotment, shortfall) {
	out := make([]Allotment, len(s.Chunks))
	for i := range s.Chunks {
		need := s.Chunks[i].Count
		for sp := range nodes(i) {
			n := s.holds(sp, i, need)
			if n == 0 || !s.takeHost(sp) {
				continue
			}
			s.take(sp, i, n)
			out[i].Picks = append(out[i].Picks, s.pick(sp, n))
			if need -= n; need == 0 {
				break
			}
		}
		if need > 0 {
			s.undo()
			return nil, shortfall{chunk: i, found: s.Chunks[i].Count - need, alone: i == 0}
		}
	}
	s.journal = s.journal[:0]
	return out, shortfall{}
}

func (s *seeker) pick(sp *spot, chunks int) Pick {
	return Pick{Node: sp.node, Chunks: int32(chunks), Class: sp.class, Bucket: sp.bucket, Shared: !sp.whole,
		Alone: sp.alone}
}

// firstAvailable returns node order, with nodes of reservations that attract the request first and
// nodes of reservations that repel it last.
func (s *seeker) firstAvailable(cands [][]index.Candidate) ordered {
	return func(kind int) iter.Seq[*spot] {
		return func(yield func(*spot) bool) {
			for l := required; l <= repelled; l++ {
				if l != unreserved {
					for _, sp := range inDeclaredOrder(s.granted(kind, cands[kind], l)) {
						if !yield(sp) {
							return
						}
					}
					continue
				}
				for f := range s.inOrder(kind, cands[kind]) {
					sp := s.spotAt(f.node, f.bucket, f.class)
					if sp != nil && sp.level == unreserved && !yield(sp) {
						return
					}
				}
			}
		}
	}
}
