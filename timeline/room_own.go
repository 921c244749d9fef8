package timeline

// ownSteps are the steps of the nodes on which the asking owner has something, without that.
// Nothing is kept from one search to the next.
type ownSteps struct {
	Own
	parts []int        // by node in turn: the part that it is of
	steps []*stepBlock // of the nodes in turn, BlockNodes in each
}

// ownAside takes those nodes out of the parts. It reports whether steps can tell.
func (s *roomSearch) ownAside() bool {
	s.own.parts = s.own.parts[:0]
	for _, node := range s.own.Nodes {
		number, bit := int(node/BlockNodes), uint64(1)<<(node%BlockNodes)
		for i := range s.parts {
			p := &s.parts[i]
			if p.full == 0 || number >= len(p.words) || p.words[number]&bit == 0 {
				continue
			}
			p.words[number] &^= bit
			if !s.ownNode(node) {
				return false
			}
			s.own.parts = append(s.own.parts, i)
		}
	}
	return true
}

// ownNode makes the steps of a node without the asking owner's stretches.
func (s *roomSearch) ownNode(node uint32) bool {
	k, bit := node%BlockNodes, uint64(1)<<(node%BlockNodes)
	steps := s.stepsOf(node/BlockNodes, bit)
	if (steps.peculiar|steps.claimed)&bit != 0 {
		return false
	}
	slot := len(s.own.parts)
	if slot/BlockNodes == len(s.own.steps) {
		s.own.steps = append(s.own.steps, new(stepBlock))
	}
	to, i := s.own.steps[slot/BlockNodes], uint32(slot%BlockNodes)
	to.lists[i] = append(to.lists[i][:0], steps.lists[k]...)
	list := s.At(node)
	for n := range list {
		if list[n].Owner == s.own.Owner {
			s.shift(to, i, &list[n], -1)
		}
	}
	to.measure(i, s.now, s.takens)
	return true
}
