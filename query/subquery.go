package query

// Subqueries that look at no query around them are run once; others for every row.

// scalar is a subquery that stands for a value: of its first row, NULL without one.
func (s *scope) scalar(x *Subquery) code {
	p := s.inside(x.Sub, true)
	c := code{sub: true, uses: p.outer, affinity: p.columns[0].Type, unit: p.columns[0].Unit, prefix: prefixed(p)}
	c.eval = once(p, func(e *env) Value {
		var out Value
		e.note(p.run(e, func(row []Value) error {
			out = row[0]
			return errStop
		}))
		return out
	})
	return c
}

// inside compiles a subquery of an expression.
func (s *scope) inside(x *Select, single bool) *selectPlan {
	group := s.group
	p := s.c.compileSelect(x, s)
	s.group = group
	if single && len(p.columns) != 1 {
		s.c.fail(x, "a subquery that stands for a value has one column, not %d", len(p.columns))
	}
	return p
}

func (s *scope) exists(x *Exists) code {
	p := s.inside(x.Sub, false)
	c := code{sub: true, uses: p.outer}
	c.eval = once(p, func(e *env) Value {
		found := false
		e.note(p.run(e, func([]Value) error {
			found = true
			return errStop
		}))
		return Bool(found)
	})
	return c
}

func (s *scope) inSubquery(x *In, a code) code {
	p := s.inside(x.Sub, true)
	if a.collated {
		s.c.fail(x, "COLLATE with IN (SELECT ...) is not supported")
	}
	c := over(a)
	c.constant, c.sub, c.uses = false, true, c.uses|p.outer
	of1 := code{eval: func(e *env) Value { return e.item }, sub: true, affinity: p.columns[0].Type, unit: p.columns[0].Unit, prefix: prefixed(p)}
	a, item := s.beside(a, of1, x.X, &Subquery{x.Sub.span, x.Sub})
	affinity := compareAffinity(a.affinity, item.affinity)
	var of *env
	var m *members
	c.test = func(e *env) truth {
		if of != e || p.outer != 0 || !p.steady() {
			of, m = e, &members{}
			e.note(p.run(e, func(row []Value) error {
				e.item = row[0]
				m.add(affinity.apply(item.eval(e)))
				return e.hold(row)
			}))
		}
		return m.has(affinity.apply(a.eval(e)), x.Not)
	}
	return c.fromTest()
}

// prefixed reports whether a text in the only column is taken by its beginning.
func prefixed(p *selectPlan) bool { return len(p.out) > 0 && p.out[0].prefix }
