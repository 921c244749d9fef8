package syntax

// maxArms limits how many queries can be joined by UNION and the like.
const maxArms = 500

// setOp reads UNION, UNION ALL, INTERSECT or EXCEPT.
func (p *parser) setOp() (SetOp, bool) {
	switch {
	case p.accept("UNION"):
		if p.accept("ALL") {
			return UnionAll, true
		}
		return Union, true
	case p.accept("INTERSECT"):
		return Intersect, true
	case p.accept("EXCEPT"):
		return Except, true
	}
	return 0, false
}

// values reads the rows after VALUES.
func (p *parser) values(pos int) *Select {
	s := &Select{}
	for {
		at := p.tok.pos
		p.expect("(", "VALUES takes rows in parentheses")
		row := p.expressions()
		p.expect(")", "")
		if len(s.Values) > 0 && len(row) != len(s.Values[0]) {
			p.fail(at, "this row has %d values, those before %d", len(row), len(s.Values[0]))
		}
		if len(row) > MaxColumns {
			p.fail(at, "more than %d columns", MaxColumns)
		}
		if s.Values = append(s.Values, row); !p.accept(",") {
			break
		}
	}
	s.Span = p.from(pos)
	return s
}

// with reads WITH and its queries; nil if there is none.
func (p *parser) with() *With {
	pos := p.tok.pos
	if !p.accept("WITH") {
		return nil
	}
	w := &With{}
	if p.tok.is("RECURSIVE") && !p.peek().is("AS") && !p.peek().is("(") {
		p.advance()
		w.Recursive = true
	}
	for {
		at := p.tok.pos
		t := CommonTable{Name: p.name("a name for the query")}
		t.Columns = p.columnNames()
		p.expect("AS", "")
		if p.tok.is("NOT") && p.peek().is("MATERIALIZED") {
			p.advance()
		}
		p.refused("MATERIALIZED")
		p.expect("(", "WITH takes a query in parentheses")
		t.Select = p.query()
		p.expect(")", "")
		t.Span = p.from(at)
		if w.Tables = append(w.Tables, t); !p.accept(",") {
			break
		}
		if len(w.Tables) > MaxTables {
			p.fail(at, "more than %d tables", MaxTables)
		}
	}
	w.Span = p.from(pos)
	return w
}

// columnNames reads names in parentheses, if there are any.
func (p *parser) columnNames() []Name {
	if !p.accept("(") {
		return nil
	}
	var out []Name
	for {
		pos := p.tok.pos
		text := p.name("a column")
		if out = append(out, Name{p.from(pos), text}); !p.accept(",") {
			break
		}
	}
	p.expect(")", "")
	return out
}

// view reads CREATE TEMP VIEW or DROP VIEW.
func (p *parser) view() *View {
	pos := p.tok.pos
	v := &View{Drop: p.tok.is("DROP")}
	p.advance()
	if !v.Drop && !p.accept("TEMP") {
		p.accept("TEMPORARY")
	}
	p.expect("VIEW", "a query changes nothing but the views of its session")
	if p.accept("IF") {
		if !v.Drop {
			p.expect("NOT", "")
		}
		p.expect("EXISTS", "")
		v.If = true
	}
	v.Name = p.name("a name for the view")
	if !v.Drop {
		v.Columns = p.columnNames()
		p.expect("AS", "")
		v.Select = p.query()
	}
	v.Span = p.from(pos)
	return v
}
