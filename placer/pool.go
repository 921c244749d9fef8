package placer

import (
	"cmp"
	"iter"
	"slices"

	"github.com/placectl/placectl/index"
)

// Some policies choose nodes that belong together: in a row, of one speed, behind one switch. They
// see all nodes that could serve the request, the pool. They propose parts of it, the best first,
// and the first part that holds the request is taken.

// member is a node of the pool, with how many chunks of each kind it could hold.
type member struct {
	found
	level level
	per   []int
	speed float64 // for maxbalance
	leaf  int32   // for topology: its leaf switch
}

// pool returns all nodes that could serve a chunk, in node order.
func (s *seeker) pool(cands [][]index.Candidate) []member {
	at := make(map[uint32]int) // with one kind of chunk no node comes twice
	several := len(s.Chunks) > 1
	if s.policy == Topology {
		s.net = s.network()
	}
	var out []member
	for kind := range s.Chunks {
		out = slices.Grow(out, s.mostOf(cands[kind]))
		rooms := s.roomsFor(kind)
		add := func(f found) {
			n := rooms.on(f)
			if n == 0 {
				return
			}
			i, known := at[f.node]
			if !known {
				i = len(out)
				out = append(out, s.member(f, &rooms.spot))
			}
			if several && !known {
				at[f.node] = i
			}
			out[i].per[kind] = n
		}
		for f := range s.inOrder(kind, cands[kind]) {
			if len(s.Grants) == 0 || !s.granting().Contains(f.node) {
				add(f)
			}
		}
		if len(s.Grants) == 0 {
			continue
		}
		for it := s.granting().Iterator(); it.HasNext(); {
			if g := s.grantedSpot(it.Next(), cands[kind]); g != nil {
				add(found{g.node, g.bucket, g.class})
			}
		}
	}
	inOrder := func(a, b member) int {
		return cmp.Or(cmp.Compare(b.bucket.Priority, a.bucket.Priority), cmp.Compare(a.node, b.node))
	}
	if !slices.IsSortedFunc(out, inOrder) {
		slices.SortFunc(out, inOrder)
	}
	return out
}

// mostOf returns how many nodes candidates that are whole buckets could yield.
func (s *seeker) mostOf(cands []index.Candidate) (n int) {
	for _, c := range cands {
		if count := &c.Bucket.Count; c.Cells[0].Nodes == nil {
			n += int(count[index.Free] + count[index.Later])
			if s.shares || s.ended != nil || s.empty {
				n += int(count[index.Busy])
			}
		}
	}
	return n
}

// member makes a pool member from a spot.
func (s *seeker) member(f found, sp *spot) member {
	n := len(s.Chunks)
	if len(s.pers) < n {
		s.pers = make([]int, max(n, 1024))
	}
	m := member{found: f, level: sp.level, per: s.pers[:n:n]}
	s.pers = s.pers[n:]
	switch s.policy {
	case MaxBalance:
		m.speed = s.speed(sp)
	case Topology:
		m.leaf = s.net.leaf(sp)
	}
	return m
}

// byPool serves the request from the best part of the pool, by a shortcut if that serves it.
func (s *seeker) byPool(cands [][]index.Candidate) ([]Allotment, shortfall) {
	if order := s.shortcut(cands); order != nil {
		if chunks, _ := s.handOut(order); chunks != nil {
			return chunks, shortfall{}
		}
	}
	return s.bestPart(cands)
}

// bestPart tries the parts of the whole pool that the policy proposes. It first uses the nodes of the
// best reservation affinity, then adds those of the next.
func (s *seeker) bestPart(cands [][]index.Candidate) ([]Allotment, shortfall) {
	all := s.pool(cands)
	var short shortfall
	for upTo := required; upTo <= repelled; upTo++ {
		members := all
		if upTo < repelled {
			if !slices.ContainsFunc(all, func(m member) bool { return m.level == upTo }) {
				continue
			}
			members = slices.DeleteFunc(slices.Clone(all), func(m member) bool { return m.level > upTo })
		}
		if !s.enough(members) {
			short = s.lacks(members)
			continue
		}
		for part := range s.parts(members) {
			chunks, missing := s.handOut(s.from(part))
			if chunks == nil && s.exact {
				chunks = s.settle(part)
			}
			if chunks != nil {
				return chunks, shortfall{}
			}
			short = missing
		}
	}
	if len(all) == 0 {
		short = s.lacks(nil)
	}
	return nil, short
}

// parts proposes parts of the pool, the best first.
func (s *seeker) parts(members []member) iter.Seq[[]member] {
	switch s.policy {
	case Contiguous:
		return s.runs(members)
	case MaxBalance:
		return s.balanced(members)
	}
	return s.underSwitches(members)
}

// from returns a part's nodes in their given order.
func (s *seeker) from(part []member) ordered {
	return func(kind int) iter.Seq[*spot] {
		return func(yield func(*spot) bool) {
			for i := range part {
				if m := &part[i]; m.per[kind] > 0 {
					if sp := s.spotAt(m.node, m.bucket, m.class); sp != nil && !yield(sp) {
						return
					}
				}
			}
		}
	}
}

// enough reports whether members hold every chunk, each counted alone.
func (s *seeker) enough(members []member) bool { return s.lacks(members).cands == nil }

var lacking = [][]index.Candidate{}

// lacks returns the first chunk that members cannot hold completely; its cands are nil if there is
// none.
func (s *seeker) lacks(members []member) shortfall {
	for i, c := range s.Chunks {
		n := 0
		for k := range members {
			if n += members[k].per[i]; n >= c.Count {
				break
			}
		}
		if n < c.Count {
			return shortfall{chunk: i, found: n, cands: lacking}
		}
	}
	return shortfall{}
}

// maxParts limits how many parts are proposed before the whole pool is tried.
const maxParts = 64

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// Candidates returns the numbers of the nodes that could serve some chunk of a request at an
// instant, in node order. A site's own policy chooses from them.
func (s *Snapshot) Candidates(a Ask, at int64) ([]uint32, error) {
	var m mapping
	a.Policy = Local
	if err := m.prepare(s, a); err != nil {
		return nil, err
	}
	var out []uint32
	for _, one := range m.seek(at, m.endedBy(at), false).pool(m.whole) {
		out = append(out, one.node)
	}
	return out, s.orFailure(nil)
}
