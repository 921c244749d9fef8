package plan

import (
	"strings"

	"github.com/placectl/placectl/query/fault"
	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/tables"
)

// A query in FROM, or a view, that is not read as its table (flatten.go) runs by itself. If the outer
// query has a condition on a column that the inner one only passes on, the condition becomes a hint. The
// inner tables then leave out rows that they know not to match, by sets or by the order of rows. The
// outer query checks the condition in any case, so a hint may be left unused.

// hint records the conditions of the outer WHERE on the columns of a FROM item's query. names are the
// new names of columns, if there are any. Call the result to remove the hint.
func (s *scope) hint(f *syntax.FromItem, x *syntax.Select, names []syntax.Name) (forget func()) {
	none := func() {}
	if s.asked == nil || f.Join == syntax.LeftJoin || !handsOn(x) || len(names) > 0 && len(names) != len(x.Columns) {
		return none
	}
	alias := f.Alias
	if alias == "" {
		alias = f.Table
	}
	var hints []syntax.Expr
	for _, cond := range s.asked {
		at := func(column, value syntax.Expr) *syntax.ColumnRef {
			ref, ok := column.(*syntax.ColumnRef)
			if !ok || !constant(value) || !strings.EqualFold(ref.Table, alias) && (ref.Table != "" || !s.alone) {
				return nil
			}
			return handedOn(x, names, ref)
		}
		switch b := cond.(type) {
		case *syntax.Binary:
			if ref := at(b.X, b.Y); ref != nil && mirrored[b.Op] != "" {
				hints = append(hints, &syntax.Binary{Span: b.Span, Op: b.Op, X: ref, Y: b.Y})
			} else if ref := at(b.Y, b.X); ref != nil && mirrored[b.Op] != "" {
				hints = append(hints, &syntax.Binary{Span: b.Span, Op: b.Op, X: b.X, Y: ref})
			}
		case *syntax.Between:
			if ref := at(b.X, b.Lo); ref != nil && constant(b.Hi) && !b.Not {
				hints = append(hints, &syntax.Between{Span: b.Span, X: ref, Lo: b.Lo, Hi: b.Hi})
			}
		}
	}
	if len(hints) == 0 {
		return none
	}
	if s.c.hints == nil {
		s.c.hints = make(map[*syntax.Select][]syntax.Expr)
	}
	s.c.hints[x] = hints
	return func() { delete(s.c.hints, x) }
}

// hinting records a SELECT's conditions, for hint.
func (s *scope) hinting(x *syntax.Select, from []syntax.FromItem) {
	for i := range from {
		if from[i].Join == syntax.RightJoin || from[i].Join == syntax.FullJoin {
			return
		}
	}
	s.asked, s.alone = append(conjuncts(x.Where), s.c.hints[x]...), len(from) == 1
}

// handsOn reports whether each row of a query comes from one row of each of its tables and nothing else.
// Then leaving out a row changes no other.
func handsOn(x *syntax.Select) bool {
	if x.Rest != nil || x.Values != nil || x.Distinct || x.GroupBy != nil || x.Having != nil || x.Windows != nil ||
		x.Limit != nil || x.Offset != nil {
		return false
	}
	for i := range x.Columns {
		if !x.Columns[i].Star && gathers(x.Columns[i].X) {
			return false
		}
	}
	for i := range x.OrderBy {
		if gathers(x.OrderBy[i].X) {
			return false
		}
	}
	return true
}

// gathers reports whether an expression contains an aggregate or a window function.
func gathers(x syntax.Expr) bool {
	if call, ok := x.(*syntax.Call); ok {
		if _, ok := aggregateOf(call); ok || call.Over != nil {
			return true
		}
	}
	for _, child := range syntax.Children(x) {
		if gathers(child) {
			return true
		}
	}
	return false
}

// constant reports whether an expression uses no columns.
func constant(x syntax.Expr) bool {
	switch x := x.(type) {
	case *syntax.Literal, *syntax.Param:
		return true
	case *syntax.Unary, *syntax.Binary, *syntax.Call:
		if gathers(x) {
			return false
		}
		for _, child := range syntax.Children(x) {
			if !constant(child) {
				return false
			}
		}
		return true
	}
	return false
}

// handedOn returns the name of a column inside the query; nil if it is not a column, or not the only one of
// its name.
func handedOn(x *syntax.Select, names []syntax.Name, ref *syntax.ColumnRef) *syntax.ColumnRef {
	var hit *syntax.ColumnRef
	n := 0
	for i := range x.Columns {
		c := &x.Columns[i]
		inside, _ := c.X.(*syntax.ColumnRef)
		name := c.Alias
		switch {
		case c.Star && len(names) > 0:
			return nil
		case c.Star: // it has the same name inside, if it is one of them
			inside = &syntax.ColumnRef{Span: ref.Span, Table: c.Table, Name: ref.Name}
			name = ref.Name
		case len(names) > 0:
			name = names[i].Text
		case name == "" && inside != nil:
			name = inside.Name
		}
		if strings.EqualFold(name, ref.Name) {
			hit, n = inside, n+1
		}
	}
	if n != 1 {
		return nil
	}
	return hit
}

// takeHints lets the tables of a query leave out rows that the outer query does not need.
func (p *draft) takeHints(s *scope, byslot map[int]*step) {
	if p.NoIndex || p.bare && len(p.steps) == 1 && len(p.steps[0].Filters) == 0 {
		return
	}
	for _, x := range p.hints {
		for _, child := range syntax.Children(x) {
			if ref := asColumn(child); ref != nil {
				if at, ok := s.local(ref); ok && s.mergedOf(ref, at) == nil && !byslot[at.src.Slot].Left {
					byslot[at.src.Slot].take(s, x)
				}
			}
		}
	}
}

// take narrows the step by a hint about its table alone. The outer query reports errors in it.
func (st *step) take(s *scope, x syntax.Expr) {
	if _, ok := st.src.Table.(tables.Ordered); !ok {
		if _, ok := st.src.Table.(tables.Indexed); !ok {
			return
		}
	}
	before := s.looked()
	defer func() {
		for _, src := range s.sources {
			copy(src.Used, before[src.Slot])
		}
	}()
	var err error
	func() {
		defer fault.Rescue(&err)
		c := &condition{x: x, code: s.compile(x)}
		if c.code.Uses == exec.Slots(1)<<st.src.Slot && !st.push(s, c) {
			st.narrow(s, c)
		}
	}()
}
