package placer

import (
	"cmp"
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
