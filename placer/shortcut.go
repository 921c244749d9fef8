package placer

import (
	"iter"

	"github.com/placectl/placectl/index"
)

// Some policies can say which nodes come first without examining all that could serve the request.
// Each has its way: groups of nodes that score the same (rank_groups.go, rank_static.go), bounds of
// scores (rank_bounds.go), plans by time (rank_starts.go), the shortest row (pool_row.go) and nodes
// of one speed (pool_speed.go). One law holds for all: the nodes are those that examining all of
// them would give, in the same order. TestShortcuts compares.

// shortcut returns the order of a policy as far as it is known without examining all nodes. It is
// nil if it is unknown.
func (s *seeker) shortcut(cands [][]index.Candidate) ordered {
	switch {
	case len(s.Grants) > 0: // their levels take precedence over scores
		return nil
	case s.policy == MinResource || s.policy == CPULoad && s.at > s.Now:
		if s.allSigned() {
			return s.byBucket(cands)
		}
	case s.policy == Fastest:
		if groups, known := s.speeds(); known {
			return s.bySpeed(cands, groups)
		}
	case s.policy == Local: // its program reads all candidates, which takes longer than scoring them
		return nil
	case s.policy == LastAvailable:
		return s.byNextStart(cands)
	case s.policy == Priority:
		return s.byPriority(cands)
	case s.policy == Contiguous && len(s.Chunks) == 1:
		return forOneKind(s.shortestRow(cands[0]))
	case s.policy == MaxBalance && len(s.Chunks) == 1:
		return forOneKind(s.oneSpeed(cands[0]))
	}
	return s.byBounds(cands)
}

// forOneKind returns the order of a request for chunks of one kind; nil for nil.
func forOneKind(nodes iter.Seq[*spot]) ordered {
	if nodes == nil {
		return nil
	}
	return func(int) iter.Seq[*spot] { return nodes }
}
