package plan

import (
	"strconv"

	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/internal/functions"
)

// A column beside aggregates that is not a key has, as in SQLite, the value in the group's
// first row. With min() or max() it has the value in the row with the smallest or largest
// value.

// bare returns the code of such a column.
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
