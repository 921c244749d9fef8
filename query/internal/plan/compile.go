package plan

import (
	"strings"

	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/values"
)

// fold computes a constant. If that fails, it leaves the failure to the run.
func (s *scope) fold(c exec.Code) exec.Code {
	if !c.Constant || c.Sub {
		return c
	}
	e := exec.NewEnv(s.c.opt.context(), s.c.opt.Limits, 0, 0)
	v := c.Eval(e)
	if e.Err != nil {
		return c
	}
	c.Eval, c.Test = func(*exec.Env) values.Value { return v }, nil
	return c
}

// compile compiles an expression.
func (s *scope) compile(x syntax.Expr) exec.Code {
	if s.group != nil {
		if c, ok := s.group.key(s, x); ok {
			return c
		}
	}
	switch x := x.(type) {
	case *syntax.Literal:
		return exec.Constant(x.Value)
	case *syntax.ColumnRef:
		return s.columnCode(x)
	case *exactColumn:
		return s.found(&x.ColumnRef, x.at)
	case *syntax.Param:
		return exec.Constant(s.c.param(x))
	case *syntax.Unary:
		return s.fold(s.unary(x))
	case *syntax.Binary:
		return s.fold(s.binary(x))
	case *syntax.Between:
		return s.fold(s.between(x))
	case *syntax.In:
		return s.fold(s.in(x))
	case *syntax.Match:
		return s.fold(s.match(x))
	case *syntax.Case:
		return s.fold(s.caseCode(x))
	case *syntax.Cast:
		return s.fold(s.cast(x))
	case *syntax.Call:
		return s.fold(s.call(x))
	case *syntax.Exists:
		return s.exists(x)
	case *syntax.Subquery:
		return s.scalar(x)
	}
	panic("query: an expression of no known kind")
}

// all compiles expressions.
func (s *scope) all(list []syntax.Expr) []exec.Code {
	out := make([]exec.Code, len(list))
	for i, x := range list {
		out[i] = s.compile(x)
	}
	return out
}

func (s *scope) columnCode(x *syntax.ColumnRef) exec.Code {
	f, ok := s.find(x)
	if !ok {
		for at := s; at != nil; at = at.parent {
			if alias := at.aliasOf(x); alias != nil {
				return at.viaAlias(s, x, alias)
			}
		}
		s.missing(x)
	}
	return s.found(x, f)
}

// found returns the code of a resolved column. After grouping only keys are allowed.
func (s *scope) found(x *syntax.ColumnRef, f found) exec.Code {
	for at := s; at != nil; at = at.parent {
		if at.group != nil && at.owns(f.src) {
			if at != s {
				if c, ok := at.group.key(at, x); ok {
					return c
				}
			}
			return at.bare(f)
		}
	}
	return f.code()
}

func (s *scope) owns(src *source) bool {
	for _, mine := range s.sources {
		if mine == src {
			return true
		}
	}
	return false
}

// viaAlias compiles the expression of a result column's alias.
func (s *scope) viaAlias(from *scope, x *syntax.ColumnRef, alias syntax.Expr) exec.Code {
	if from != s {
		s.c.fail(x, "the alias %s of the query around cannot be used here; write out what it stands for", x.Name)
	}
	if s.using[alias] {
		s.c.fail(x, "the alias %s is explained by itself", x.Name)
	}
	s.using[alias] = true
	defer delete(s.using, alias)
	return s.compile(alias)
}

// code returns the code of a column.
func (f found) code() exec.Code {
	f.src.Used[f.col] = true
	slot, col := f.src.Slot, f.col
	c := exec.Code{Eval: func(e *exec.Env) values.Value { return e.Row[slot].Column(col) }, Uses: 1 << slot,
		Column: true, Slot: slot, Col: col,
		Affinity: f.src.Columns[col].Type, Unit: f.src.Columns[col].Unit, Refuse: f.src.Columns[col].Refuse}
	return c
}

// param returns the value of a parameter.
func (c *compiler) param(x *syntax.Param) values.Value {
	if x.Number > 0 {
		if x.Number > len(c.opt.Args) {
			c.fail(x, "no value is given for parameter %d", x.Number)
		}
		return c.opt.Args[x.Number-1]
	}
	v, ok := c.opt.Named[x.Name[1:]]
	if !ok {
		var names []string
		for name := range c.opt.Named {
			names = append(names, name)
		}
		c.fail(x, "no value is given for parameter %s%s", x.Name, didYouMean(x.Name[1:], names))
	}
	return v
}

// isWord reports whether an expression is a literal TRUE or FALSE, which IS treats as a condition.
func isWord(x syntax.Expr) (string, bool) {
	l, ok := x.(*syntax.Literal)
	if !ok || l.Word == "" {
		return "", false
	}
	return strings.ToUpper(l.Word), true
}
