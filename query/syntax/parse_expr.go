package syntax

// Precedence of operators, as in SQLite. Higher ones bind tighter.
const (
	bindOr = iota + 1
	bindAnd
	bindNot
	bindEqual // =, IS, IN, LIKE, BETWEEN
	bindOrder // <, <=, >, >=
	bindBits
	bindSum
	bindProduct
	bindConcat
	bindSign
)

// binding returns the precedence of the current token as an operator, or 0 if it is none.
func (p *parser) binding() int {
	if p.tok.kind == tokenOp {
		switch p.tok.text {
		case "=", "==", "<>", "!=":
			return bindEqual
		case "<", "<=", ">", ">=":
			return bindOrder
		case "&", "|", "<<", ">>":
			return bindBits
		case "+", "-":
			return bindSum
		case "*", "/", "%":
			return bindProduct
		case "||", "->", "->>":
			return bindConcat
		}
		return 0
	}
	p.refused("COLLATE")
	switch p.tok.upper() {
	case "OR":
		return bindOr
	case "AND":
		return bindAnd
	case "IS", "IN", "LIKE", "GLOB", "BETWEEN", "ISNULL", "NOTNULL", "NOT", "MATCH", "REGEXP":
		return bindEqual
	}
	return 0
}

func (p *parser) expression() Expr { return p.expr(bindOr) }

func (p *parser) expressions() []Expr {
	var out []Expr
	for {
		if out = append(out, p.expression()); !p.accept(",") {
			return out
		}
	}
}

// expr reads an expression of operators with at least this precedence.
func (p *parser) expr(least int) Expr {
	defer p.enter()()
	pos := p.tok.pos
	x := p.operand()
	for chain := 0; ; chain++ {
		b := p.binding()
		if b == 0 || b < least {
			return x
		}
		if chain > maxChain {
			p.fail(p.tok.pos, "more than %d operators in a row", maxChain)
		}
		x = p.infix(x, pos, b)
	}
}

// infix reads an operator and its right side.
func (p *parser) infix(x Expr, pos, b int) Expr {
	op := p.tok
	p.advance()
	if op.kind == tokenOp {
		if op.text == "->" || op.text == "->>" {
			p.refuse(op.pos, op.text)
		}
		y := p.expr(b + 1)
		text := map[string]string{"==": "=", "!=": "<>"}[op.text]
		if text == "" {
			text = op.text
		}
		return &Binary{p.from(pos), text, x, y}
	}
	switch word := op.upper(); word {
	case "AND", "OR":
		y := p.expr(b + 1)
		return &Binary{p.from(pos), word, x, y}
	case "ISNULL", "NOTNULL":
		return p.nullTest(x, pos, word == "NOTNULL")
	case "IS":
		return p.is(x, pos)
	case "NOT":
		if p.accept("NULL") {
			return p.nullTest(x, pos, true)
		}
		op = p.tok
		p.advance()
		return p.predicate(x, pos, op, true)
	}
	return p.predicate(x, pos, op, false)
}

func (p *parser) nullTest(x Expr, pos int, not bool) Expr {
	op := "IS"
	if not {
		op = "IS NOT"
	}
	return &Binary{p.from(pos), op, x, &Literal{Span: p.from(p.last)}}
}

// is reads IS [NOT] x and IS [NOT] DISTINCT FROM x.
func (p *parser) is(x Expr, pos int) Expr {
	not := p.accept("NOT")
	if p.accept("DISTINCT") {
		p.expect("FROM", "")
		not = !not
	}
	y := p.expr(bindEqual + 1)
	op := "IS"
	if not {
		op = "IS NOT"
	}
	return &Binary{p.from(pos), op, x, y}
}

// predicate reads the right side of IN, LIKE, GLOB or BETWEEN.
func (p *parser) predicate(x Expr, pos int, op token, not bool) Expr {
	switch op.upper() {
	case "BETWEEN":
		lo := p.expr(bindEqual + 1)
		p.expect("AND", "")
		hi := p.expr(bindEqual + 1)
		return &Between{p.from(pos), not, x, lo, hi}
	case "LIKE", "GLOB", "REGEXP":
		m := &Match{Not: not, Glob: op.is("GLOB"), Regexp: op.is("REGEXP"), X: x, Y: p.expr(bindEqual + 1)}
		if p.accept("ESCAPE") {
			if m.Escape = p.expr(bindEqual + 1); m.Glob || m.Regexp {
				p.fail(m.Escape.Pos(), "%s has no ESCAPE: put the character into brackets, [*]", m.Word())
			}
		}
		m.Span = p.from(pos)
		return m
	case "IN":
		return p.in(x, pos, not)
	case "MATCH":
		p.fail(op.pos, "MATCH is not supported; use LIKE, GLOB or REGEXP")
	}
	p.fail(op.pos, "expected IN, LIKE, GLOB, BETWEEN or NULL behind NOT, not %s", op.shown())
	return nil
}

func (p *parser) in(x Expr, pos int, not bool) Expr {
	in := &In{Not: not, X: x}
	if !p.tok.is("(") {
		in.Sub = p.inTable()
		in.Span = p.from(pos)
		return in
	}
	p.advance()
	switch {
	case isQuery(p.tok):
		in.Sub = p.query()
	case !p.tok.is(")"):
		in.List = p.expressions()
	}
	p.expect(")", "")
	in.Span = p.from(pos)
	return in
}

// inTable reads a table, or a call of a table function, after IN.
func (p *parser) inTable() *Select {
	pos := p.tok.pos
	if p.tok.kind != tokenWord && p.tok.kind != tokenQuoted || reserved()[p.tok.upper()] {
		p.unexpected("a list or a subquery in parentheses", "IN takes those, or a table")
	}
	f := FromItem{Table: p.name("a table")}
	if p.accept("(") {
		f.Call = true
		if !p.tok.is(")") {
			f.Args = p.expressions()
		}
		p.expect(")", "")
	}
	f.Span = p.from(pos)
	return &Select{Span: f.Span, Columns: []ResultColumn{{Span: f.Span, Star: true}}, From: []FromItem{f}}
}
