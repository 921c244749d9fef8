package plan

import (
	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// compound compiles UNION and the like, without order and limit.
func (c *compiler) compound(x *syntax.Select, parent *scope) *exec.Compound {
	first := *x
	first.With, first.Rest, first.OrderBy, first.Limit, first.Offset = nil, nil, nil, nil, nil
	out := &exec.Compound{}
	c.addArm(out, x, c.compileSelect(&first, parent), 0)
	for _, arm := range x.Rest {
		c.addArm(out, arm.Select, c.compileSelect(arm.Select, parent), arm.Op)
	}
	return out
}

// addArm adds an arm. The columns have the names of the first one's. A type is kept if all arms have it.
func (c *compiler) addArm(s *exec.Compound, node syntax.Node, arm exec.Producer, op syntax.SetOp) {
	columns, outer := arm.Shape()
	if len(s.Arms) > 0 && len(columns) != len(s.Columns) {
		c.fail(node, "queries that are joined have as many columns: %d here, %d before", len(columns), len(s.Columns))
	}
	if len(s.Arms) == 0 {
		s.Columns = append([]tables.Column(nil), columns...)
	}
	for i := range s.Columns {
		mine := &s.Columns[i]
		before := mine.Unit
		if mine.Unit = c.sameUnit(node, before, columns[i].Unit); mine.Unit != before {
			for _, other := range s.Arms {
				c.readColumn(other, i, mine.Unit)
			}
		}
		c.readColumn(arm, i, mine.Unit)
		mine.NotNull = mine.NotNull && columns[i].NotNull
		mine.Domain, mine.Refuse = "", nil
		if t := columns[i].Type; mine.Type != t && (mine.Type == values.TextAffinity || t == values.TextAffinity ||
			t == values.NoAffinity) {
			mine.Type = values.NoAffinity
		}
	}
	s.Arms, s.Ops, s.Outer = append(s.Arms, arm), append(s.Ops, op), s.Outer|outer
}

// readColumn reads a result column in the unit of another query's.
func (c *compiler) readColumn(arm exec.Producer, i int, u tables.Unit) {
	if p, ok := arm.(*exec.Plan); ok && u.Measured() && p.Out[i].Unit != u {
		s := &scope{c: c}
		p.Out[i] = s.read(p.Out[i], u, &syntax.ColumnRef{Span: syntax.At(p.At, p.At), Name: p.Columns[i].Name})
	}
}

// orderOfAll turns the terms of an ORDER BY after UNION and the like into numbers. They name result
// columns, or equal one in some arm.
func (c *compiler) orderOfAll(x *syntax.Select, columns []tables.Column) []syntax.OrderTerm {
	out := append([]syntax.OrderTerm(nil), x.OrderBy...)
	for i := range out {
		term := out[i].X
		column := c.resultColumn(x, columns, term)
		if column == 0 {
			c.fail(term, "ORDER BY behind UNION and the like takes result columns: %s is none", term)
		}
		out[i].X = &syntax.Literal{Span: syntax.At(term.Pos(), term.End()), Value: values.Int(int64(column))}
	}
	return out
}

// resultColumn returns the number of the result column that an expression names, or 0.
func (c *compiler) resultColumn(x *syntax.Select, columns []tables.Column, term syntax.Expr) int {
	if n, ok := ordinal(term); ok {
		if n < 1 || int(n) > len(columns) {
			c.fail(term, "ORDER BY %d: there are %d result columns", n, len(columns))
		}
		return int(n)
	}
	arms := []*syntax.Select{x}
	for _, arm := range x.Rest {
		arms = append(arms, arm.Select)
	}
	ref := asColumn(term)
	for _, arm := range arms {
		for i := range arm.Columns {
			col := &arm.Columns[i]
			if ref != nil && ref.Table == "" && values.Lower(col.Alias) == values.Lower(ref.Name) &&
				len(arm.Columns) == len(columns) {
				return i + 1
			}
		}
	}
	for i := range columns {
		if ref != nil && ref.Table == "" && values.Lower(columns[i].Name) == values.Lower(ref.Name) {
			return i + 1
		}
	}
	for _, arm := range arms {
		for i := range arm.Columns {
			if col := &arm.Columns[i]; col.X != nil && col.X.String() == term.String() && len(arm.Columns) == len(
				columns) {
				return i + 1
			}
		}
	}
	return 0
}
