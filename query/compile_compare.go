package query

import (
	"slices"
)

// compareAffinity is what both sides of a comparison are converted to.
func compareAffinity(a, b Affinity) Affinity {
	switch {
	case a == NoAffinity:
		a = b
	case b == NoAffinity:
	case a.numeric() || b.numeric():
		return NumericAffinity
	default:
		return NoAffinity
	}
	if a.numeric() {
		return NumericAffinity
	}
	return a
}

func (s *scope) comparison(x *Binary) code {
	if c, ok := s.rows(x); ok {
		return c
	}
	a, b := s.compile(x.X), s.compile(x.Y)
	a, b = s.beside(a, b, x.X, x.Y)
	c := s.compareRead(x.Op, a, b)
	if x.Op == "=" && !a.collated && !b.collated {
		c.sides = &[2]code{a, b}
	}
	return c
}

// compare is a comparison: =, <>, <, <=, > or >=. Each side is read in the unit of the
// other.
func (s *scope) compare(op string, a, b code, ax, bx Expr) code {
	a, b = s.beside(a, b, ax, bx)
	return s.compareRead(op, a, b)
}

// compareRead compares what has been read.
func (s *scope) compareRead(op string, a, b code) code {
	c := over(a, b)
	c.prefix = false
	collate := a.collate
	if !a.collated && (b.collated || collate == ByBytes) {
		collate = b.collate
	}
	holds := outcomes[op]
	affinity := compareAffinity(a.affinity, b.affinity)
	if v, ok := b.constantOf(); ok && !b.sub {
		if c.test = compareConstant(a, affinity.apply(v), affinity, collate, holds); c.test != nil {
			return c.fromTest()
		}
	}
	left, right := a.eval, b.eval
	c.test = func(e *env) truth {
		v, w := left(e), right(e)
		if v.kind == Null || w.kind == Null {
			return unknown
		}
		return truthOf(holds[sign(compareValues(affinity.apply(v), affinity.apply(w), collate))+1])
	}
	return c.fromTest()
}

// outcomes says for which signs of a comparison an operator holds.
var outcomes = map[string]*[3]bool{
	"=": {false, true, false}, "<>": {true, false, true},
	"<": {true, false, false}, "<=": {true, true, false},
	">": {false, false, true}, ">=": {false, true, true},
}

func outcome[T int64 | float64](holds *[3]bool, a, b T) truth {
	switch {
	case a < b:
		return truthOf(holds[0])
	case a > b:
		return truthOf(holds[2])
	}
	return truthOf(holds[1])
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

// compareConstant is the common case, a column and a constant of its type, without
// detours; nil where it is another.
func compareConstant(a code, v Value, affinity Affinity, collate Collation, holds *[3]bool) func(*env) truth {
	left := a.eval
	switch {
	case v.kind == Null:
		return func(*env) truth { return unknown }
	case v.kind == Integer && affinity != TextAffinity:
		n := v.Int64()
		return func(e *env) truth {
			w := left(e)
			if w.kind != Integer {
				if w.kind == Null {
					return unknown
				}
				return truthOf(holds[sign(compareValues(affinity.apply(w), v, ByBytes))+1])
			}
			return outcome(holds, w.Int64(), n)
		}
	case v.kind == Real && affinity != TextAffinity:
		f := v.Float64()
		return func(e *env) truth {
			w := left(e)
			if w.kind != Real {
				if w.kind == Null {
					return unknown
				}
				return truthOf(holds[sign(compareValues(affinity.apply(w), v, ByBytes))+1])
			}
			return outcome(holds, w.Float64(), f)
		}
	case v.kind == Text && a.column && a.affinity == TextAffinity && collate == ByBytes && holds[1] && !holds[0] && !holds[2]:
		text := v.str
		return func(e *env) truth {
			w := left(e)
			if w.kind == Null {
				return unknown
			}
			return truthOf(w.kind == Text && w.str == text)
		}
	}
	return nil
}

// is is IS and IS NOT: a comparison to which NULLs are values.
func (s *scope) is(x *Binary) code {
	not := x.Op == "IS NOT"
	if word, ok := isWord(x.Y); ok {
		a := s.compile(x.X)
		c := over(a)
		test, want := a.condition(), truthOf(word == "TRUE")
		c.test = func(e *env) truth { return truthOf((test(e) == want) != not) }
		return c.fromTest()
	}
	if c, ok := s.rows(x); ok {
		return c
	}
	a, b := s.compile(x.X), s.compile(x.Y)
	a, b = s.beside(a, b, x.X, x.Y)
	c := over(a, b)
	c.prefix = false
	equal := s.compareRead("=", a, b).test
	c.test = func(e *env) truth {
		v, w := a.eval(e), b.eval(e)
		if v.kind == Null || w.kind == Null {
			return truthOf((v.kind == w.kind) != not)
		}
		return truthOf((equal(e) == yes) != not)
	}
	return c.fromTest()
}

func (s *scope) between(x *Between) code {
	if rowWidth(x.X) > 0 {
		return s.rowBetween(x)
	}
	a := s.compile(x.X)
	lo, hi := s.compile(x.Lo), s.compile(x.Hi)
	above, below := s.compare(">=", a, lo, x.X, x.Lo), s.compare("<=", a, hi, x.X, x.Hi)
	c := over(a, lo, hi)
	c.test = func(e *env) truth {
		t := above.test(e)
		if t != no {
			if w := below.test(e); w == no || t == yes {
				t = w
			}
		}
		if x.Not {
			t = t.not()
		}
		return t
	}
	if !x.Not {
		c.pass = func(e *env) truth {
			if above.test(e) != yes {
				return no
			}
			return below.test(e)
		}
	}
	return c.fromTest()
}

func (s *scope) in(x *In) code {
	if rowWidth(x.X) > 0 {
		return s.rowIn(x)
	}
	a := s.compile(x.X)
	if x.Sub != nil {
		return s.inSubquery(x, a)
	}
	affinity := compareAffinity(a.affinity, NoAffinity)
	items := make([]code, len(x.List))
	for i, item := range x.List {
		items[i] = s.compile(item)
		s.vocabulary(items[i], a, item)
	}
	all := append(items, a)
	s.unify(all, append(slices.Clone(x.List), x.X))
	items, a = all[:len(x.List)], all[len(x.List)]
	c := over(append(items, a)...)
	if m, ok := constantSet(items, affinity); ok && a.collate == ByBytes {
		c.test = func(e *env) truth { return m.has(affinity.apply(a.eval(e)), x.Not) }
		return c.fromTest()
	}
	collate := a.collate
	c.test = func(e *env) truth {
		v := affinity.apply(a.eval(e))
		result := no
		for _, item := range items {
			w := affinity.apply(item.eval(e))
			if v.kind == Null || w.kind == Null {
				result = unknown
			} else if compareValues(v, w, collate) == 0 {
				result = yes
				break
			}
		}
		if x.Not {
			result = result.not()
		}
		return result
	}
	return c.fromTest()
}

// members is a set of values to be looked for.
type members struct {
	values map[Value]struct{}
	null   bool
}

func (m *members) add(v Value) {
	if v.kind == Null {
		m.null = true
		return
	}
	if m.values == nil {
		m.values = make(map[Value]struct{})
	}
	m.values[normal(v)] = struct{}{}
}

// has is v [NOT] IN the set.
func (m *members) has(v Value, not bool) truth {
	t := no
	if _, ok := m.values[normal(v)]; ok {
		t = yes
	} else if m.null || v.kind == Null && len(m.values) > 0 {
		t = unknown
	}
	if not {
		t = t.not()
	}
	return t
}

func constantSet(items []code, affinity Affinity) (*members, bool) {
	m := &members{}
	for i := range items {
		v, ok := items[i].constantOf()
		if !ok || items[i].sub {
			return nil, false
		}
		m.add(affinity.apply(v))
	}
	return m, true
}

// match is LIKE and GLOB.
func (s *scope) match(x *Match) code {
	a, b := s.compile(x.X), s.compile(x.Y)
	s.onlyText(x.word(), a, x.X)
	s.onlyText(x.word(), b, x.Y)
	parts := []code{a, b}
	escape := constant(Value{})
	if x.Escape != nil {
		escape = s.compile(x.Escape)
		parts = append(parts, escape)
	}
	c := over(parts...)
	var regular matcher
	c.test = func(e *env) truth {
		v, w := a.eval(e), b.eval(e)
		esc := noEscape
		if x.Escape != nil {
			z := escape.eval(e)
			if z.kind == Null {
				return unknown
			}
			all := []rune(z.String())
			if len(all) != 1 {
				e.fail(&Error{s.c.text, x.Escape.Pos(), "ESCAPE takes one character"})
				return unknown
			}
			esc = all[0]
		}
		if v.kind == Null || w.kind == Null {
			return unknown
		}
		pattern := w.String()
		if len(pattern) > maxPattern {
			e.fail(&LimitError{"bytes in a pattern", maxPattern})
			return unknown
		}
		hit := false
		switch {
		case x.Glob:
			hit = glob(pattern, v.String())
		case x.Regexp:
			var err error
			if hit, err = regular.match(pattern, v.String()); err != nil {
				e.fail(s.c.at(x.Y, err))
				return unknown
			}
		default:
			hit = like(pattern, v.String(), esc)
		}
		return truthOf(hit != x.Not)
	}
	return c.fromTest()
}
