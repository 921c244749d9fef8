package plan

import (
	"strconv"

	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/internal/functions"
)

// A column beside aggregates that is no key of the groups is, as in SQLite, that of the
// first row of the group; beside min() or max() that of the row which has the smallest or
// largest value.

// bare is the code of such a column.
func (s *scope) bare(f found) exec.Code {
	g := s.group
	at := strconv.Itoa(f.src.Slot) + "." + strconv.Itoa(f.col)
	if a := g.byCanon["bare "+at]; a != nil {
		return g.result(a)
	}
	a := &exec.Aggregate{Bare: true, Made: s.c.nmade, Name: f.src.Columns[f.col].Name, Args: []exec.Code{f.code()}}
	a.KeepsUnit = true
	a.AggregateKind.Result = functions.BestResult
	s.c.nmade++
	g.byCanon["bare "+at] = a
	g.Bares = append(g.Bares, a)
	return g.result(a)
}
