package timeline

// gaps counts the gaps of a node, on which nothing can start before an instant. It returns
// when the first gap opens, as far as it searched.
func (s *roomSearch) gaps(p *roomPart, steps *stepBlock, node uint32, from int64) (first int64) {
	if steps.idle[node] <= from || !steps.gapped(node, p.Idle, s.d) {
		idle := max(steps.idle[node], from)
		s.gap(idle, Forever, p.full)
		return idle
	}
	list, stop := steps.lists[node], s.until+s.d
	i := stepAt(list, from)
	first = s.until + 1
	open, height := s.stack[:0], int64(0)
	for ; i < len(list) && list[i].At <= stop; i++ {
		now := p.room(list[i].Taken)
		at := max(list[i].At, from)
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
