package placer

import (
	"encoding/binary"
	"slices"

	"github.com/placectl/placectl/index"
)

// settle looks for any assignment of chunks to nodes, after handing them out in order has failed.
// If each node serves chunks of one kind only, this is the assignment problem of the bucket path.
// If a node may serve several, it is vector bin packing, solved by a bounded search from node to
// node. Each node is tried filled to the full: nodes do not interfere, so holding less gains
// nothing.
func (s *seeker) settle(members []member) []Allotment {
	if !s.enough(members) {
		return nil
	}
	var chunks []Allotment
	find := s.pack
	if s.oneKind(members) {
		find = s.assign
	}
	look := func(steps int) (v verdict, left int) {
		chunks, v, left = find(members, steps)
		return v, left
	}
	v := no
	if s.empty {
		v, _ = look(searchSteps)
	} else {
		v = s.search(look)
	}
	s.gaveUp = s.gaveUp || v == perhaps
	return chunks
}

// pack looks for a packing.
func (s *seeker) pack(members []member, steps int) ([]Allotment, verdict, int) {
	p := packer{seeker: s, members: members, need: s.needs(), failed: make(map[string]bool), steps: steps}
	p.tail = make([][]int, len(members)+1)
	p.tail[len(members)] = make([]int, len(s.Chunks))
	for i := len(members) - 1; i >= 0; i-- {
		p.tail[i] = slices.Clone(p.tail[i+1])
		for k, n := range members[i].per {
			p.tail[i][k] += n
		}
	}
	out := make([]Allotment, len(s.Chunks))
	if !p.search(0) {
		s.undo()
		if p.steps < 0 {
			return nil, perhaps, 0
		}
		return nil, no, p.steps
	}
	for _, t := range s.journal {
		out[t.kind].Picks = append(out[t.kind].Picks, s.pick(t.spot, t.chunks))
	}
	s.journal = s.journal[:0]
	return out, yes, p.steps
}

// fitsEmpty reports whether the nodes that are up could hold the request if they were empty. It
// says perhaps if it gave up the search.
func (m *mapping) fitsEmpty(cands [][]index.Candidate) verdict {
	s := m.seek(m.Now, nil, true)
	if s.inOrderOfSelect(cands) {
		return yes
	}
	if len(m.Chunks) < 2 {
		return no
	}
	var chunks []Allotment
	if m.policy == Contiguous {
		s.exact = true
		chunks, _ = s.byPool(cands)
	} else {
		chunks = s.settle(s.pool(cands))
	}
	switch {
	case chunks != nil:
		return yes
	case s.gaveUp:
		return perhaps
	}
	return no
}

// inOrderOfSelect reports whether the request fits if its chunks are handed out in their order,
// each to nodes in node order.
func (s *seeker) inOrderOfSelect(cands [][]index.Candidate) bool {
	var chunks []Allotment
	if s.policy == Contiguous {
		chunks, _ = s.byPool(cands)
	} else {
		chunks, _ = s.handOut(s.firstAvailable(cands))
	}
	s.undo()
	return chunks != nil
}

// oneKind reports whether no node may serve two kinds of chunk.
func (s *seeker) oneKind(members []member) bool {
	for i := range members {
		sp := s.spotAt(members[i].node, members[i].bucket, members[i].class)
		if sp != nil && !sp.one && (!sp.whole || s.together) {
			return false
		}
	}
	return true
}

// assign solves the assignment problem if each node serves one kind of chunk.
func (s *seeker) assign(members []member, steps int) ([]Allotment, verdict, int) {
	p := problem{needs: s.needs()}
	byPer := make(map[string]*atom)
	for _, item := range s.items(members) {
		per := slices.Clone(item[0].per)
		for _, m := range item[1:] {
			for i := range per {
				per[i] = max(per[i], m.per[i])
			}
		}
		key := perKey(per)
		a := byPer[key]
		if a == nil {
			a = &atom{per: per}
			byPer[key] = a
			p.atoms = append(p.atoms, a)
		}
		a.count++
		a.items = append(a.items, item)
	}
	v, left := p.solve(steps)
	if v != yes {
		return nil, v, left
	}
	return s.assigned(&p), yes, left
}

// items returns the units that serve one kind of chunk each. These are nodes or, if the request is
// scattered, hosts, each of which gives one node.
func (s *seeker) items(members []member) [][]member {
	at := make(map[string]int)
	var out [][]member
	for _, m := range members {
		host := s.hostOf(&m)
		if i, known := at[host]; known && host != "" && s.Spec.Place.Arrange == Scatter {
			out[i] = append(out[i], m)
			continue
		}
		at[host] = len(out)
		out = append(out, []member{m})
	}
	return out
}

// hostOf returns the host that a member shares with other nodes, or "" if it shares none.
func (s *seeker) hostOf(m *member) string {
	if sp := s.spotAt(m.node, m.bucket, m.class); sp != nil {
		return sp.host
	}
	return ""
}

// assigned turns a solved assignment into allotments.
func (s *seeker) assigned(p *problem) []Allotment {
	out := make([]Allotment, len(s.Chunks))
	for i := range s.Chunks {
		need := s.Chunks[i].Count
		for a, atom := range p.atoms {
			for range p.given[a][i] {
				item := atom.items[0]
				atom.items = atom.items[1:]
				m := &item[slices.IndexFunc(item, func(m member) bool { return m.per[i] > 0 })]
				sp := s.spotAt(m.node, m.bucket, m.class)
				n := s.holds(sp, i, need)
				if need == 0 || n == 0 {
					continue
				}
				s.take(sp, i, n)
				need -= n
				out[i].Picks = append(out[i].Picks, s.pick(sp, n))
			}
		}
		if need > 0 {
			s.undo()
			return nil
		}
	}
	s.journal = s.journal[:0]
	return out
}

// packer is a search for a packing.
type packer struct {
	*seeker
	members []member
	tail    [][]int // by member: how many of each kind it and those after it could hold
	need    []int
	failed  map[string]bool
	steps   int
}

// search fills the members from at on.
func (p *packer) search(at int) bool {
	if !slices.ContainsFunc(p.need, func(n int) bool { return n > 0 }) {
		return true
	}
	for k, n := range p.need {
		if n > p.tail[at][k] {
			return false
		}
	}
	if p.steps--; p.steps < 0 {
		return false
	}
	key := string(binary.AppendUvarint([]byte(perKey(p.need)), uint64(at)))
	if p.failed[key] {
		return false
	}
	m := &p.members[at]
	sp := p.spotAt(m.node, m.bucket, m.class)
	if sp == nil {
		return p.search(at + 1)
	}
	if p.fill(sp, at, 0) {
		return true
	}
	p.failed[key] = true
	return false
}

// fill tries every way to fill a node with the kinds from kind on, most of the first kind first.
func (p *packer) fill(sp *spot, at, kind int) bool {
	if kind == len(p.Chunks) {
		return p.search(at + 1)
	}
	most := min(p.holds(sp, kind, p.need[kind]), p.members[at].per[kind])
	least := 0
	if kind == len(p.Chunks)-1 {
		least = most // no later kind could use the rest
	}
	for n := most; n >= least; n-- {
		mark := len(p.journal)
		if n > 0 {
			p.take(sp, kind, n)
			p.need[kind] -= n
		}
		if p.fill(sp, at, kind+1) {
			return true
		}
		if n > 0 {
			p.need[kind] += n
			p.undoTo(mark)
		}
		if p.steps < 0 {
			return false
		}
	}
	return false
}
