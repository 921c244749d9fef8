package timeline

// gaps counts the gaps of a node, and says when the first opens, as far as it was looked
// for.
func (s *roomSearch) gaps(p *roomPart, steps *stepBlock, node uint32) (first int64) {
	if !steps.gapped(node, p.Idle, s.d) || steps.idle[node] <= s.after {
		idle := max(steps.idle[node], s.after)
		s.gap(idle, Forever, p.full)
		return idle
	}
	list, stop := steps.lists[node], s.until+s.d
	i := len(list) - 1
	for list[i].At > s.after {
		i--
	}
	first = s.until + 1
	open, height := s.stack[:0], int64(0)
	for ; i < len(list) && list[i].At <= stop; i++ {
		now := p.room(list[i].Load)
		at := max(list[i].At, s.after)
		switch {
		case now > height:
			open = append(open, event{at, now})
		case now < height:
			since := at
			for len(open) > 0 && open[len(open)-1].chunks > now {
				top := open[len(open)-1]
				open = open[:len(open)-1]
				rest := now
				if len(open) > 0 {
					rest = max(rest, open[len(open)-1].chunks)
				}
				if since = top.at; at-s.d >= since {
					s.gap(since, at-s.d, top.chunks-rest)
					first = min(first, since)
				}
			}
			if now > 0 && (len(open) == 0 || open[len(open)-1].chunks < now) {
				open = append(open, event{since, now})
			}
		}
		height = now
	}
	below := int64(0)
	for _, e := range open {
		s.gap(e.at, Forever, e.chunks-below)
		below, first = e.chunks, min(first, e.at)
	}
	s.stack = open
	return first
}

// gap counts chunks that could begin from an instant on until another.
func (s *roomSearch) gap(from, last, chunks int64) {
	if from > s.until {
		return
	}
	s.opensAt(from, chunks)
	if from > s.after {
		s.opening = append(s.opening, event{from, chunks})
	}
	if last <= s.until {
		s.shutsAt(last, chunks)
		s.shutting = append(s.shutting, event{last, chunks})
	}
}

// FirstRoom is the first instant in [from, to) from which on a node has room for a
// chunk throughout d, or to. It is not known for a node that is in none of the rooms, or
// of which the owner has something himself.
func (c *Calendar) FirstRoom(rooms []Room, node uint32, owner uint64, d, from, to int64) (at int64, known bool) {
	i, list := 0, c.At(node)
	for i < len(rooms) && !rooms[i].Nodes.Contains(node) {
		i++
	}
	if i == len(rooms) {
		return 0, false
	}
	for k := range list { // a stretch is too large to be handed to a function for each node
		if list[k].Owner == owner {
			return 0, false
		}
	}
	k := node % BlockNodes
	steps := c.stepsOf(node/BlockNodes, 1<<k)
	if steps.peculiar>>k&1 != 0 {
		return 0, false
	}
	switch {
	case rooms[i].Units(Unloaded) == 0:
		return to, true
	case !steps.gapped(k, rooms[i].Idle, d):
		return min(max(steps.idle[k], from), to), true
	}
	open := int64(Forever)
	for _, s := range steps.lists[k] {
		switch has := rooms[i].Units(s.Load) > 0; {
		case !has && open != Forever && s.At-open >= d:
			return open, true
		case !has:
			open = Forever
		case open == Forever:
			open = max(s.At, from)
		}
		if s.At >= to && open >= to {
			break
		}
	}
	return min(open, to), true
}
