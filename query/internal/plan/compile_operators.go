package plan

import (
	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

func (s *scope) unary(x *syntax.Unary) exec.Code {
	a := s.compile(x.X)
	c := exec.Over(a)
	if x.Op != "NOT" && a.Unit == tables.Time && x.Op != "+" || x.Op == "~" && a.Unit.Measured() {
		s.c.fail(x, "%s of %s means nothing", x.Op, a.Unit.Shown())
	}
	c.Prefix = x.Op != "NOT" && (c.Prefix || x.Op != "+" && a.IsPrefix())
	switch x.Op {
	case "NOT":
		test := a.Condition()
		c.Test = func(e *exec.Env) values.Truth { return test(e).Not() }
		return c.FromTest()
	case "-":
		c.Eval = func(e *exec.Env) values.Value { return values.Negate(a.Eval(e)) }
		if a.Unit == tables.Duration || a.Unit == tables.Bytes {
			c.Unit = a.Unit
		}
	case "+":
		c.Eval, c.Unit, c.Named = a.Eval, a.Unit, a.Named
	case "~":
		c.Eval = func(e *exec.Env) values.Value {
			v := a.Eval(e)
			if v.Kind() == values.Null {
				return v
			}
			return values.Int(^v.AsInt())
		}
	}
	return c
}

func (s *scope) binary(x *syntax.Binary) exec.Code {
	switch x.Op {
	case "AND", "OR":
		return s.logic(x)
	case "=", "<>", "<", "<=", ">", ">=":
		return s.comparison(x)
	case "IS", "IS NOT":
		return s.is(x)
	}
	a, b := s.compile(x.X), s.compile(x.Y)
	if x.Op == "||" {
		s.onlyText("||", a, x.X)
		s.onlyText("||", b, x.Y)
		c := exec.Over(a, b)
		c.Eval = func(e *exec.Env) values.Value {
			v, w := a.Eval(e), b.Eval(e)
			if v.Kind() == values.Null || w.Kind() == values.Null {
				return values.Value{}
			}
			return e.Text(v.String() + w.String())
		}
		return c
	}
	return s.arithmetic(x, a, b)
}

func (s *scope) logic(x *syntax.Binary) exec.Code {
	a, b := s.compile(x.X), s.compile(x.Y)
	c := exec.Over(a, b)
	l, r := a.Condition(), b.Condition()
	lp, rp := a.Passing(), b.Passing()
	decides, other := values.Yes, values.No // OR
	c.Pass = func(e *exec.Env) values.Truth {
		if lp(e) == values.Yes {
			return values.Yes
		}
		return rp(e)
	}
	if x.Op == "AND" {
		decides, other = other, decides
		c.Pass = func(e *exec.Env) values.Truth {
			if lp(e) != values.Yes {
				return values.No
			}
			return rp(e)
		}
	}
	c.Test = func(e *exec.Env) values.Truth {
		v := l(e)
		if v == decides {
			return v
		}
		if w := r(e); w == decides || v == other {
			return w
		}
		return values.Unknown
	}
	return c.FromTest()
}

func (s *scope) caseCode(x *syntax.Case) exec.Code {
	var base exec.Code
	var ifs []func(*exec.Env) values.Truth
	var whens, thens, parts []exec.Code
	var results []syntax.Expr
	if x.X != nil {
		base = s.compile(x.X)
		parts = append(parts, base)
	}
	for _, w := range x.Whens {
		then := s.compile(w.Then)
		if x.X != nil {
			when := s.compile(w.If)
			ifs, whens = append(ifs, s.compare("=", base, when, x.X, w.If).Test), append(whens, when)
		} else {
			when := s.compile(w.If)
			ifs, whens = append(ifs, when.Condition()), append(whens, when)
		}
		thens, results = append(thens, then), append(results, w.Then)
	}
	if x.Else != nil {
		thens, results = append(thens, s.compile(x.Else)), append(results, x.Else)
	}
	unit := s.unify(thens, results)
	for i := range thens {
		if i < len(whens) {
			parts = append(parts, whens[i])
		}
		parts = append(parts, thens[i])
	}
	c := exec.Over(parts...)
	c.Unit = unit
	otherwise := exec.Constant(values.Value{})
	if x.Else != nil {
		otherwise = thens[len(thens)-1]
	}
	c.Eval = func(e *exec.Env) values.Value {
		for i, test := range ifs {
			if test(e) == values.Yes {
				return thens[i].Eval(e)
			}
		}
		return otherwise.Eval(e)
	}
	return c
}

func (s *scope) cast(x *syntax.Cast) exec.Code {
	a := s.compile(x.X)
	c := exec.Over(a)
	c.Affinity = x.To // and no unit: a CAST makes a plain number, or text
	c.Prefix = c.Prefix || x.To.Numeric() && a.IsPrefix()
	c.Eval = func(e *exec.Env) values.Value { return x.To.Cast(a.Eval(e)) }
	return c
}
