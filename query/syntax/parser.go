package syntax

import (
	"fmt"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/query/fault"
)

// Limits of parsing.
const (
	maxText    = 64 << 10 // bytes
	MaxNesting = 100      // nested parentheses, subqueries and the like
	maxChain   = 1000     // consecutive operators
	MaxColumns = 2000
	MaxTables  = 64
)

// Parse parses statements separated by semicolons. An error is an *Error with its place, or a
// *LimitError.
func Parse(text string) (all []*Statement, err error) {
	defer fault.Rescue(&err)
	if len(text) > maxText {
		return nil, &fault.LimitError{What: "bytes of text", Limit: maxText}
	}
	p := &parser{lexer: lexer{text: text}}
	p.advance()
	for {
		for p.accept(";") {
		}
		if p.tok.kind == tokenEnd {
			return all, nil
		}
		all = append(all, p.statement())
		if p.tok.kind != tokenEnd {
			p.endStatement()
		}
	}
}

// Complete reports whether a text ends with a whole statement, as far as one can tell: with a semicolon
// outside texts, names and comments.
func Complete(text string) (done bool) {
	var open error // an open quote, or an invalid token
	defer func() {
		if done = done && open == nil; strings.HasSuffix(text, ";") && open != nil {
			done = !strings.Contains(open.Error(), "is not closed")
		}
	}()
	defer fault.Rescue(&open)
	l := &lexer{text: text}
	last := token{}
	for {
		t := l.next()
		if t.kind == tokenEnd {
			return last.is(";")
		}
		last = t
	}
}

// endStatement consumes a semicolon. If there is none, a word taken for an alias may have been meant as
// a keyword.
func (p *parser) endStatement() {
	if word := index.Suggest(p.bare.text, Keywords()); word != "" && !p.tok.is(";") && p.tok.kind != tokenOp {
		p.fail(p.bare.pos, "unexpected %q; did you mean %s?", p.bare.text, word)
	}
	p.expect(";", "the statement ends here, or an operator is missing")
}

// parser holds the current token and the one before it.
type parser struct {
	lexer
	tok    token
	last   int   // where the previous token ended
	bare   token // the last alias without AS
	depth  int
	params int // the highest parameter number so far
}

func (p *parser) advance() {
	p.last = p.tok.end
	p.tok = p.next()
}

// peek returns the token after the current one.
func (p *parser) peek() token {
	ahead := p.lexer
	return ahead.next()
}

// accept consumes the current token if it is this operator or keyword.
func (p *parser) accept(s string) bool {
	if !p.tok.is(s) {
		return false
	}
	p.advance()
	return true
}

func (p *parser) expect(s, why string) {
	if p.accept(s) {
		return
	}
	p.unexpected(s, why)
}

// unexpected fails at the current token.
func (p *parser) unexpected(want, why string) {
	if msg := later[p.tok.upper()]; msg != "" {
		p.fail(p.tok.pos, "%s", msg)
	}
	msg := fmt.Sprintf("expected %s, not %s", want, p.tok.shown())
	if p.tok.kind == tokenWord {
		if word := index.Suggest(p.tok.text, Keywords()); word != "" && !strings.EqualFold(word, p.tok.text) {
			why = "did you mean " + word + "?"
		}
	}
	if why != "" {
		msg += "; " + why
	}
	p.fail(p.tok.pos, "%s", msg)
}

// enter counts nesting. Call the result to leave.
func (p *parser) enter() func() {
	if p.depth++; p.depth > MaxNesting {
		p.fail(p.tok.pos, "nested more than %d deep", MaxNesting)
	}
	return func() { p.depth-- }
}

func (p *parser) from(pos int) Span { return Span{pos, p.last} }

func (p *parser) statement() *Statement {
	s := &Statement{}
	pos := p.tok.pos
	if p.accept("EXPLAIN") {
		s.Explain = true
		if p.tok.is("QUERY") {
			p.advance()
			p.expect("PLAN", "")
		}
		s.Analyze = p.accept("ANALYZE")
	}
	switch {
	case (p.tok.is("CREATE") || p.tok.is("DROP")) && !s.Explain:
		s.View = p.view()
	case isQuery(p.tok):
		s.Select = p.query()
	default:
		p.unexpected("SELECT, VALUES, WITH or EXPLAIN", "")
	}
	s.Span = p.from(pos)
	return s
}

// name reads a name: a word that is not reserved, or anything in quotes.
func (p *parser) name(what string) string {
	t := p.tok
	switch {
	case t.kind == tokenQuoted, t.kind == tokenWord && !reserved()[t.upper()]:
		p.advance()
		return t.text
	case t.kind == tokenWord:
		p.unexpected(what, fmt.Sprintf("%s is a keyword: to use it as a name write \"%s\"", t.text, t.text))
	}
	p.unexpected(what, "")
	return ""
}

// alias reads an alias, if there is one, with or without AS.
func (p *parser) alias() string {
	if p.accept("AS") {
		if t := p.tok; t.kind == tokenText {
			p.advance()
			return t.text
		}
		return p.name("a name behind AS")
	}
	switch t := p.tok; {
	case t.kind == tokenQuoted, t.kind == tokenWord && !reserved()[t.upper()] && !endsClause(t):
		p.bare = t
		p.advance()
		return t.text
	case t.kind == tokenText:
		p.advance()
		return t.text
	}
	return ""
}

// endsClause reports whether a word could be an alias in SQLite, but means something else here, now or
// later.
func endsClause(t token) bool {
	switch t.upper() {
	case "OFFSET", "WINDOW", "INDEXED", "WITH":
		return true
	}
	return false
}
