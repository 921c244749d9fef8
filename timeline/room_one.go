package timeline

// There is room for one chunk as soon as some node has it. So there is nothing to count, and a
// node whose bound is after the best instant found is skipped.

// one returns the first instant at which there is room for a chunk, or the end of the search
// if there is none.
func (s *roomSearch) one() int64 {
	best := min(s.before, Forever-s.d)
	for i, own := range s.own.parts {
		best = s.first(&s.parts[own], s.own.steps[i/BlockNodes], uint32(i%BlockNodes), s.after, best)
	}
	for i := range s.parts {
		p := &s.parts[i]
		if p.full == 0 {
			continue
		}
		for number, word := range p.words {
			if word == 0 {
				continue
			}
			steps, block := s.stepsOf(uint32(number), word), p.block(number)
			for rest := word; rest != 0; rest &= rest - 1 {
				if best == s.after {
					return best
				}
				i := lowest(rest)
				from := block[i].after(s.after)
				if from >= best {
					continue
				}
				best = s.first(p, steps, i, from, best)
				if p.d == s.d {
					block[i].found(s.after, best)
				}
			}
		}
	}
	return best
}

// first returns when the first gap of a node opens, or to if none opens sooner. Nothing can
// start on the node before from.
func (s *roomSearch) first(p *roomPart, steps *stepBlock, node uint32, from, to int64) int64 {
	if steps.idle[node] <= from || !steps.gapped(node, p.Idle, s.d) {
		return min(max(steps.idle[node], from), to)
	}
	list := steps.lists[node]
	i := stepAt(list, from)
	open := int64(Forever)
	for ; i < len(list) && (list[i].At < to || open < to); i++ {
		switch has := p.room(list[i].Taken) > 0; {
		case !has && open != Forever && list[i].At-open >= s.d:
			return open
		case !has:
			open = Forever
		case open == Forever:
			open = max(list[i].At, from)
		}
	}
	return min(open, to)
}
