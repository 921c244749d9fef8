package placer

import (
	"encoding/binary"
	"math/bits"
)

// assigning is the search for an assignment in which nodes hold different numbers of
// a chunk. It goes from atom to atom and tries every way to share its nodes among the
// chunks. What cannot be met by the atoms that are left is given up: chunk by chunk,
// and by how many nodes several chunks need at least; and so is what was met before.
type assigning struct {
	*problem
	steps   int
	tails   []tail
	several []uint // the sets of chunks, as bits, whose nodes are counted
	failed  map[string]bool
}

// tail is what an atom and those after it could give.
type tail struct {
	sum  []int // of each chunk, were all for it
	most []int // of each chunk on one node
	// nodes is by set of chunks how many nodes serve any of them.
	nodes []int
}

// countedChunks is up to how many chunks all sets of them are looked at.
const countedChunks = 6

func newAssigning(p *problem, steps int) *assigning {
	s := &assigning{problem: p, steps: steps, failed: make(map[string]bool)}
	chunks := len(p.needs)
	if all := uint(1)<<min(chunks, 63) - 1; chunks <= countedChunks {
		for set := uint(1); set <= all; set++ {
			if bits.OnesCount(set) > 1 {
				s.several = append(s.several, set)
			}
		}
	}
	s.tails = make([]tail, len(p.atoms)+1)
	s.tails[len(p.atoms)] = tail{make([]int, chunks), make([]int, chunks), make([]int, len(s.several))}
	for a := len(p.atoms) - 1; a >= 0; a-- {
		s.tails[a] = s.tails[a+1].and(p.atoms[a], s.several)
	}
	p.reset()
	return s
}

// and is a tail that begins with an atom.
func (t tail) and(a *atom, several []uint) tail {
	out := tail{make([]int, len(t.sum)), make([]int, len(t.most)), make([]int, len(t.nodes))}
	serves := uint(0)
	for i, per := range a.per {
		out.sum[i] = t.sum[i] + a.count*per
		out.most[i] = max(t.most[i], per)
		if per > 0 && i < countedChunks {
			serves |= 1 << i
		}
	}
	for k, set := range several {
		if out.nodes[k] = t.nodes[k]; set&serves != 0 {
			out.nodes[k] += a.count
		}
	}
	return out
}

// could reports whether a tail might meet what is needed.
func (s *assigning) could(t *tail, need []int) bool {
	for i, n := range need {
		if n > t.sum[i] {
			return false
		}
	}
	for k, set := range s.several {
		nodes := 0
		for ; set != 0; set &= set - 1 {
			if i := bits.TrailingZeros(set); need[i] > 0 {
				nodes += (need[i]-1)/t.most[i] + 1
			}
		}
		if nodes > t.nodes[k] {
			return false
		}
	}
	return true
}

// search meets needs with the atoms from a on.
func (s *assigning) search(a int, need []int) verdict {
	if met(need) {
		return yes
	}
	if a == len(s.atoms) || !s.could(&s.tails[a], need) {
		return no
	}
	if s.steps--; s.steps < 0 {
		return perhaps
	}
	key := string(binary.AppendUvarint([]byte(perKey(need)), uint64(a)))
	if s.failed[key] {
		return no
	}
	v := s.share(a, 0, s.atoms[a].count, need)
	if v == no {
		s.failed[key] = true
	}
	return v
}

func met(need []int) bool {
	for _, n := range need {
		if n > 0 {
			return false
		}
	}
	return true
}

// share gives an atom's nodes to the chunks from i on, as many as are of use to the
// first of them at first.
func (s *assigning) share(a, i, left int, need []int) verdict {
	for i < len(need) && (s.atoms[a].per[i] == 0 || need[i] == 0) {
		i++
	}
	if i == len(need) || left == 0 {
		return s.search(a+1, need)
	}
	was, per := need[i], s.atoms[a].per[i]
	answer := no
	for n := min(left, (was-1)/per+1); n >= 0 && answer == no; n-- {
		s.given[a][i], need[i] = n, max(0, was-n*per)
		answer = s.share(a, i+1, left-n, need)
	}
	if need[i] = was; answer != yes {
		s.given[a][i] = 0
	}
	return answer
}
