package query

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
