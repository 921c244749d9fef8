package syntax

import (
	"math"
	"strconv"
	"strings"

	"github.com/placectl/placectl/query/values"
)

// operand reads an operand, with its prefix and suffix.
func (p *parser) operand() Expr {
	t := p.tok
	switch t.kind {
	case tokenNumber:
		p.advance()
		return &Literal{Span: Span{t.pos, t.end}, Value: p.numberValue(t)}
	case tokenText:
		p.advance()
		return &Literal{Span: Span{t.pos, t.end}, Value: values.String(t.text)}
	case tokenParam:
		return p.param()
	case tokenQuoted:
		return p.column()
	case tokenOp:
		return p.prefix()
	case tokenWord:
		return p.word()
	}
	p.unexpected("an expression", "")
	return nil
}

func isHexNumber(text string) bool { return len(text) > 2 && text[1]|0x20 == 'x' }

// numberValue returns a number's value: an integer if it fits.
func (p *parser) numberValue(t token) values.Value {
	if isHexNumber(t.text) {
		n, err := strconv.ParseUint(t.text[2:], 16, 64)
		if err != nil {
			p.fail(t.pos, "the hexadecimal number %s is too large", t.text)
		}
		return values.Int(int64(n))
	}
	v, _ := values.LeadingNumber(t.text)
	return v
}

func (p *parser) param() Expr {
	t := p.tok
	p.advance()
	x := &Param{Span: Span{t.pos, t.end}}
	switch {
	case t.text == "?":
		p.params++
		x.Number = p.params
	case t.text[0] == '?':
		n, err := strconv.Atoi(t.text[1:])
		if err != nil || n < 1 || n > math.MaxInt16 {
			p.fail(t.pos, "parameters are numbered from 1 to %d", math.MaxInt16)
		}
		x.Number = n
		p.params = max(p.params, n)
	default:
		x.Name = t.text
	}
	return x
}

// prefix reads a sign, or something in parentheses.
func (p *parser) prefix() Expr {
	t := p.tok
	switch t.text {
	case "-", "+", "~":
		p.advance()
		if n := p.tok; t.text == "-" && n.kind == tokenNumber && strings.TrimLeft(n.text,
			"0") == "9223372036854775808" {
			p.advance()
			return &Literal{Span: p.from(t.pos), Value: values.Int(math.MinInt64)}
		}
		x := p.expr(bindSign)
		if l, ok := x.(*Literal); ok && t.text == "-" && isHexNumber(p.text[l.Pos():]) &&
			l.Value.Int64() == math.MinInt64 {
			p.fail(l.Pos(), "the hexadecimal number -0x8000000000000000 is too large")
		}
		return &Unary{p.from(t.pos), t.text, x}
	case "(":
		return p.parenthesis()
	}
	p.unexpected("an expression", "")
	return nil
}

func (p *parser) parenthesis() Expr {
	pos := p.tok.pos
	p.advance()
	if isQuery(p.tok) {
		sub := p.query()
		p.expect(")", "")
		return &Subquery{p.from(pos), sub}
	}
	x := p.expression()
	if p.tok.is(",") {
		p.refuse(pos, "a row of values")
	}
	p.expect(")", "")
	return x
}

// word reads an operand that begins with a word.
func (p *parser) word() Expr {
	t := p.tok
	switch t.upper() {
	case "NULL":
		p.advance()
		return &Literal{Span: Span{t.pos, t.end}}
	case "NOT":
		p.advance()
		x := p.expr(bindNot)
		return &Unary{p.from(t.pos), "NOT", x}
	case "CASE":
		return p.caseExpr()
	case "CAST":
		if p.peek().is("(") {
			return p.cast()
		}
	case "EXISTS":
		p.advance()
		p.expect("(", "EXISTS takes a subquery in parentheses")
		sub := p.query()
		p.expect(")", "")
		return &Exists{p.from(t.pos), sub}
	case "CURRENT_TIMESTAMP", "CURRENT_DATE", "CURRENT_TIME":
		p.fail(t.pos, "%s is not supported; say datetime('now'), date('now') or time('now')", t.upper())
	case "SELECT", "VALUES":
		p.fail(t.pos, "a subquery needs parentheses around it; for a column of that name write \"select\"")
	}
	if !reserved()[t.upper()] && p.peek().is("(") {
		return p.call()
	}
	if (t.is("X") || t.is("x")) && p.peek().kind == tokenText && p.peek().pos == t.end {
		p.fail(t.pos, "blobs are not supported")
	}
	return p.column()
}

// column reads name or table.name. After the point anything is a name.
func (p *parser) column() Expr {
	pos := p.tok.pos
	word := p.tok.kind == tokenWord
	first := p.name("an expression")
	if !p.accept(".") {
		if up := values.Upper(first); word && (up == "TRUE" || up == "FALSE") {
			return &Literal{Span: p.from(pos), Value: values.Bool(up == "TRUE"), Word: up}
		}
		return &ColumnRef{p.from(pos), "", first}
	}
	t := p.tok
	if t.kind != tokenWord && t.kind != tokenQuoted {
		p.unexpected("a column", "")
	}
	p.advance()
	return &ColumnRef{p.from(pos), first, t.text}
}

func (p *parser) caseExpr() Expr {
	pos := p.tok.pos
	p.advance()
	x := &Case{}
	if !p.tok.is("WHEN") {
		x.X = p.expression()
	}
	for p.accept("WHEN") {
		arm := When{If: p.expression()}
		p.expect("THEN", "")
		arm.Then = p.expression()
		x.Whens = append(x.Whens, arm)
	}
	if len(x.Whens) == 0 {
		p.unexpected("WHEN", "")
	}
	if p.accept("ELSE") {
		x.Else = p.expression()
	}
	p.expect("END", "a CASE ends with END")
	x.Span = p.from(pos)
	return x
}

func (p *parser) cast() Expr {
	pos := p.tok.pos
	p.advance()
	p.advance()
	x := &Cast{X: p.expression()}
	p.expect("AS", "")
	at := p.tok.pos
	if x.Type, x.To = p.typeName(); x.Type == "" {
		p.fail(at, "a type is missing: INTEGER, REAL, TEXT or NUMERIC")
	}
	p.expect(")", "")
	x.Span = p.from(pos)
	return x
}

func (p *parser) call() Expr {
	t := p.tok
	p.advance()
	p.advance()
	x := &Call{Name: values.Lower(t.text)}
	switch {
	case p.accept("*"):
		x.Star = true
	case !p.tok.is(")"):
		if x.Distinct = p.accept("DISTINCT"); !x.Distinct {
			p.accept("ALL")
		}
		x.Args = p.expressions()
		if p.accept("ORDER") {
			p.expect("BY", "")
			x.OrderBy = p.orderBy()
		}
	}
	p.expect(")", "")
	if p.peek().is("GROUP") {
		p.refused("WITHIN")
	}
	if p.tok.is("FILTER") && p.peek().is("(") {
		p.advance()
		p.advance()
		p.expect("WHERE", "")
		x.Filter = p.expression()
		p.expect(")", "")
	}
	if t := p.peek(); p.tok.is("OVER") && (t.is("(") || t.kind == tokenWord && !reserved()[t.upper()] ||
		t.kind == tokenQuoted) {
		p.advance()
		x.Over = p.over()
	}
	x.Span = p.from(t.pos)
	return x
}

// typeName reads the name of a type, which may have numbers in parentheses, and returns its affinity by
// SQLite's rules.
func (p *parser) typeName() (string, values.Affinity) {
	name := ""
	for p.tok.kind == tokenWord || p.tok.kind == tokenQuoted {
		name += " " + p.tok.text
		p.advance()
	}
	if p.accept("(") {
		for !p.accept(")") {
			if p.tok.kind != tokenNumber && p.tok.kind != tokenWord && !p.tok.is("-") && !p.tok.is("+") &&
				!p.tok.is(",") {
				p.unexpected("a number", "")
			}
			p.advance()
		}
	}
	name = strings.TrimPrefix(name, " ")
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(values.Upper(name), w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("INT"):
		return name, values.IntegerAffinity
	case has("CHAR", "CLOB", "TEXT"):
		return name, values.TextAffinity
	case has("BLOB"):
		p.fail(p.tok.pos, "blobs are not supported; cast to INTEGER, REAL, TEXT or NUMERIC")
	case has("REAL", "FLOA", "DOUB"):
		return name, values.RealAffinity
	}
	return name, values.NumericAffinity
}
