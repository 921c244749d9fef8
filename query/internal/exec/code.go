package exec

import (
	"github.com/placectl/placectl/query/internal/functions"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// Code is a compiled expression, and what is known about it.
type Code struct {
	Eval     func(*Env) values.Value
	Test     func(*Env) values.Truth // the same as a condition; nil to use eval
	Pass     func(*Env) values.Truth // the same with unknown as no; nil to use test
	Affinity values.Affinity
	Unit     tables.Unit
	Constant bool
	Sub      bool  // it contains a subquery
	Prefix   bool  // it contains a text that is used as the number it begins with
	JSON     bool  // it is JSON, not just text
	Named    bool  // a date function made it from a time column
	Uses     Slots // the sources whose rows it uses
	Column   bool  // it is a plain column: col of slot
	Slot     int
	Col      int
	Sides    *[2]Code                // of an =: both sides
	Refuse   func(text string) error // Column.Refuse
}

// Constant returns the code of a constant.
func Constant(v values.Value) Code {
	return Code{Eval: func(*Env) values.Value { return v }, Constant: true}
}

// Condition returns the code as a condition.
func (c *Code) Condition() func(*Env) values.Truth {
	if c.Test != nil {
		return c.Test
	}
	eval := c.Eval
	return func(e *Env) values.Truth { return eval(e).Truth() }
}

// Passing returns the condition of a WHERE or an ON. As in SQLite, nothing after an unknown part of
// an AND or a BETWEEN is evaluated, because the condition can no longer be true.
func (c *Code) Passing() func(*Env) values.Truth {
	if c.Pass != nil {
		return c.Pass
	}
	return c.Condition()
}

// FromTest makes a value of a condition.
func (c Code) FromTest() Code {
	test := c.Test
	c.Eval = func(e *Env) values.Value { return test(e).Value() }
	return c
}

// Over combines what is known about operands.
func Over(parts ...Code) Code {
	c := Code{Constant: true}
	for i := range parts {
		c.Constant = c.Constant && parts[i].Constant
		c.Sub = c.Sub || parts[i].Sub
		c.Prefix = c.Prefix || parts[i].Prefix
		c.Uses |= parts[i].Uses
	}
	return c
}

// ConstantOf returns the value of a constant.
func (c *Code) ConstantOf() (values.Value, bool) {
	if !c.Constant {
		return values.Value{}, false
	}
	e := &Env{Budget: functions.Budget{Limits: functions.DefaultLimits}}
	v := c.Eval(e)
	return v, e.Err == nil
}

// IsPrefix reports whether the code is a text constant that arithmetic would use as the number it begins
// with.
func (c *Code) IsPrefix() bool {
	if c.Unit != tables.NoUnit || c.Sub {
		return false
	}
	v, ok := c.ConstantOf()
	if !ok || v.Kind() != values.Text {
		return false
	}
	_, whole := values.LeadingNumber(v.Text())
	return !whole
}
