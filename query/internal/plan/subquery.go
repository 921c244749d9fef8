package plan

import (
	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/internal/functions"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/values"
)

// A subquery that uses no outer query runs once. Others run for every row.

// scalar compiles a subquery used as a value: the value in its first row, or NULL if it has no
// rows.
func (s *scope) scalar(x *syntax.Subquery) exec.Code {
	p := s.inside(x.Sub, true)
	c := exec.Code{Sub: true, Uses: p.Outer, Affinity: p.Columns[0].Type, Unit: p.Columns[0].Unit, Prefix: prefixed(p)}
	c.Eval = exec.Once(p, func(e *exec.Env) values.Value {
		var out values.Value
		e.Note(p.Run(e, func(row []values.Value) error {
			out = row[0]
			return exec.ErrStop
		}))
		return out
	})
	return c
}

// inside compiles a subquery in an expression.
func (s *scope) inside(x *syntax.Select, single bool) *exec.Plan {
	group := s.group
	p := s.c.compileSelect(x, s)
	s.group = group
	if single && len(p.Columns) != 1 {
		s.c.fail(x, "a subquery that stands for a value has one column, not %d", len(p.Columns))
	}
	return p
}

func (s *scope) exists(x *syntax.Exists) exec.Code {
	p := s.inside(x.Sub, false)
	c := exec.Code{Sub: true, Uses: p.Outer}
	c.Eval = exec.Once(p, func(e *exec.Env) values.Value {
		found := false
		e.Note(p.Run(e, func([]values.Value) error {
			found = true
			return exec.ErrStop
		}))
		return values.Bool(found)
	})
	return c
}

func (s *scope) inSubquery(x *syntax.In, a exec.Code) exec.Code {
	p := s.inside(x.Sub, true)
	c := exec.Over(a)
	c.Constant, c.Sub, c.Uses = false, true, c.Uses|p.Outer
	of1 := exec.Code{Eval: func(e *exec.Env) values.Value { return e.Item }, Sub: true, Affinity: p.Columns[0].Type,
		Unit: p.Columns[0].Unit, Prefix: prefixed(p)}
	a, item := s.beside(a, of1, x.X, &syntax.Subquery{Span: x.Sub.Span, Sub: x.Sub})
	affinity := compareAffinity(a.Affinity, item.Affinity)
	var of *exec.Env
	var m *members
	c.Test = func(e *exec.Env) values.Truth {
		if of != e || p.Outer != 0 || !p.Steady() {
			of, m = e, &members{}
			e.Note(p.Run(e, func(row []values.Value) error {
				e.Item = row[0]
				m.add(affinity.Apply(item.Eval(e)))
				return e.Hold(row, functions.HeldEntry)
			}))
		}
		return m.has(affinity.Apply(a.Eval(e)), x.Not)
	}
	return c.FromTest()
}

// prefixed reports whether a text in the only column is used as the number it begins with.
func prefixed(p *exec.Plan) bool { return len(p.Out) > 0 && p.Out[0].Prefix }
