package plan

import (
	"github.com/placectl/placectl/query/fault"
	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/internal/functions"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/values"
)

// match compiles LIKE and GLOB.
func (s *scope) match(x *syntax.Match) exec.Code {
	a, b := s.compile(x.X), s.compile(x.Y)
	s.onlyText(x.Word(), a, x.X)
	s.onlyText(x.Word(), b, x.Y)
	parts := []exec.Code{a, b}
	escape := exec.Constant(values.Value{})
	if x.Escape != nil {
		escape = s.compile(x.Escape)
		parts = append(parts, escape)
	}
	c := exec.Over(parts...)
	var regular functions.Matcher
	c.Test = func(e *exec.Env) values.Truth {
		v, w := a.Eval(e), b.Eval(e)
		esc := values.NoEscape
		if x.Escape != nil {
			z := escape.Eval(e)
			if z.Kind() == values.Null {
				return values.Unknown
			}
			all := []rune(z.String())
			if len(all) != 1 {
				e.Fail(&fault.Error{Text: s.c.text, Offset: x.Escape.Pos(), Msg: "ESCAPE takes one character"})
				return values.Unknown
			}
			esc = all[0]
		}
		if v.Kind() == values.Null || w.Kind() == values.Null {
			return values.Unknown
		}
		pattern := w.String()
		if len(pattern) > values.MaxPattern {
			e.Fail(&fault.LimitError{What: "bytes in a pattern", Limit: values.MaxPattern})
			return values.Unknown
		}
		hit := false
		switch {
		case x.Glob:
			hit = values.Glob(pattern, v.String())
		case x.Regexp:
			var err error
			if hit, err = regular.Match(pattern, v.String()); err != nil {
				e.Fail(s.c.at(x.Y, err))
				return values.Unknown
			}
		default:
			hit = values.LikeEscape(pattern, v.String(), esc)
		}
		return values.TruthOf(hit != x.Not)
	}
	return c.FromTest()
}
