package timeline

// search returns the first moment from after on that begins a window of the given length in
// which amount is free of total. With points, it must be a change point. A window of amount 0
// fits wherever it ends within the plan.
func (p *profile) search(after, length, amount, total int64, points bool) (int64, bool) {
	limit := total - amount
	if amount == 0 {
		limit = 2 * MaxTotal
	}
	s := seeker{after: after, length: length, points: points}
	if s.inner(p.root, p.height, limit) || s.open && p.end-s.run >= length {
		return s.run, true
	}
	return 0, false
}

// A seeker walks the profile from after on, and tracks the free run that reaches its position.
// As soon as the run is long enough, its beginning is the answer, and the walking methods
// return true.
type seeker struct {
	after  int64
	length int64
	run    int64 // where the run began
	open   bool  // there is one
	points bool  // no run begins before a change point comes
}

// inner walks a node. Every run that begins after a blocked child begins at a change point,
// because the amount changes there.
func (s *seeker) inner(nd *inner, h int, limit int64) bool {
	i := 0
	if s.after > nd.first[0] {
		i = findAgain(nd.first[:nd.n], s.after)
	} else if h == 0 && !s.points && nd.runs.bound(limit) < s.length {
		return s.pass(nd, limit)
	}
	for ; i < nd.n; i++ {
		if s.open && nd.first[i]-s.run >= s.length {
			return true
		}
		switch {
		case nd.lo[i] > limit:
			s.open, s.points = false, false
		case nd.hi[i] <= limit && !s.points:
			if !s.open {
				s.open, s.run = true, max(nd.first[i], s.after)
			}
		case h > 0:
			if s.inner(nd.kid[i], h-1, limit-nd.add[i]) {
				return true
			}
		default:
			if s.leaf(nd.leaf[i], limit-nd.add[i]) {
				return true
			}
		}
	}
	return false
}

// pass skips a node whose own runs are all too short: only the run that enters it and the one
// that leaves it matter.
func (s *seeker) pass(nd *inner, limit int64) bool {
	if s.open && nd.firstBusy(limit)-s.run >= s.length {
		return true
	}
	stop, end := nd.lastBusy(limit)
	s.open, s.run = stop < end, stop
	return false
}

// leaf sweeps a leaf, or skips it as pass skips a node.
func (s *seeker) leaf(l *leaf, limit int64) bool {
	if s.after >= l.time[0] {
		i := 0
		if l.n > 1 && s.after >= l.time[1] { // nothing to find at the plan's beginning
			i = findAgain(l.time[:l.n], s.after)
		}
		if s.points {
			if l.time[i] < s.after || l.refs[i] == 0 {
				i++
			}
			s.points = i == l.n
		}
		return s.sweep(l, i, limit)
	}
	if s.points { // only where the leaf of after had no more points
		i := 0
		if l.refs[0] == 0 {
			i++
		}
		s.points = i == l.n
		return s.sweep(l, i, limit)
	}
	if l.runs.bound(limit) >= s.length {
		return s.sweep(l, 0, limit)
	}
	if s.open && l.firstBusy(limit)-s.run >= s.length {
		return true
	}
	s.run = l.lastBusy(limit)
	s.open = s.run < l.end
	return false
}

// sweep examines the points of a leaf from i on. It updates the beginning of the run without a
// branch, because a processor cannot predict how free and busy points alternate. A busy point
// moves the beginning to the next point, which is no run if that is busy, too.
func (s *seeker) sweep(l *leaf, i int, limit int64) bool {
	if i == l.n {
		return false
	}
	time, used := l.time[i:l.n], l.used[i:l.n]
	run, length := s.run, s.length
	if !s.open {
		run = max(time[0], s.after)
	}
	last := len(time) - 1
	next, busy := time[1:], used[:last]
	next = next[:len(busy)] // so that the loop need not check
	for k, u := range busy {
		if time[k]-run >= length {
			s.run = run
			return true
		}
		n := next[k]
		if u > limit {
			run = n
		}
	}
	if time[last]-run >= length {
		s.run = run
		return true
	}
	if used[last] > limit {
		run = l.end
	}
	s.run, s.open = run, run < l.end
	return false
}
