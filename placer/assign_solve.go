package placer

import (
	"cmp"
	"slices"
)

// problem is an assignment to be found: given[a][i] nodes of atom a to chunk i.
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

// solve finds an assignment or shows that there is none, in so many steps of search;
// it returns how many are left. Equal nodes and needs have equal answers, whatever
// order the atoms come in.
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

// kinds is how many kinds of chunks an atom serves.
func (a *atom) kinds() int {
	n := 0
	for _, per := range a.per {
		if per > 0 {
			n++
		}
	}
	return n
}

// plenty is how often all nodes together could hold a chunk's count.
func (p *problem) plenty(i int) float64 {
	sum := 0
	for _, a := range p.atoms {
		sum += a.count * a.per[i]
	}
	return float64(sum) / float64(max(1, p.needs[i]))
}

// firstFit tries the chunks in an order, each on the atoms in theirs or, by advantage,
// first on those that are worth least to the chunks after it.
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

// advantage is what a node holds of a chunk beside what it would hold of others.
func (a *atom) advantage(i int, others []int) float64 {
	sum := 0
	for _, j := range others {
		sum += a.per[j]
	}
	return float64(a.per[i]) / float64(1+sum)
}

// inNodes turns the needs into numbers of nodes, where every node that serves a
// chunk holds equally many of it.
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

// flow serves each chunk by augmenting paths (Ford and Fulkerson, 1956): nodes
// that another chunk holds are taken over when that one finds others.
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

// augment gives chunk i up to want more nodes and returns how many.
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
