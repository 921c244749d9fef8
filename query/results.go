package query

// expand lists the result columns with stars written out.
func (s *scope) expand(x *Select, all bool) []ResultColumn {
	var out []ResultColumn
	for _, c := range x.Columns {
		if !c.Star {
			out = append(out, c)
			continue
		}
		n := len(out)
		for _, src := range s.sources {
			for i := range src.columns {
				if c.Table != "" && !src.called(c.Table, i) {
					continue
				}
				col := &src.columns[i]
				if !all && (c.Table == "" && src.merged[lowerASCII(col.Name)] || c.Table == "" && src.hides(i)) {
					continue
				}
				out = append(out, ResultColumn{span: c.span, X: s.starColumn(&c, src, i), Text: col.Name})
			}
		}
		if len(out) == n {
			if c.Table == "" {
				s.c.fail(&c, "* needs a FROM")
			}
			s.missing(&ColumnRef{c.span, c.Table, "*"})
		}
		if len(out) > maxColumns {
			s.c.fail(&c, "more than %d columns", maxColumns)
		}
	}
	return out
}

// exactColumn is a column that a star stands for: it needs no looking up.
type exactColumn struct {
	ColumnRef
	at found
}

// results compiles the result columns.
func (s *scope) results(p *selectPlan, list []ResultColumn) {
	for i := range list {
		c := s.compile(list[i].X)
		name := list[i].Alias
		if name == "" {
			name = list[i].Text
			if merged, ok := list[i].X.(*mergedColumn); ok {
				name = merged.Name
			} else if exact, ok := list[i].X.(*exactColumn); ok {
				name = exact.at.src.columns[exact.at.col].Name
			} else if ref := asColumn(list[i].X); ref != nil {
				name = ref.Name
				if f, ok := s.find(ref); ok {
					name = f.src.columns[f.col].Name
				}
			}
		}
		p.out = append(p.out, c)
		p.columns = append(p.columns, Column{Name: name, Type: c.affinity, Unit: c.unit, Refuse: c.refuse})
	}
	if s.top {
		return
	}
	for i := range p.out {
		if p.out[i].collate != ByBytes {
			s.c.fail(list[i].X, "COLLATE is not supported in the columns of a subquery")
		}
	}
}

func asColumn(x Expr) *ColumnRef {
	switch x := x.(type) {
	case *ColumnRef:
		return x
	case *exactColumn:
		return &x.ColumnRef
	}
	return nil
}

// limits compiles LIMIT and OFFSET.
func (s *scope) limits(p *selectPlan, x *Select) {
	if x.Limit == nil {
		return
	}
	in := &scope{c: s.c, noAggs: "LIMIT comes last"}
	p.limited, p.limitAt, p.offsetAt = true, x.Limit.Pos(), x.Limit.Pos()
	p.limit, p.offset = in.compile(x.Limit), constant(Int(0))
	if x.Offset != nil {
		p.offset, p.offsetAt = in.compile(x.Offset), x.Offset.Pos()
	}
}
