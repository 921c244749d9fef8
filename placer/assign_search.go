package placer

import (
	"encoding/binary"
	"math/bits"
)

// assigning searches for an assignment if nodes hold different numbers of a chunk. It goes from
// atom to atom and tries every way to share its nodes among the chunks. It gives up a branch if the
// remaining atoms cannot meet the needs: of each chunk alone, or in nodes that several chunks need
// together. It also gives up a state that it has seen before.
type assigning struct {
	*problem
	steps   int
	tails   []tail
	several []uint // bit sets of the chunks whose nodes are counted together
	failed  map[string]bool
}

// tail describes how much an atom and those after it could hold.
type tail struct {
	sum  []int // of each chunk, if it got all nodes
	most []int // of each chunk, the most on one node
	// nodes counts, for each set of chunks, the nodes that serve any of them.
	nodes []int
}

// countedChunks is the largest number of chunks for which all their sets are examined.
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

// and returns the tail that begins with an atom and goes on with t.
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

// could reports whether a tail might meet the needs.
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

// search tries to meet the needs with the atoms from a on.
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

// share gives an atom's nodes to the chunks from i on. It first gives the first chunk as many as it
// can use.
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
