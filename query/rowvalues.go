package query

// Rows of values are compared from left to right: the first two that are not equal
// decide, and where one of those is NULL the answer is unknown.

// rowWidth is how many values an expression has as a row; 0 for one that is no row.
func rowWidth(x Expr) int {
	if row, ok := x.(*RowValue); ok {
		return len(row.Items)
	}
	return 0
}

// vector compiles a row of values, or a subquery that gives one.
func (s *scope) vector(x Expr, width int) []code {
	switch v := x.(type) {
	case *RowValue:
		if len(v.Items) != width {
			s.c.fail(x, "%d values are compared with %d", width, len(v.Items))
		}
		codes := make([]code, width)
		for i, item := range v.Items {
			codes[i] = s.compile(item)
		}
		return codes
	case *Subquery:
		return s.rowOf(v, width)
	}
	s.c.fail(x, "%d values are compared with one", width)
	return nil
}

// rowOf is the first row of a subquery, NULLs without one.
func (s *scope) rowOf(x *Subquery, width int) []code {
	p := s.inside(x.Sub, false)
	if len(p.columns) != width {
		s.c.fail(x, "%d values are compared with a subquery of %d columns", width, len(p.columns))
	}
	codes := make([]code, width)
	for i := range codes {
		c := code{sub: true, uses: p.outer, affinity: p.columns[i].Type, unit: p.columns[i].Unit}
		c.eval = once(p, func(e *env) Value {
			var out Value
			e.note(p.run(e, func(row []Value) error {
				out = row[i]
				return errStop
			}))
			return out
		})
		codes[i] = c
	}
	return codes
}

// rowComparison compiles a comparison in which a row of values stands.
func (s *scope) rowComparison(x *Binary, op string, a, b []code, ax, bx Expr) code {
	equal := make([]func(*env) truth, len(a))
	less := make([]func(*env) truth, len(a))
	strict := map[string]string{"<": "<", "<=": "<", ">": ">", ">=": ">"}[op]
	all := append(append([]code(nil), a...), b...)
	for i := range a {
		at, bt := part(ax, i), part(bx, i)
		if op == "IS" || op == "IS NOT" {
			equal[i] = s.same(a[i], b[i], at, bt)
			continue
		}
		c := s.compare("=", a[i], b[i], at, bt)
		if equal[i] = c.test; strict != "" {
			c = s.compare(strict, a[i], b[i], at, bt)
			less[i] = c.test
		}
	}
	c := over(all...)
	c.prefix = false
	switch {
	case strict != "":
		c.test = func(e *env) truth {
			for i := range equal {
				if t := equal[i](e); t == unknown {
					return unknown
				} else if t == no {
					return less[i](e)
				}
			}
			return truthOf(op == "<=" || op == ">=")
		}
	default:
		not := op == "<>" || op == "IS NOT"
		c.test = func(e *env) truth {
			t := allEqual(e, equal)
			if not {
				t = t.not()
			}
			return t
		}
	}
	return c.fromTest()
}

// part is the i-th expression of a row, or all of it.
func part(x Expr, i int) Expr {
	if row, ok := x.(*RowValue); ok {
		return row.Items[i]
	}
	return x
}

func allEqual(e *env, equal []func(*env) truth) truth {
	out := yes
	for _, test := range equal {
		switch test(e) {
		case no:
			return no
		case unknown:
			out = unknown
		}
	}
	return out
}

// same is IS between two operands.
func (s *scope) same(a, b code, ax, bx Expr) func(*env) truth {
	a, b = s.beside(a, b, ax, bx)
	equal := s.compareRead("=", a, b).test
	return func(e *env) truth {
		v, w := a.eval(e), b.eval(e)
		if v.kind == Null || w.kind == Null {
			return truthOf(v.kind == w.kind)
		}
		return truthOf(equal(e) == yes)
	}
}

// rows compiles a comparison of rows; not ok where none stands in it.
func (s *scope) rows(x *Binary) (code, bool) {
	width := max(rowWidth(x.X), rowWidth(x.Y))
	if width == 0 {
		return code{}, false
	}
	return s.rowComparison(x, x.Op, s.vector(x.X, width), s.vector(x.Y, width), x.X, x.Y), true
}

// rowBetween is BETWEEN of rows: two comparisons.
func (s *scope) rowBetween(x *Between) code {
	above := &Binary{x.span, ">=", x.X, x.Lo}
	below := &Binary{x.span, "<=", x.X, x.Hi}
	var both Expr = &Binary{x.span, "AND", above, below}
	if x.Not {
		both = &Unary{x.span, "NOT", both}
	}
	return s.compile(both)
}

// rowIn is IN of a row: in a list of rows, or a subquery of as many columns.
func (s *scope) rowIn(x *In) code {
	width := rowWidth(x.X)
	a := s.vector(x.X, width)
	if x.Sub == nil {
		var any Expr = &Literal{span: x.span, Value: Int(0)}
		for _, item := range x.List {
			any = &Binary{x.span, "OR", any, &Binary{x.span, "=", x.X, item}}
		}
		if x.Not {
			any = &Unary{x.span, "NOT", any}
		}
		return s.compile(any)
	}
	p := s.inside(x.Sub, false)
	if len(p.columns) != width {
		s.c.fail(x.Sub, "%d values are looked for in a subquery of %d columns", width, len(p.columns))
	}
	row := make([]Value, width)
	equal := make([]func(*env) truth, width)
	c := over(a...)
	for i := range a {
		item := code{eval: func(*env) Value { return row[i] }, sub: true, affinity: p.columns[i].Type, unit: p.columns[i].Unit}
		equal[i] = s.compare("=", a[i], item, part(x.X, i), x.X).test
	}
	c.constant, c.sub, c.uses = false, true, c.uses|p.outer
	var of *env
	var rows [][]Value
	c.test = func(e *env) truth {
		if of != e || !p.steady() {
			of, rows = e, rows[:0]
			e.note(p.run(e, func(r []Value) error {
				rows = append(rows, append([]Value(nil), r...))
				return e.hold(r)
			}))
		}
		out := no
		for _, r := range rows {
			copy(row, r)
			if err := e.step(); err != nil {
				break
			}
			if t := allEqual(e, equal); t == yes {
				out = yes
				break
			} else if t == unknown {
				out = unknown
			}
		}
		if x.Not {
			out = out.not()
		}
		return out
	}
	return c.fromTest()
}
