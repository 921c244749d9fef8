package placer

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
)

// problem is an assignment problem; given[a][i] is the number of nodes of atom a that chunk i gets.
type problem struct {
	atoms []*atom
	needs []int
	given [][]int
}

type verdict uint8

const (
	no verdict = iota
	perhaps
	yes
)

func (p *problem) reset() {
	p.given = make([][]int, len(p.atoms))
	for a := range p.given {
		p.given[a] = make([]int, len(p.needs))
	}
}

// solve finds an assignment, or shows that none exists, within the given steps of search. It
// returns the steps that are left. The answer does not depend on the order of the atoms.
func (p *problem) solve(steps int) (verdict, int) {
	slices.SortFunc(p.atoms, func(a, b *atom) int {
		return cmp.Or(cmp.Compare(a.kinds(), b.kinds()), slices.Compare(b.per, a.per))
	})
	inOrder := make([]int, len(p.needs))
	for i := range inOrder {
		inOrder[i] = i
	}
	if p.firstFit(inOrder, false) {
		return yes, steps
	}
	if needs, ok := p.inNodes(); ok {
		p.reset()
		return p.flow(needs), steps
	}
	scarce := slices.Clone(inOrder)
	slices.SortStableFunc(scarce, func(i, j int) int { return cmp.Compare(p.plenty(i), p.plenty(j)) })
	if p.firstFit(scarce, false) || p.firstFit(inOrder, true) || p.firstFit(scarce, true) {
		return yes, steps
	}
	s := newAssigning(p, steps)
	v := s.search(0, slices.Clone(p.needs))
	return v, max(s.steps, 0)
}

// kinds returns the number of kinds of chunks that an atom serves.
func (a *atom) kinds() int {
	n := 0
	for _, per := range a.per {
		if per > 0 {
			n++
		}
	}
	return n
}

// plenty returns how many times over all nodes together could hold a chunk's count.
func (p *problem) plenty(i int) float64 {
	sum := 0
	for _, a := range p.atoms {
		sum += a.count * a.per[i]
	}
	return float64(sum) / float64(max(1, p.needs[i]))
}

// firstFit serves the chunks in the given order. Each takes atoms in their order or, by advantage,
// those first that are worth least to the chunks after it.
func (p *problem) firstFit(order []int, byAdvantage bool) bool {
	p.reset()
	left := make([]int, len(p.atoms))
	at := make([]int, len(p.atoms))
	for a, atom := range p.atoms {
		left[a], at[a] = atom.count, a
	}
	for k, i := range order {
		if byAdvantage {
			slices.SortStableFunc(at, func(a, b int) int {
				return cmp.Compare(p.atoms[b].advantage(i, order[k+1:]), p.atoms[a].advantage(i, order[k+1:]))
			})
		}
		need := p.needs[i]
		for _, a := range at {
			if per := p.atoms[a].per[i]; per > 0 && need > 0 {
				n := min(left[a], (need+per-1)/per)
				left[a] -= n
				p.given[a][i] = n
				need -= n * per
			}
		}
		if need > 0 {
			return false
		}
	}
	return true
}

// advantage compares how many of a chunk a node holds with how many it would hold of others.
func (a *atom) advantage(i int, others []int) float64 {
	sum := 0
	for _, j := range others {
		sum += a.per[j]
	}
	return float64(a.per[i]) / float64(1+sum)
}

// inNodes turns the needs into numbers of nodes, if every node that serves a chunk holds the same
// number of it.
func (p *problem) inNodes() ([]int, bool) {
	out := make([]int, len(p.needs))
	for i, need := range p.needs {
		per := 0
		for _, a := range p.atoms {
			if a.per[i] > 0 && per > 0 && a.per[i] != per {
				return nil, false
			}
			per = max(per, a.per[i])
		}
		if per == 0 {
			return nil, need == 0
		}
		out[i] = (need + per - 1) / per
	}
	return out, true
}

// flow serves each chunk by augmenting paths (Ford and Fulkerson, 1956): a chunk takes over nodes
// of another if that one finds others.
func (p *problem) flow(needs []int) verdict {
	left := make([]int, len(p.atoms))
	for a, atom := range p.atoms {
		left[a] = atom.count
	}
	for i, need := range needs {
		for need > 0 {
			n := p.augment(i, need, left, make([]bool, len(p.atoms)))
			if n == 0 {
				return no
			}
			need -= n
		}
	}
	return yes
}

// augment gives chunk i up to want more nodes and returns how many it gave.
func (p *problem) augment(i, want int, left []int, seen []bool) int {
	for a, atom := range p.atoms {
		if atom.per[i] > 0 && left[a] > 0 {
			n := min(want, left[a])
			left[a] -= n
			p.given[a][i] += n
			return n
		}
	}
	for a, atom := range p.atoms {
		if atom.per[i] == 0 || seen[a] {
			continue
		}
		seen[a] = true
		for j := range p.needs {
			if j == i || p.given[a][j] == 0 {
				continue
			}
			if n := p.augment(j, min(want, p.given[a][j]), left, seen); n > 0 {
				p.given[a][j] -= n
				p.given[a][i] += n
				return n
			}
		}
	}
	return 0
}

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
