package query

// plainOrder compiles a term of an order that is not of the result.
func (s *scope) plainOrder(t *OrderTerm) orderKey {
	code := s.compile(t.X)
	return orderKey{column: -1, code: code, desc: t.Desc, nulls: t.Nulls, coll: code.collate, words: t.String()}
}

// ordering compiles ORDER BY.
func (s *scope) ordering(p *selectPlan, x *Select, list []ResultColumn) {
	for i := range x.OrderBy {
		t := &x.OrderBy[i]
		k := orderKey{column: -1, desc: t.Desc, nulls: t.Nulls, words: t.String()}
		expr := t.X
		collated, isCollate := expr.(*Collate)
		if isCollate {
			expr = collated.X
		}
		if n, ok := ordinal(expr); ok {
			if n < 1 || n > int64(len(list)) {
				s.c.fail(expr, "ORDER BY %d: there are %d result columns", n, len(list))
			}
			k.column = int(n - 1)
		} else if ref, ok := expr.(*ColumnRef); ok && ref.Table == "" {
			for at := range list {
				if k.column < 0 && list[at].Alias != "" && lowerASCII(list[at].Alias) == lowerASCII(ref.Name) {
					k.column = at
				}
			}
		}
		if k.column < 0 {
			canon := s.canon(expr)
			for at := range list {
				if k.column < 0 && s.canon(list[at].X) == canon {
					k.column = at
				}
			}
		}
		if k.column >= 0 {
			k.coll = p.out[k.column].collate
		} else {
			if p.distinct {
				s.c.fail(expr, "with DISTINCT, ORDER BY takes result columns only")
			}
			k.code = s.compile(expr)
			k.coll = k.code.collate
		}
		if isCollate {
			k.coll = collated.To
		}
		p.order = append(p.order, k)
	}
	if p.distinct {
		for i := range p.out {
			if p.out[i].collate != ByBytes {
				s.c.fail(list[i].X, "COLLATE and DISTINCT together are not supported")
			}
		}
	}
}
