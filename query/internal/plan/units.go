package plan

import (
	"fmt"

	"github.com/placectl/placectl/query/fault"
	"github.com/placectl/placectl/query/internal/dates"
	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// Next to a column with a unit, the other operand is read in that unit: a text as people write
// it, a number as seconds or bytes. An operand without a meaning is refused, with its place.
// No text is used as the number that it happens to begin with.

// beside prepares the sides of a comparison: each is read in the unit of the other.
func (s *scope) beside(a, b exec.Code, ax, bx syntax.Expr) (exec.Code, exec.Code) {
	s.vocabulary(a, b, ax)
	s.vocabulary(b, a, bx)
	switch {
	case a.Unit.Reads() != tables.NoUnit:
		b = s.read(b, a.Unit, bx)
	case b.Unit.Reads() != tables.NoUnit:
		a = s.read(a, b.Unit, ax)
	case a.Named || b.Named:
		return s.instants(a, b, ax, bx)
	}
	return a, b
}

// vocabulary refuses a text constant that the column cannot mean.
func (s *scope) vocabulary(c, column exec.Code, x syntax.Expr) {
	if column.Refuse == nil || c.Sub {
		return
	}
	if v, ok := c.ConstantOf(); ok && v.Kind() == values.Text {
		if err := column.Refuse(v.Text()); err != nil {
			s.c.fail(x, "%v", err)
		}
	}
}

// read makes an operand a number in a unit.
func (s *scope) read(c exec.Code, unit tables.Unit, x syntax.Expr) exec.Code {
	u := unit.Reads()
	switch {
	case u == tables.NoUnit || c.Unit == unit || c.Unit == u || c.Unit == tables.Amount || c.Test != nil:
		return c
	case c.Unit.Measured():
		s.c.fail(x, "%s is %s; beside it %s is meant, such as %s", x, c.Unit.Shown(), u.Shown(), u.Written())
	case c.Prefix:
		return s.readSum(c, u, x)
	}
	if v, ok := c.ConstantOf(); ok && !c.Sub {
		if v.Kind() != values.Text {
			return c
		}
		n, err := s.number(v, u, c.Unit == tables.UTC)
		if err != nil {
			s.c.fail(x, "%v", err)
		}
		out := exec.Constant(n)
		out.Unit = u
		return out
	}
	if c.Affinity.Numeric() {
		return c
	}
	eval, utc, at := c.Eval, c.Unit == tables.UTC, x.Pos()
	c.Eval = func(e *exec.Env) values.Value {
		v := eval(e)
		if v.Kind() != values.Text {
			return v
		}
		n, err := s.number(v, u, utc)
		if err != nil {
			return e.Fail(&fault.Error{Text: s.c.text, Offset: at, Msg: err.Error()})
		}
		return n
	}
	c.Pass, c.Unit, c.Affinity, c.Column, c.Refuse = nil, u, values.NoAffinity, false, nil
	return c
}

// number reads a text as a number in a unit: a plain number as it is, anything else in words. A result
// of datetime() is read in UTC.
func (s *scope) number(v values.Value, u tables.Unit, utc bool) (values.Value, error) {
	if n, whole := values.LeadingNumber(v.Text()); whole {
		return values.NumericAffinity.Apply(n), nil
	}
	if utc {
		t, ok := dates.Parse(v.Text())
		if !ok {
			return values.Value{}, fmt.Errorf("%s is no instant", values.Quote(v.Text()))
		}
		return values.Int(t.Seconds()), nil
	}
	return s.c.catalog.Literal(u, v.Text())
}

// readSum reads a sum of texts, 'now' - '1d', next to a column with a unit.
func (s *scope) readSum(c exec.Code, u tables.Unit, x syntax.Expr) exec.Code {
	b, ok := x.(*syntax.Binary)
	if !ok || b.Op != "+" && b.Op != "-" {
		s.c.fail(x, "%s would take a text by the number that it begins with; beside it %s is meant: write %s", x,
			u.Shown(), u.Written())
	}
	left, right := s.compile(b.X), s.compile(b.Y)
	second := u
	if u == tables.Time {
		second = tables.Duration
	}
	left, right = s.read(left, u, b.X), s.read(right, second, b.Y)
	left.Unit, right.Unit = u, second
	return s.arithmetic(b, left, right)
}

// instants compares the result of datetime() with a text that names an instant.
func (s *scope) instants(a, b exec.Code, ax, bx syntax.Expr) (exec.Code, exec.Code) {
	x, y, ok1 := s.instantText(a)
	z, w, ok2 := s.instantText(b)
	if !ok1 || !ok2 || !y && !w {
		return a, b
	}
	return x, z
}

// instantText makes milliseconds of a text that names an instant; named is true for the result of a date
// function.
func (s *scope) instantText(c exec.Code) (out exec.Code, named, ok bool) {
	if c.Unit == tables.UTC {
		eval := c.Eval
		c.Eval = func(e *exec.Env) values.Value {
			v := eval(e)
			if t, ok := dates.Parse(v.Text()); ok && v.Kind() == values.Text {
				return values.Int(int64(t))
			}
			return values.Value{}
		}
		c.Test, c.Pass, c.Affinity, c.Unit = nil, nil, values.NoAffinity, tables.NoUnit
		return c, c.Named, true
	}
	v, ok := c.ConstantOf()
	if !ok || c.Sub || v.Kind() != values.Text {
		return c, false, false
	}
	if t, ok := dates.Parse(v.Text()); ok {
		return exec.Constant(values.Int(int64(t))), false, true
	}
	n, err := s.c.catalog.Literal(tables.Time, v.Text())
	if err != nil || n.Kind() != values.Integer {
		return c, false, false
	}
	return exec.Constant(values.Int(int64(dates.OfSeconds(n.Int64())))), false, true
}

// unify converts operands to the unit of one of them, for an expression that returns one.
func (s *scope) unify(parts []exec.Code, xs []syntax.Expr) tables.Unit {
	u := tables.NoUnit
	for i := range parts {
		if parts[i].Unit.Measured() {
			u = parts[i].Unit
			break
		}
	}
	if u == tables.NoUnit {
		return sameUnit(parts)
	}
	for i := range parts {
		parts[i] = s.read(parts[i], u, xs[i])
	}
	return u
}

// sameUnit returns the unit that all parts share, except constants.
func sameUnit(parts []exec.Code) tables.Unit {
	u, found := tables.NoUnit, false
	for i := range parts {
		switch {
		case parts[i].Constant && parts[i].Unit == tables.NoUnit:
		case !found:
			u, found = parts[i].Unit, true
		case u != parts[i].Unit:
			return tables.NoUnit
		}
	}
	return u
}

// onlyText refuses a value with a unit as a text, because its text is not what is printed.
func (s *scope) onlyText(what string, c exec.Code, x syntax.Expr) {
	if hint := textHint(c.Unit, x); hint != "" {
		s.c.fail(x, "%s takes texts, and %s is %s; %s", what, x, c.Unit.Shown(), hint)
	}
}

func textHint(u tables.Unit, x syntax.Expr) string {
	switch u {
	case tables.Time:
		return fmt.Sprintf("write datetime(%s), or compare it with %s", x, u.Written())
	case tables.Duration, tables.Bytes:
		return fmt.Sprintf("compare it with %s, or write CAST(%s AS TEXT) for the number", u.Written(), x)
	}
	return ""
}
