package priorityf

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/syntax"
)

// Limits of a priority function's text.
const (
	MaxText  = 4096 // in bytes, also for the normal form
	MaxDepth = 100  // nesting of parentheses, with those of functions
)

// Parse reads a priority function. The error is a *syntax.Error.
//
// It knows the resources declared now. If one of them is removed, read the text again.
func Parse(defs *index.Defs, text string) (*Function, error) {
	p := exprReader{Scanner: syntax.New(defs, "priorityf", text)}
	p.term = p.nodeTerm
	return p.whole(Default)
}

// whole reads all of the text.
func (p *exprReader) whole(example string) (*Function, error) {
	if len(p.Text) > MaxText {
		return nil, p.Fail(MaxText, "longer than %d bytes", MaxText)
	}
	if p.SkipSpace(); p.At == p.End {
		return nil, p.Fail(p.At, "it is empty: expected an expression such as %s", example)
	}
	e, err := p.sum()
	if err != nil {
		return nil, err
	}
	if p.At < p.End {
		return nil, p.expected("+ - * / or the end")
	}
	f := &Function{terms: []expr{e}}
	if e.op == opSum && e.weight == 1 {
		f.terms = e.kids
	}
	f.text = string(appendSum(nil, f.terms))
	if len(f.text) > MaxText {
		return nil, p.Fail(p.End, "written out with spaces and zeros it is longer than %d bytes: %d", MaxText,
			len(f.text))
	}
	return f, nil
}

// An exprReader reads expressions. sum, product and factor also skip spaces before and after what they
// read.
type exprReader struct {
	syntax.Scanner
	depth int
	term  func(at int, word string) (expr, error) // reads a word that is not a function
}

// expected returns the error that something else was expected here.
func (p *exprReader) expected(what string) error {
	if p.At == p.End {
		return p.Fail(p.At, "expected %s, found the end", what)
	}
	_, n := utf8.DecodeRuneInString(p.Text[p.At:p.End])
	return p.Fail(p.At, "expected %s, found %q", what, p.Text[p.At:p.At+n])
}

// sum reads terms joined by signs. It leaves a lone positive term as it is. The + or - between two terms
// is the first sign of the second one.
func (p *exprReader) sum() (expr, error) {
	var terms []expr
	for {
		term, minus, err := p.product()
		if err != nil {
			return expr{}, err
		}
		term.join = joinPlus
		if minus {
			term.join = joinMinus
		}
		terms = append(terms, term)
		if c := p.Peek(); c != '+' && c != '-' {
			break
		}
	}
	if len(terms) == 1 && terms[0].join == joinPlus {
		return terms[0], nil
	}
	return expr{op: opSum, weight: 1, kids: terms}, nil
}

// product reads factors joined by * and /. All their signs become one, and a number in front becomes the
// weight of what it multiplies. Both round to the same value.
func (p *exprReader) product() (product expr, minus bool, err error) {
	var factors []expr
	for join := joinTimes; ; p.At++ {
		factor, negative, err := p.factor()
		if err != nil {
			return expr{}, false, err
		}
		minus = minus != negative
		factor.join = join
		if len(factors) == 1 && join == joinTimes && factors[0].op == opNumber && factor.op != opNumber &&
			factor.weight == 1 {
			factor.weight = factors[0].weight
			factors[0] = factor
		} else {
			factors = append(factors, factor)
		}
		switch p.Peek() {
		case '*':
			join = joinTimes
			continue
		case '/':
			join = joinOver
			continue
		}
		break
	}
	if len(factors) == 1 {
		return factors[0], minus, nil
	}
	return expr{op: opProduct, num: 1, weight: 1, kids: factors}, minus, nil
}

// factor reads any number of signs and their operand. minus reports whether the signs, and that of a
// lone term in parentheses, make it negative.
func (p *exprReader) factor() (factor expr, minus bool, err error) {
	p.SkipSpace()
	for p.Peek() == '+' || p.Peek() == '-' {
		minus = minus != (p.Peek() == '-')
		p.At++
		p.SkipSpace()
	}
	switch c := p.Peek(); {
	case syntax.IsDigit(c) || c == '.':
		factor, err = p.number()
	case syntax.IsLetter(c):
		factor, err = p.word()
	case c == '(':
		if factor, err = p.inParentheses("+ - * /", p.sum); factor.op == opSum && len(factor.kids) == 1 {
			factor, minus = factor.kids[0], !minus
		}
	default:
		err = p.expected("a term, a number or (")
	}
	p.SkipSpace()
	return factor, minus, err
}

// inParentheses reads (, whatever read reads, and ). It continues as long as it finds one of the
// operators.
func (p *exprReader) inParentheses(operators string, read func() (expr, error)) (expr, error) {
	open := p.At
	if p.depth++; p.depth > MaxDepth {
		return expr{}, p.Fail(open, "more than %d parentheses within each other", MaxDepth)
	}
	p.At++
	e, err := read()
	if err != nil {
		return expr{}, err
	}
	if p.Peek() != ')' {
		place := utf8.RuneCountInString(p.Text[:open]) + 1
		return expr{}, p.expected(fmt.Sprintf("%s or a ) for the ( at character %d", operators, place))
	}
	p.At++
	p.depth--
	return e, nil
}

// number reads 1, 1.5, .01 or 1e3. A letter e is an exponent only with digits.
func (p *exprReader) number() (expr, error) {
	start := p.At
	digits := p.digits()
	if p.Peek() == '.' {
		p.At++
		digits += p.digits()
	}
	if digits == 0 {
		return expr{}, p.Fail(start, "expected digits before or after the point")
	}
	if mantissa := p.At; p.Peek()|0x20 == 'e' {
		if p.At++; p.Peek() == '+' || p.Peek() == '-' {
			p.At++
		}
		if p.digits() == 0 {
			p.At = mantissa
		}
	}
	v, err := strconv.ParseFloat(p.Text[start:p.At], 64)
	if err != nil {
		return expr{}, p.Fail(start, "the number %s is too large", p.Text[start:p.At])
	}
	return expr{op: opNumber, weight: v}, nil
}

func (p *exprReader) digits() int {
	start := p.At
	for syntax.IsDigit(p.Peek()) {
		p.At++
	}
	return p.At - start
}

// word reads a term or a function, which begin with a letter.
func (p *exprReader) word() (expr, error) {
	start := p.At
	for c := p.Peek(); syntax.IsLetter(c) || syntax.IsDigit(c) || c == '_'; c = p.Peek() {
		p.At++
	}
	word := p.Text[start:p.At]
	switch strings.ToUpper(word) {
	case "MIN":
		return p.function(expr{op: opMin, num: math.MaxFloat64, weight: 1, name: "min"}, joinMin)
	case "MAX":
		return p.function(expr{op: opMax, num: -math.MaxFloat64, weight: 1, name: "max"}, joinMax)
	case "ABS":
		return p.function(expr{op: opAbs, weight: 1, name: "abs"}, joinPlus)
	}
	return p.term(start, word)
}

// nodeTerm reads a term of a node. The reader is behind its first word.
func (p *exprReader) nodeTerm(start int, word string) (expr, error) {
	switch strings.ToUpper(word) {
	case "FEATURE":
		return p.feature()
	case "A":
		return p.resource(opAvailable, "A")
	case "C":
		return p.resource(opConfigured, "C")
	}
	if term, ok := oneWordTerm(p.Defs, word); ok {
		return term, nil
	}
	return expr{}, p.noTerm(start, word)
}

// function reads a function's arguments.
func (p *exprReader) function(e expr, join join) (expr, error) {
	if p.SkipSpace(); p.Peek() != '(' {
		return expr{}, p.expected("( after " + e.name)
	}
	return p.inParentheses("+ - * / ,", func() (expr, error) {
		for {
			arg, err := p.sum()
			if err != nil {
				return expr{}, err
			}
			arg.join = join
			e.kids = append(e.kids, arg)
			if p.Peek() != ',' {
				return e, nil
			}
			if e.op == opAbs {
				return expr{}, p.Fail(p.At, "abs takes one argument")
			}
			p.At++
		}
	})
}
