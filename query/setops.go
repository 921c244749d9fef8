package query

// compound compiles UNION and the like, without an order and a limit.
func (c *compiler) compound(x *Select, parent *scope) *compound {
	first := *x
	first.With, first.Rest, first.OrderBy, first.Limit, first.Offset = nil, nil, nil, nil, nil
	out := &compound{}
	c.addArm(out, x, c.compileSelect(&first, parent), 0)
	for _, arm := range x.Rest {
		c.addArm(out, arm.Select, c.compileSelect(arm.Select, parent), arm.Op)
	}
	return out
}

// addArm adds an arm. The columns are called as those of the first; their types are those of
// all arms, or none.
func (c *compiler) addArm(s *compound, node Node, arm producer, op SetOp) {
	columns, outer := arm.shape()
	if p, ok := arm.(*selectPlan); ok {
		for i := range p.out {
			if p.out[i].collate != ByBytes {
				c.fail(node, "COLLATE is not supported in the columns of queries that are joined")
			}
		}
	}
	if len(s.arms) > 0 && len(columns) != len(s.columns) {
		c.fail(node, "queries that are joined have as many columns: %d here, %d before", len(columns), len(s.columns))
	}
	if len(s.arms) == 0 {
		s.columns = append([]Column(nil), columns...)
	}
	for i := range s.columns {
		mine := &s.columns[i]
		before := mine.Unit
		if mine.Unit = c.sameUnit(node, before, columns[i].Unit); mine.Unit != before {
			for _, other := range s.arms {
				c.readColumn(other, i, mine.Unit)
			}
		}
		c.readColumn(arm, i, mine.Unit)
		mine.NotNull = mine.NotNull && columns[i].NotNull
		mine.Domain, mine.Refuse = "", nil
		if t := columns[i].Type; mine.Type != t && (mine.Type == TextAffinity || t == TextAffinity || t == NoAffinity) {
			mine.Type = NoAffinity
		}
	}
	s.arms, s.ops, s.outer = append(s.arms, arm), append(s.ops, op), s.outer|outer
}

// readColumn reads a result column in the unit that another query's has there.
func (c *compiler) readColumn(arm producer, i int, u Unit) {
	if p, ok := arm.(*selectPlan); ok && u.measured() && p.out[i].unit != u {
		s := &scope{c: c}
		p.out[i] = s.read(p.out[i], u, &ColumnRef{span: at(p.at, p.at), Name: p.columns[i].Name})
	}
}

// orderOfAll makes numbers of the terms of an ORDER BY behind UNION and the like: they
// name result columns, or are what is one in some arm.
func (c *compiler) orderOfAll(x *Select, columns []Column) []OrderTerm {
	out := append([]OrderTerm(nil), x.OrderBy...)
	for i := range out {
		term := out[i].X
		collated, isCollate := term.(*Collate)
		if isCollate {
			term = collated.X
		}
		column := c.resultColumn(x, columns, term)
		if column == 0 {
			c.fail(term, "ORDER BY behind UNION and the like takes result columns: %s is none", term)
		}
		var number Expr = &Literal{span: at(term.Pos(), term.End()), Value: Int(int64(column))}
		if isCollate {
			number = &Collate{collated.span, number, collated.To}
		}
		out[i].X = number
	}
	return out
}

// resultColumn is the number of the result column that an expression names, 0 for none.
func (c *compiler) resultColumn(x *Select, columns []Column, term Expr) int {
	if n, ok := ordinal(term); ok {
		if n < 1 || int(n) > len(columns) {
			c.fail(term, "ORDER BY %d: there are %d result columns", n, len(columns))
		}
		return int(n)
	}
	arms := []*Select{x}
	for _, arm := range x.Rest {
		arms = append(arms, arm.Select)
	}
	ref := asColumn(term)
	for _, arm := range arms {
		for i := range arm.Columns {
			col := &arm.Columns[i]
			if ref != nil && ref.Table == "" && lowerASCII(col.Alias) == lowerASCII(ref.Name) && len(arm.Columns) == len(columns) {
				return i + 1
			}
		}
	}
	for i := range columns {
		if ref != nil && ref.Table == "" && lowerASCII(columns[i].Name) == lowerASCII(ref.Name) {
			return i + 1
		}
	}
	for _, arm := range arms {
		for i := range arm.Columns {
			if col := &arm.Columns[i]; col.X != nil && col.X.String() == term.String() && len(arm.Columns) == len(columns) {
				return i + 1
			}
		}
	}
	return 0
}
