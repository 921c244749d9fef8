package query

import (
	"strconv"
)

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
