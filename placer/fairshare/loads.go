package fairshare

import (
	"cmp"
	"slices"
)

// line orders the classes, one row each: by load, the greatest first, then by
// State.ClassOrder, then by name. Roundings favour the first class.
func (p *Planner) line(s *State) {
	n := len(s.Classes)
	p.order = slices.Grow(p.order[:0], n)[:n]
	sorted := true
	for i := range p.order {
		p.order[i] = i
		sorted = sorted && (i == 0 || s.compare(i-1, i) <= 0)
	}
	if !sorted {
		slices.SortFunc(p.order, s.compare)
	}
	p.rows = slices.Grow(p.rows[:0], n)[:n]
	for i, at := range p.order {
		c := &s.Classes[at]
		p.rows[i] = row{load: int64(c.Load), running: int64(c.Running), waiting: int64(c.Waiting)}
	}
}

func (s *State) compare(i, j int) int {
	a, b := &s.Classes[i], &s.Classes[j]
	if a.Load != b.Load {
		return cmp.Compare(b.Load, a.Load)
	}
	if len(s.ClassOrder) > 0 {
		if order := cmp.Compare(s.named(a.Name), s.named(b.Name)); order != 0 {
			return order
		}
	}
	if order := cmp.Compare(a.Name, b.Name); order != 0 {
		return order
	}
	return cmp.Compare(i, j)
}

// named returns a class's place in ClassOrder, or the place after the last if it is not there.
func (s *State) named(name string) int {
	if at := slices.Index(s.ClassOrder, name); at >= 0 {
		return at
	}
	return len(s.ClassOrder)
}

// entitle sets percentages and targets. Every class but the first gets a quotient rounded down, and the
// first gets the rest.
func (p *Planner) entitle(workers int64) {
	if len(p.rows) == 0 {
		return
	}
	sum := int64(0)
	for i := range p.rows {
		sum += p.rows[i].load
	}
	pct, rest := int64(100), workers
	for i := range p.rows[1:] {
		r := &p.rows[i+1]
		r.pct = r.load * 100 / sum
		r.target = workers * r.pct / 100
		pct -= r.pct
		rest -= r.target
	}
	p.rows[0].pct, p.rows[0].target = pct, rest
}
