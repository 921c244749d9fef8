package syntax

// query reads SELECT or VALUES, with a WITH before it and UNION and the like after it.
func (p *parser) query() *Select {
	defer p.enter()()
	pos := p.tok.pos
	with := p.with()
	s := p.core()
	s.With = with
	for {
		op, more := p.setOp()
		if !more {
			break
		}
		if s.Rest = append(s.Rest, SetArm{op, p.core()}); len(s.Rest) >= maxArms {
			p.fail(p.tok.pos, "more than %d queries joined", maxArms)
		}
	}
	if p.accept("ORDER") {
		p.expect("BY", "")
		s.OrderBy = p.orderBy()
	}
	if p.accept("LIMIT") {
		s.Limit = p.expression()
		if p.accept("OFFSET") {
			s.Offset = p.expression()
		} else if p.accept(",") {
			s.Offset = s.Limit
			s.Limit = p.expression()
		}
	}
	if msg := later[p.tok.upper()]; msg != "" {
		p.fail(p.tok.pos, "%s", msg)
	}
	s.Span = p.from(pos)
	return s
}

// isQuery reports whether a query begins at a token.
func isQuery(t token) bool { return t.is("SELECT") || t.is("VALUES") || t.is("WITH") }

// core reads a SELECT up to its HAVING or WINDOW, or VALUES.
func (p *parser) core() *Select {
	pos := p.tok.pos
	if p.accept("VALUES") {
		return p.values(pos)
	}
	p.expect("SELECT", "")
	s := &Select{}
	if s.Distinct = p.accept("DISTINCT"); !s.Distinct {
		p.accept("ALL")
	}
	for {
		s.Columns = append(s.Columns, p.resultColumn())
		if len(s.Columns) > MaxColumns {
			p.fail(p.tok.pos, "more than %d columns", MaxColumns)
		}
		if !p.accept(",") {
			break
		}
	}
	if p.accept("FROM") {
		s.From = p.fromList()
	}
	if p.accept("WHERE") {
		s.Where = p.expression()
	}
	if p.accept("GROUP") {
		p.expect("BY", "")
		s.GroupBy = p.expressions()
	}
	if p.accept("HAVING") {
		s.Having = p.expression()
	}
	if p.accept("WINDOW") {
		s.Windows = p.windows()
	}
	s.Span = p.from(pos)
	return s
}

func (p *parser) resultColumn() ResultColumn {
	c := ResultColumn{}
	pos := p.tok.pos
	switch {
	case p.accept("*"):
		c.Star = true
	case p.isTableStar():
		c.Table = p.name("a table")
		p.advance()
		p.advance()
		c.Star = true
	default:
		c.X = p.expression()
		c.Text = p.lexer.text[pos:p.last]
		c.Alias = p.alias()
	}
	c.Span = p.from(pos)
	return c
}

// isTableStar looks for t.* and consumes nothing.
func (p *parser) isTableStar() bool {
	if p.tok.kind != tokenQuoted && (p.tok.kind != tokenWord || reserved()[p.tok.upper()]) {
		return false
	}
	ahead := p.lexer
	if ahead.skip(); ahead.at >= len(ahead.text) || ahead.text[ahead.at] != '.' {
		return false
	}
	ahead.at++
	ahead.skip()
	return ahead.at < len(ahead.text) && ahead.text[ahead.at] == '*'
}

func (p *parser) fromList() []FromItem {
	items := []FromItem{p.fromItem(CommaJoin)}
	for {
		join, more := p.joinWord()
		if !more {
			return items
		}
		f := p.fromItem(join)
		p.condition(&f)
		if items = append(items, f); len(items) > MaxTables {
			p.fail(f.pos, "more than %d tables", MaxTables)
		}
	}
}

// joinWord reads a comma, JOIN and the like.
func (p *parser) joinWord() (JoinKind, bool) {
	switch {
	case p.accept(","):
		return CommaJoin, true
	case p.accept("JOIN"):
		return InnerJoin, true
	case p.accept("INNER"):
		p.expect("JOIN", "")
		return InnerJoin, true
	case p.accept("CROSS"):
		p.expect("JOIN", "")
		return CrossJoin, true
	case p.accept("LEFT"):
		p.accept("OUTER")
		p.expect("JOIN", "")
		return LeftJoin, true
	}
	p.refused("RIGHT")
	p.refused("FULL")
	p.refused("NATURAL")
	return 0, false
}

func (p *parser) fromItem(join JoinKind) FromItem {
	f := FromItem{Join: join}
	pos := p.tok.pos
	if p.accept("(") {
		if !isQuery(p.tok) {
			p.refuse(pos, "a table or join in parentheses")
		}
		f.Sub = p.query()
		p.expect(")", "")
	} else {
		f.Table = p.name("a table")
		if p.accept("(") {
			f.Call = true
			if !p.tok.is(")") {
				f.Args = p.expressions()
			}
			p.expect(")", "")
		}
		f.At = p.at()
		p.refused("INDEXED")
	}
	f.Span = p.from(pos)
	f.Alias = p.alias()
	return f
}

// at reads AT and an instant. An alias called at is not followed by a value.
func (p *parser) at() Expr {
	if !p.tok.is("AT") {
		return nil
	}
	if next := p.peek(); next.kind != tokenText && next.kind != tokenNumber && next.kind != tokenParam {
		return nil
	}
	p.advance()
	return p.operand()
}

// condition reads ON or USING.
func (p *parser) condition(f *FromItem) {
	switch {
	case p.accept("ON"):
		f.On = p.expression()
	case p.accept("USING"):
		p.expect("(", "")
		for {
			pos := p.tok.pos
			text := p.name("a column")
			f.Using = append(f.Using, Name{p.from(pos), text})
			if !p.accept(",") {
				break
			}
		}
		p.expect(")", "")
	}
}

func (p *parser) orderBy() []OrderTerm {
	var out []OrderTerm
	for {
		pos := p.tok.pos
		t := OrderTerm{X: p.expression()}
		if t.Desc = p.accept("DESC"); !t.Desc {
			p.accept("ASC")
		}
		if p.accept("NULLS") {
			switch {
			case p.accept("FIRST"):
				t.Nulls = NullsFirst
			case p.accept("LAST"):
				t.Nulls = NullsLast
			default:
				p.unexpected("FIRST or LAST", "")
			}
		}
		t.Span = p.from(pos)
		if out = append(out, t); !p.accept(",") {
			return out
		}
	}
}
