package query

import (
	"fmt"
)

// A column of a unit makes what stands beside it read in that unit: a text as people
// write it, a number as seconds or bytes. What has no meaning is refused where it
// stands. Nothing is taken by the number that a text happens to begin with.

// beside makes ready what is compared: each side read in the unit of the other.
func (s *scope) beside(a, b code, ax, bx Expr) (code, code) {
	s.vocabulary(a, b, ax)
	s.vocabulary(b, a, bx)
	switch {
	case a.unit.reads() != NoUnit:
		b = s.read(b, a.unit, bx)
	case b.unit.reads() != NoUnit:
		a = s.read(a, b.unit, ax)
	case a.named || b.named:
		return s.instants(a, b, ax, bx)
	}
	return a, b
}

// vocabulary refuses a text constant that cannot be meant beside a column.
func (s *scope) vocabulary(c, column code, x Expr) {
	if column.refuse == nil || c.sub {
		return
	}
	if v, ok := c.constantOf(); ok && v.kind == Text {
		if err := column.refuse(v.str); err != nil {
			s.c.fail(x, "%v", err)
		}
	}
}

// read makes an operand a number of a unit.
func (s *scope) read(c code, unit Unit, x Expr) code {
	u := unit.reads()
	switch {
	case u == NoUnit || c.unit == unit || c.unit == u || c.unit == Amount || c.test != nil:
		return c
	case c.unit.measured():
		s.c.fail(x, "%s is %s; beside it %s is meant, such as %s", x, c.unit.shown(), u.shown(), u.written())
	case c.prefix:
		return s.readSum(c, u, x)
	}
	if v, ok := c.constantOf(); ok && !c.sub {
		if v.kind != Text {
			return c
		}
		n, err := s.number(v, u, c.unit == UTC)
		if err != nil {
			s.c.fail(x, "%v", err)
		}
		out := constant(n)
		out.unit = u
		return out
	}
	if c.affinity.numeric() {
		return c
	}
	eval, utc, at := c.eval, c.unit == UTC, x.Pos()
	c.eval = func(e *env) Value {
		v := eval(e)
		if v.kind != Text {
			return v
		}
		n, err := s.number(v, u, utc)
		if err != nil {
			return e.fail(&Error{s.c.text, at, err.Error()})
		}
		return n
	}
	c.pass, c.unit, c.affinity, c.column, c.refuse = nil, u, NoAffinity, false, nil
	return c
}

// number reads a text as a number of a unit: a number as it stands, else in words. What
// datetime() makes is read as it means it, in UTC.
func (s *scope) number(v Value, u Unit, utc bool) (Value, error) {
	if n, whole := leadingNumber(v.str); whole {
		return NumericAffinity.apply(n), nil
	}
	if utc {
		t, ok := parseInstant(v.str)
		if !ok {
			return Value{}, fmt.Errorf("%s is no instant", quoteText(v.str))
		}
		return Int(t.seconds()), nil
	}
	return s.c.catalog.Literal(u, v.str)
}

// readSum reads a sum of texts, 'now' - '1d', beside a column of a unit.
func (s *scope) readSum(c code, u Unit, x Expr) code {
	b, ok := x.(*Binary)
	if !ok || b.Op != "+" && b.Op != "-" {
		s.c.fail(x, "%s would take a text by the number that it begins with; beside it %s is meant: write %s", x, u.shown(), u.written())
	}
	left, right := s.compile(b.X), s.compile(b.Y)
	second := u
	if u == Time {
		second = Duration
	}
	left, right = s.read(left, u, b.X), s.read(right, second, b.Y)
	left.unit, right.unit = u, second
	return s.arithmetic(b, left, right)
}

// instants compares what datetime() made of a time with a text that names an instant.
func (s *scope) instants(a, b code, ax, bx Expr) (code, code) {
	x, y, ok1 := s.instantText(a)
	z, w, ok2 := s.instantText(b)
	if !ok1 || !ok2 || !y && !w {
		return a, b
	}
	return x, z
}

// instantText makes milliseconds of what names an instant; named is for what a date
// function has made.
func (s *scope) instantText(c code) (out code, named, ok bool) {
	if c.unit == UTC {
		eval := c.eval
		c.eval = func(e *env) Value {
			v := eval(e)
			if t, ok := parseInstant(v.str); ok && v.kind == Text {
				return Int(int64(t))
			}
			return Value{}
		}
		c.test, c.pass, c.affinity, c.unit = nil, nil, NoAffinity, NoUnit
		return c, c.named, true
	}
	v, ok := c.constantOf()
	if !ok || c.sub || v.kind != Text {
		return c, false, false
	}
	if t, ok := parseInstant(v.str); ok {
		return constant(Int(int64(t))), false, true
	}
	n, err := s.c.catalog.Literal(Time, v.str)
	if err != nil || n.kind != Integer {
		return c, false, false
	}
	return constant(Int(int64(ofSeconds(n.Int64())))), false, true
}

// unify reads operands of which one is chosen in the unit that one of them has.
func (s *scope) unify(parts []code, xs []Expr) Unit {
	u := NoUnit
	for i := range parts {
		if parts[i].unit.measured() {
			u = parts[i].unit
			break
		}
	}
	if u == NoUnit {
		return sameUnit(parts)
	}
	for i := range parts {
		parts[i] = s.read(parts[i], u, xs[i])
	}
	return u
}

// sameUnit is the unit that all parts agree on, constants apart.
func sameUnit(parts []code) Unit {
	u, found := NoUnit, false
	for i := range parts {
		switch {
		case parts[i].constant && parts[i].unit == NoUnit:
		case !found:
			u, found = parts[i].unit, true
		case u != parts[i].unit:
			return NoUnit
		}
	}
	return u
}

// onlyText refuses something of a unit where a text is worked with: what it is as a text
// is not what is printed.
func (s *scope) onlyText(what string, c code, x Expr) {
	if hint := textHint(c.unit, x); hint != "" {
		s.c.fail(x, "%s takes texts, and %s is %s; %s", what, x, c.unit.shown(), hint)
	}
}

func textHint(u Unit, x Expr) string {
	switch u {
	case Time:
		return fmt.Sprintf("write datetime(%s), or compare it with %s", x, u.written())
	case Duration, Bytes:
		return fmt.Sprintf("compare it with %s, or write CAST(%s AS TEXT) for the number", u.written(), x)
	}
	return ""
}
