package timeline

// lower holds, for each node, a lower bound of when a chunk fits on it for d. The bounds hold
// for all rooms with its key and for at least d. They rise as searches examine nodes, stay as
// nodes are taken, and fall where something is given back.
type lower struct {
	d      int64
	blocks []*[BlockNodes]lowerBound // by number of the calendar block
}

// lowerBound says that a chunk cannot start in [from, to).
type lowerBound struct{ from, to int64 }

// lowerKey identifies the searches that share bounds. Requests for about the same time share
// those for the shortest.
type lowerKey struct {
	room string
	idle bool
	long int
}

// maxLowers is the most blocks with bounds. Beyond it, all bounds are dropped.
const maxLowers = 1 << 22 / BlockNodes

// lowerOf finds the bounds for a part of a search.
func (s *roomSearch) lowerOf(p *roomPart) *lower {
	key := lowerKey{p.Key, p.Idle, bin(s.d) >> (binBits - 3)}
	l := s.lower[key]
	switch {
	case l == nil:
		if s.lowerBlocks += len(p.words); s.lowerBlocks > maxLowers {
			clear(s.lower)
			s.lowers, s.lowerBlocks = nil, len(p.words)
		}
		l = &lower{d: s.d}
		s.lower[key], s.lowers = l, append(s.lowers, l)
	case l.d > s.d:
		*l = lower{d: s.d}
	}
	return l
}

// block returns the bounds of the nodes of a calendar block.
func (l *lower) block(number int) *[BlockNodes]lowerBound {
	for number >= len(l.blocks) {
		l.blocks = append(l.blocks, nil)
	}
	if l.blocks[number] == nil {
		l.blocks[number] = new([BlockNodes]lowerBound)
	}
	return l.blocks[number]
}

// after returns the first instant from a given one on at which a chunk may start.
func (b lowerBound) after(t int64) int64 {
	if t < b.from {
		return t
	}
	return max(t, b.to)
}

// found records that no chunk can start in [from, to).
func (b *lowerBound) found(from, to int64) {
	if from < b.from || from > b.to {
		b.from, b.to = from, from
	}
	b.to = max(b.to, to)
}

// given lowers the bounds of a node after something of it was given back from an instant on.
func (s *roomSearch) given(node uint32, t int64) {
	for _, l := range s.lowers {
		if number := int(node / BlockNodes); number < len(l.blocks) && l.blocks[number] != nil {
			b := &l.blocks[number][node%BlockNodes]
			b.to = max(min(b.to, t-l.d), b.from)
		}
	}
}
