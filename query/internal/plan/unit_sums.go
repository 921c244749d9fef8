package plan

import (
	"github.com/placectl/placectl/query/fault"
	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// arithmetic compiles + - * / % and the bit operators, with units.
func (s *scope) arithmetic(x *syntax.Binary, a, b exec.Code) exec.Code {
	a, b, unit := s.sumUnits(x, a, b)
	c := exec.Over(a, b)
	c.Unit = unit
	c.Prefix = c.Prefix || a.IsPrefix() || b.IsPrefix()
	op := values.Operators[x.Op]
	left, right := a.Eval, b.Eval
	ratio := x.Op == "/" && a.Unit.Measured() && b.Unit.Measured()
	if converts(x, a.Unit) {
		ratio, c.Unit = true, tables.NoUnit
	}
	if ratio { // a plain number with its fraction
		op = func(a, b values.Value) values.Value {
			return values.Operators["/"](values.RealAffinity.Cast(a), b)
		}
	}
	c.Eval = func(e *exec.Env) values.Value { return op(left(e), right(e)) }
	return c
}

// converts reports whether a division converts to hours, days or GiB: its divisor is, literally, the
// seconds of a minute, hour, day or week for a duration, or a power of 1000 or 1024 for a size.
func converts(x *syntax.Binary, u tables.Unit) bool {
	l, ok := x.Y.(*syntax.Literal)
	if !ok || x.Op != "/" || l.Value.Kind() != values.Integer && l.Value.Kind() != values.Real {
		return false
	}
	switch n := values.RealAffinity.Cast(l.Value).Float64(); u {
	case tables.Duration:
		return n == 60 || n == 3600 || n == 86400 || n == 604800
	case tables.Bytes:
		for _, base := range []float64{1000, 1024} {
			for p := base; p <= n; p *= base {
				if p == n {
					return true
				}
			}
		}
	}
	return false
}

// sumUnits reads the operands of an operator, and returns the unit of the result.
func (s *scope) sumUnits(x *syntax.Binary, a, b exec.Code) (exec.Code, exec.Code, tables.Unit) {
	if a.Named || b.Named {
		s.namedSum(x, a, b)
	}
	if !a.Unit.Measured() && !b.Unit.Measured() {
		return a, b, tables.NoUnit
	}
	switch x.Op {
	case "+", "-":
		return s.addUnits(x, a, b)
	case "*":
		switch {
		case a.Unit == tables.Time || b.Unit == tables.Time || a.Unit == b.Unit:
			s.meaningless(x, a.Unit, b.Unit, "")
		case a.Unit.Measured() && b.Unit.Measured(): // byte seconds
			return a, b, tables.NoUnit
		case a.Unit.Measured():
			return a, s.factor(b, x.Y), a.Unit
		}
		return s.factor(a, x.X), b, b.Unit
	case "/":
		switch {
		case a.Unit == tables.Time || b.Unit == tables.Time:
			s.meaningless(x, a.Unit, b.Unit, "; to put instants together write date_trunc('hour', t)")
		case !a.Unit.Measured():
			return s.factor(a, x.X), b, tables.NoUnit
		case !b.Unit.Measured():
			if b = s.orUnit(b, a.Unit, x.Y); b.Unit == tables.NoUnit {
				return a, b, a.Unit
			}
		}
		return a, b, tables.NoUnit
	case "%":
		if a.Unit == tables.Time && (b.Unit == tables.NoUnit || b.Unit == tables.Duration) {
			return a, s.read(b, tables.Duration, x.Y), tables.Duration
		}
		if b.Unit == tables.Time || b.Unit.Measured() && a.Unit != b.Unit {
			s.meaningless(x, a.Unit, b.Unit, "")
		}
		return a, s.read(b, a.Unit, x.Y), a.Unit
	}
	s.meaningless(x, a.Unit, b.Unit, "; divide by a unit, as in mem / '1GiB'")
	return a, b, tables.NoUnit
}

func (s *scope) meaningless(x *syntax.Binary, a, b tables.Unit, hint string) {
	s.c.fail(x, "%s %s %s means nothing%s", a.Shown(), x.Op, b.Shown(), hint)
}

// namedSum refuses arithmetic with the result of datetime().
func (s *scope) namedSum(x *syntax.Binary, a, b exec.Code) {
	if a.Named && b.Unit != tables.Time || b.Named && a.Unit != tables.Time {
		s.c.fail(x, "a date function makes a text: to count with the time leave the function away, as in start %s '1h'",
			x.Op)
	}
}

// addUnits handles + and -.
func (s *scope) addUnits(x *syntax.Binary, a, b exec.Code) (exec.Code, exec.Code, tables.Unit) {
	minus := x.Op == "-"
	switch {
	case a.Unit == tables.Time && b.Unit == tables.Time:
		if !minus {
			s.meaningless(x, tables.Time, tables.Time, "; the length of time between them is their difference")
		}
		return a, b, tables.Duration
	case a.Unit == tables.Time && !b.Unit.Measured():
		if b = s.either(b, tables.Duration, tables.Time, minus, x.Y); b.Unit == tables.Time {
			return a, b, tables.Duration
		}
		return a, b, tables.Time
	case b.Unit == tables.Time && !a.Unit.Measured():
		if minus {
			return s.read(a, tables.Time, x.X), b, tables.Duration
		}
		return s.read(a, tables.Duration, x.X), b, tables.Time
	case a.Unit == tables.Time && b.Unit == tables.Duration:
		return a, b, tables.Time
	case a.Unit == tables.Duration && b.Unit == tables.Time && !minus:
		return a, b, tables.Time
	case !a.Unit.Measured() && b.Unit == tables.Duration:
		if a = s.either(a, tables.Duration, tables.Time, true, x.X); a.Unit == tables.Time {
			return a, b, tables.Time
		}
		return a, b, tables.Duration
	case !a.Unit.Measured():
		return s.read(a, b.Unit, x.X), b, b.Unit
	case !b.Unit.Measured():
		return a, s.read(b, a.Unit, x.Y), a.Unit
	case a.Unit != b.Unit:
		s.meaningless(x, a.Unit, b.Unit, "")
	}
	return a, b, a.Unit
}

// either reads an operand in one unit. If it is a text that cannot be read in that unit, and
// may is set, it tries another.
func (s *scope) either(c exec.Code, u, or tables.Unit, may bool, x syntax.Expr) exec.Code {
	if c.Unit == tables.UTC {
		if !may {
			s.c.fail(x, "%s is an instant; here a duration is meant, such as %s", x, tables.Duration.Written())
		}
		return s.read(c, or, x)
	}
	if v, ok := c.ConstantOf(); ok && !c.Sub && v.Kind() == values.Text && may {
		if _, err := s.number(v, u, false); err != nil {
			if n, err := s.number(v, or, false); err == nil {
				out := exec.Constant(n)
				out.Unit = or
				return out
			}
		}
	}
	return s.read(c, u, x)
}

// orUnit reads a text constant in a unit, except a plain number.
func (s *scope) orUnit(c exec.Code, u tables.Unit, x syntax.Expr) exec.Code {
	if v, ok := c.ConstantOf(); ok && !c.Sub && v.Kind() == values.Text {
		if _, whole := values.LeadingNumber(v.Text()); !whole {
			return s.read(c, u, x)
		}
	}
	return s.factor(c, x)
}

// factor returns a plain number next to a value with a unit.
func (s *scope) factor(c exec.Code, x syntax.Expr) exec.Code {
	if c.Prefix || c.IsPrefix() || c.Unit == tables.UTC {
		s.c.fail(x, "%s is no number", x)
	}
	if c.Affinity.Numeric() || c.Constant || c.Unit != tables.NoUnit || c.Test != nil {
		return c
	}
	eval, at := c.Eval, x.Pos()
	c.Eval = func(e *exec.Env) values.Value {
		v := eval(e)
		if v.Kind() == values.Text {
			n, whole := values.LeadingNumber(v.Text())
			if !whole {
				return e.Fail(&fault.Error{Text: s.c.text, Offset: at, Msg: values.Quote(v.Text()) + " is no number"})
			}
			v = n
		}
		return v
	}
	c.Column = false
	return c
}
