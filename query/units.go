package query

import (
	"fmt"
	"math"
)

// A column of a unit makes what stands beside it read in that unit: a text as people
// write it, a number as seconds or bytes. What has no meaning is refused where it
// stands. Nothing is taken by the number that a text happens to begin with.

// measured reports whether numbers of the unit are read and printed in words of its own.
func (u Unit) measured() bool { return u == Time || u == Duration || u == Bytes }

// reads is the unit in which a text beside a column of u is read; NoUnit for none.
func (u Unit) reads() Unit {
	switch {
	case u == Amount:
		return Bytes
	case u.measured():
		return u
	}
	return NoUnit
}

// shown names a unit in messages.
func (u Unit) shown() string {
	switch u {
	case Time, Duration:
		return "a " + u.String()
	case Bytes:
		return "a size"
	}
	return "a number"
}

// written says how a value of the unit is written.
func (u Unit) written() string {
	return map[Unit]string{Time: "'2026-11-20 10:00' or 'now+2h'", Duration: "'1h30m' or '90s'", Bytes: "'64GiB'"}[u]
}

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
	return constant(Int(n.Int64()*1000 + epochMillis)), false, true
}

// arithmetic is + - * / % and the bits of two operands, with their units.
func (s *scope) arithmetic(x *Binary, a, b code) code {
	a, b, unit := s.sumUnits(x, a, b)
	c := over(a, b)
	c.unit = unit
	c.prefix = c.prefix || a.isPrefix() || b.isPrefix()
	op := arithmetic[x.Op]
	left, right := a.eval, b.eval
	c.eval = func(e *env) Value { return op(left(e), right(e)) }
	return c
}

// isPrefix reports a text constant that arithmetic would take by its beginning.
func (c *code) isPrefix() bool {
	if c.unit != NoUnit || c.sub {
		return false
	}
	v, ok := c.constantOf()
	if !ok || v.kind != Text {
		return false
	}
	_, whole := leadingNumber(v.str)
	return !whole
}

// sumUnits reads the operands of an operator, and tells what the result is of.
func (s *scope) sumUnits(x *Binary, a, b code) (code, code, Unit) {
	if a.named || b.named {
		s.namedSum(x, a, b)
	}
	if !a.unit.measured() && !b.unit.measured() {
		return a, b, NoUnit
	}
	switch x.Op {
	case "+", "-":
		return s.addUnits(x, a, b)
	case "*":
		switch {
		case a.unit == Time || b.unit == Time || a.unit == b.unit:
			s.meaningless(x, a.unit, b.unit, "")
		case a.unit.measured() && b.unit.measured(): // byte seconds
			return a, b, NoUnit
		case a.unit.measured():
			return a, s.factor(b, x.Y), a.unit
		}
		return s.factor(a, x.X), b, b.unit
	case "/":
		switch {
		case a.unit == Time || b.unit == Time:
			s.meaningless(x, a.unit, b.unit, "; to put instants together write date_trunc('hour', t)")
		case !a.unit.measured():
			return s.factor(a, x.X), b, NoUnit
		case !b.unit.measured():
			if b = s.orUnit(b, a.unit, x.Y); b.unit == NoUnit {
				return a, b, a.unit
			}
		}
		return a, b, NoUnit
	case "%":
		if a.unit == Time && (b.unit == NoUnit || b.unit == Duration) {
			return a, s.read(b, Duration, x.Y), Duration
		}
		if b.unit == Time || b.unit.measured() && a.unit != b.unit {
			s.meaningless(x, a.unit, b.unit, "")
		}
		return a, s.read(b, a.unit, x.Y), a.unit
	}
	s.meaningless(x, a.unit, b.unit, "; divide by a unit, as in mem / '1GiB'")
	return a, b, NoUnit
}

func (s *scope) meaningless(x *Binary, a, b Unit, hint string) {
	s.c.fail(x, "%s %s %s means nothing%s", a.shown(), x.Op, b.shown(), hint)
}

// namedSum refuses to count with what datetime() made of a time.
func (s *scope) namedSum(x *Binary, a, b code) {
	if a.named && b.unit != Time || b.named && a.unit != Time {
		s.c.fail(x, "a date function makes a text: to count with the time leave the function away, as in start %s '1h'", x.Op)
	}
}

// addUnits is for + and -.
func (s *scope) addUnits(x *Binary, a, b code) (code, code, Unit) {
	minus := x.Op == "-"
	switch {
	case a.unit == Time && b.unit == Time:
		if !minus {
			s.meaningless(x, Time, Time, "; the length of time between them is their difference")
		}
		return a, b, Duration
	case a.unit == Time && !b.unit.measured():
		if b = s.either(b, Duration, Time, minus, x.Y); b.unit == Time {
			return a, b, Duration
		}
		return a, b, Time
	case b.unit == Time && !a.unit.measured():
		if minus {
			return s.read(a, Time, x.X), b, Duration
		}
		return s.read(a, Duration, x.X), b, Time
	case a.unit == Time && b.unit == Duration:
		return a, b, Time
	case a.unit == Duration && b.unit == Time && !minus:
		return a, b, Time
	case !a.unit.measured() && b.unit == Duration:
		if a = s.either(a, Duration, Time, true, x.X); a.unit == Time {
			return a, b, Time
		}
		return a, b, Duration
	case !a.unit.measured():
		return s.read(a, b.unit, x.X), b, b.unit
	case !b.unit.measured():
		return a, s.read(b, a.unit, x.Y), a.unit
	case a.unit != b.unit:
		s.meaningless(x, a.unit, b.unit, "")
	}
	return a, b, a.unit
}

// either reads an operand in one unit, or where it is a text that cannot be read so, and
// may be, in another.
func (s *scope) either(c code, u, or Unit, may bool, x Expr) code {
	if c.unit == UTC {
		if !may {
			s.c.fail(x, "%s is an instant; here a duration is meant, such as %s", x, Duration.written())
		}
		return s.read(c, or, x)
	}
	if v, ok := c.constantOf(); ok && !c.sub && v.kind == Text && may {
		if _, err := s.number(v, u, false); err != nil {
			if n, err := s.number(v, or, false); err == nil {
				out := constant(n)
				out.unit = or
				return out
			}
		}
	}
	return s.read(c, u, x)
}

// orUnit reads a text constant in a unit, but for one that is a number as it stands.
func (s *scope) orUnit(c code, u Unit, x Expr) code {
	if v, ok := c.constantOf(); ok && !c.sub && v.kind == Text {
		if _, whole := leadingNumber(v.str); !whole {
			return s.read(c, u, x)
		}
	}
	return s.factor(c, x)
}

// factor is a number beside something of a unit.
func (s *scope) factor(c code, x Expr) code {
	if c.prefix || c.isPrefix() || c.unit == UTC {
		s.c.fail(x, "%s is no number", x)
	}
	if c.affinity.numeric() || c.constant || c.unit != NoUnit || c.test != nil {
		return c
	}
	eval, at := c.eval, x.Pos()
	c.eval = func(e *env) Value {
		v := eval(e)
		if v.kind == Text {
			n, whole := leadingNumber(v.str)
			if !whole {
				return e.fail(&Error{s.c.text, at, quoteText(v.str) + " is no number"})
			}
			v = n
		}
		return v
	}
	c.column = false
	return c
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

// seconds is the instant in Unix seconds, cut to whole ones.
func (t instant) seconds() int64 {
	return int64(math.Floor(float64(int64(t)-epochMillis) / 1000))
}
