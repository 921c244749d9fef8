package plan

import (
	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/internal/functions"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/values"
)

// Row values are compared from left to right. The first two values that differ decide. If one of these
// is NULL the answer is unknown.

// rowWidth returns the number of values of a row value, 0 for other expressions.
func rowWidth(x syntax.Expr) int {
	if row, ok := x.(*syntax.RowValue); ok {
		return len(row.Items)
	}
	return 0
}

// vector compiles a row value, or a subquery that returns one.
func (s *scope) vector(x syntax.Expr, width int) []exec.Code {
	switch v := x.(type) {
	case *syntax.RowValue:
		if len(v.Items) != width {
			s.c.fail(x, "%d values are compared with %d", width, len(v.Items))
		}
		codes := make([]exec.Code, width)
		for i, item := range v.Items {
			codes[i] = s.compile(item)
		}
		return codes
	case *syntax.Subquery:
		return s.rowOf(v, width)
	}
	s.c.fail(x, "%d values are compared with one", width)
	return nil
}

// rowOf returns the first row of a subquery, NULLs if there is none.
func (s *scope) rowOf(x *syntax.Subquery, width int) []exec.Code {
	p := s.inside(x.Sub, false)
	if len(p.Columns) != width {
		s.c.fail(x, "%d values are compared with a subquery of %d columns", width, len(p.Columns))
	}
	codes := make([]exec.Code, width)
	for i := range codes {
		c := exec.Code{Sub: true, Uses: p.Outer, Affinity: p.Columns[i].Type, Unit: p.Columns[i].Unit}
		c.Eval = exec.Once(p, func(e *exec.Env) values.Value {
			var out values.Value
			e.Note(p.Run(e, func(row []values.Value) error {
				out = row[i]
				return exec.ErrStop
			}))
			return out
		})
		codes[i] = c
	}
	return codes
}

// rowComparison compiles a comparison of row values.
func (s *scope) rowComparison(x *syntax.Binary, op string, a, b []exec.Code, ax, bx syntax.Expr) exec.Code {
	equal := make([]func(*exec.Env) values.Truth, len(a))
	less := make([]func(*exec.Env) values.Truth, len(a))
	strict := map[string]string{"<": "<", "<=": "<", ">": ">", ">=": ">"}[op]
	all := append(append([]exec.Code(nil), a...), b...)
	for i := range a {
		at, bt := part(ax, i), part(bx, i)
		if op == "IS" || op == "IS NOT" {
			equal[i] = s.same(a[i], b[i], at, bt)
			continue
		}
		c := s.compare("=", a[i], b[i], at, bt)
		if equal[i] = c.Test; strict != "" {
			c = s.compare(strict, a[i], b[i], at, bt)
			less[i] = c.Test
		}
	}
	c := exec.Over(all...)
	c.Prefix = false
	switch {
	case strict != "":
		c.Test = func(e *exec.Env) values.Truth {
			for i := range equal {
				if t := equal[i](e); t == values.Unknown {
					return values.Unknown
				} else if t == values.No {
					return less[i](e)
				}
			}
			return values.TruthOf(op == "<=" || op == ">=")
		}
	default:
		not := op == "<>" || op == "IS NOT"
		c.Test = func(e *exec.Env) values.Truth {
			t := allEqual(e, equal)
			if not {
				t = t.Not()
			}
			return t
		}
	}
	return c.FromTest()
}

// part returns the i-th expression of a row value, or another expression itself.
func part(x syntax.Expr, i int) syntax.Expr {
	if row, ok := x.(*syntax.RowValue); ok {
		return row.Items[i]
	}
	return x
}

func allEqual(e *exec.Env, equal []func(*exec.Env) values.Truth) values.Truth {
	out := values.Yes
	for _, test := range equal {
		switch test(e) {
		case values.No:
			return values.No
		case values.Unknown:
			out = values.Unknown
		}
	}
	return out
}

// same is IS between two operands.
func (s *scope) same(a, b exec.Code, ax, bx syntax.Expr) func(*exec.Env) values.Truth {
	a, b = s.beside(a, b, ax, bx)
	equal := s.compareRead("=", a, b).Test
	return func(e *exec.Env) values.Truth {
		v, w := a.Eval(e), b.Eval(e)
		if v.Kind() == values.Null || w.Kind() == values.Null {
			return values.TruthOf(v.Kind() == w.Kind())
		}
		return values.TruthOf(equal(e) == values.Yes)
	}
}

// rows compiles a comparison of row values; ok is false if there are none in it.
func (s *scope) rows(x *syntax.Binary) (exec.Code, bool) {
	width := max(rowWidth(x.X), rowWidth(x.Y))
	if width == 0 {
		return exec.Code{}, false
	}
	return s.rowComparison(x, x.Op, s.vector(x.X, width), s.vector(x.Y, width), x.X, x.Y), true
}

// rowBetween is BETWEEN of row values: two comparisons.
func (s *scope) rowBetween(x *syntax.Between) exec.Code {
	above := &syntax.Binary{Span: x.Span, Op: ">=", X: x.X, Y: x.Lo}
	below := &syntax.Binary{Span: x.Span, Op: "<=", X: x.X, Y: x.Hi}
	var both syntax.Expr = &syntax.Binary{Span: x.Span, Op: "AND", X: above, Y: below}
	if x.Not {
		both = &syntax.Unary{Span: x.Span, Op: "NOT", X: both}
	}
	return s.compile(both)
}

// rowIn is IN of a row value: in a list of row values, or in a subquery with as many columns.
func (s *scope) rowIn(x *syntax.In) exec.Code {
	width := rowWidth(x.X)
	a := s.vector(x.X, width)
	if x.Sub == nil {
		var any syntax.Expr = &syntax.Literal{Span: x.Span, Value: values.Int(0)}
		for _, item := range x.List {
			any = &syntax.Binary{Span: x.Span, Op: "OR", X: any, Y: &syntax.Binary{Span: x.Span, Op: "=", X: x.X,
				Y: item}}
		}
		if x.Not {
			any = &syntax.Unary{Span: x.Span, Op: "NOT", X: any}
		}
		return s.compile(any)
	}
	p := s.inside(x.Sub, false)
	if len(p.Columns) != width {
		s.c.fail(x.Sub, "%d values are looked for in a subquery of %d columns", width, len(p.Columns))
	}
	row := make([]values.Value, width)
	equal := make([]func(*exec.Env) values.Truth, width)
	c := exec.Over(a...)
	for i := range a {
		item := exec.Code{Eval: func(*exec.Env) values.Value { return row[i] }, Sub: true, Affinity: p.Columns[i].Type,
			Unit: p.Columns[i].Unit}
		item = s.member(item, p, x.Sub, i)
		equal[i] = s.compare("=", a[i], item, part(x.X, i), x.X).Test
	}
	c.Constant, c.Sub, c.Uses = false, true, c.Uses|p.Outer
	var of *exec.Env
	var rows [][]values.Value
	c.Test = func(e *exec.Env) values.Truth {
		if of != e || !p.Steady() {
			of, rows = e, rows[:0]
			e.Note(p.Run(e, func(r []values.Value) error {
				rows = append(rows, append([]values.Value(nil), r...))
				return e.Hold(r, functions.HeldEntry)
			}))
		}
		out := values.No
		for _, r := range rows {
			copy(row, r)
			if err := e.Step(); err != nil {
				break
			}
			if t := allEqual(e, equal); t == values.Yes {
				out = values.Yes
				break
			} else if t == values.Unknown {
				out = values.Unknown
			}
		}
		if x.Not {
			out = out.Not()
		}
		return out
	}
	return c.FromTest()
}
