package query

import "strconv"

// A column beside aggregates that is no key of the groups is, as in SQLite, that of the
// first row of the group; beside min() or max() that of the row which has the smallest or
// largest value.

// bare is the code of such a column.
func (s *scope) bare(f found) code {
	g := s.group
	at := strconv.Itoa(f.src.slot) + "." + strconv.Itoa(f.col)
	if a := g.byCanon["bare "+at]; a != nil {
		return g.result(a)
	}
	a := &aggregate{bare: true, made: s.c.nmade, name: f.src.columns[f.col].Name, args: []code{f.code()}}
	a.keepsUnit = true
	a.aggregateKind.result = bestResult
	s.c.nmade++
	g.byCanon["bare "+at] = a
	g.bares = append(g.bares, a)
	return g.result(a)
}

// takeBare notes the columns of the row at hand, where they are those of the group.
func (g *grouping) takeBare(e *env, states []*state, first, hit bool) {
	if !first && !hit {
		return
	}
	for i, a := range g.bares {
		states[len(g.aggs)+i].best = a.args[0].eval(e)
	}
}

// decider is the min() or max() whose row bare columns are of: the last one.
func (g *grouping) decider() int {
	for i := len(g.aggs) - 1; i >= 0; i-- {
		if a := g.aggs[i]; a.best && a.order == nil {
			return i
		}
	}
	return -1
}
