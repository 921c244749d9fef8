package timeline

const (
	staleLeaves = 16
	staleInners = 4
)

// staleNodes queues the nodes whose run lengths are stale, in two rings. A node may be in a
// ring although it has been measured meanwhile, or has left the tree. Its flag tells.
type staleNodes struct {
	leaves [staleLeaves]*leaf
	inners [staleInners]*inner
	l, i   int
}

func (s *staleNodes) leaf(l *leaf) {
	if l.runs.stale {
		return
	}
	if old := s.leaves[s.l]; old != nil && old.runs.stale {
		old.measure()
	}
	l.runs.stale = true
	s.leaves[s.l] = l
	s.l = (s.l + 1) % staleLeaves
}

func (s *staleNodes) inner(nd *inner) {
	if nd.runs.stale {
		return
	}
	if old := s.inners[s.i]; old != nil && old.runs.stale {
		old.measure()
	}
	nd.runs.stale = true
	s.inners[s.i] = nd
	s.i = (s.i + 1) % staleInners
}

// changed records that part of a node changed by delta, and reports whether its run lengths
// must be measured again.
func (s *staleNodes) changed(r *runs, delta int64) bool {
	if r.stale || delta == 0 {
		return false
	}
	r.loose++
	return delta < 0 || r.loose > looseMax
}
