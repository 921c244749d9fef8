package placer

// problem is an assignment to be found: given[a][i] nodes of atom a to chunk i.
type problem struct {
	atoms []*atom
	needs []int
	given [][]int
	steps int
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

// firstFit tries the chunks in order, each on the atoms in order.
func (p *problem) firstFit() bool {
	left := make([]int, len(p.atoms))
	for a, atom := range p.atoms {
		left[a] = atom.count
	}
	for i, need := range p.needs {
		for a, atom := range p.atoms {
			if need <= 0 {
				break
			}
			if per := atom.per[i]; per > 0 {
				n := min(left[a], (need+per-1)/per)
				left[a] -= n
				need -= n * per
			}
		}
		if need > 0 {
			return false
		}
	}
	return true
}

// solve finds an assignment or shows that there is none.
func (p *problem) solve() verdict {
	p.reset()
	if needs, ok := p.inNodes(); ok {
		return p.flow(needs)
	}
	left := make([]int, len(p.atoms))
	for a, atom := range p.atoms {
		left[a] = atom.count
	}
	p.steps = searchSteps
	if len(p.needs) == 0 {
		return yes
	}
	return p.search(0, 0, p.needs[0], left)
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

// search tries every number of nodes of atom a for chunk i, the largest useful
// one first.
func (p *problem) search(i, a, need int, left []int) verdict {
	if need <= 0 {
		if i+1 == len(p.needs) {
			return yes
		}
		return p.search(i+1, 0, p.needs[i+1], left)
	}
	if a == len(p.atoms) {
		return no
	}
	if p.steps--; p.steps < 0 {
		return perhaps
	}
	per := p.atoms[a].per[i]
	most := 0
	if per > 0 {
		most = min(left[a], (need+per-1)/per)
	}
	answer := no
	for n := most; n >= 0; n-- {
		left[a] -= n
		p.given[a][i] = n
		v := p.search(i, a+1, need-n*per, left)
		left[a] += n
		if v == yes {
			return yes
		}
		answer = max(answer, v)
		if answer == perhaps {
			break
		}
	}
	p.given[a][i] = 0
	return answer
}
