package exec

import (
	"github.com/placectl/placectl/query/internal/functions"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// Code is an expression made ready to run, and what is known of it beforehand.
type Code struct {
	Eval     func(*Env) values.Value
	Test     func(*Env) values.Truth // the same as a condition; nil where eval must do
	Pass     func(*Env) values.Truth // the same where unknown counts as no: nil where test must do
	Affinity values.Affinity
	Unit     tables.Unit
	Collate  values.Collation
	Collated bool // COLLATE was written in it
	Natural  bool // the collation is its own: it is a column, or one in a CAST or behind a +
	Constant bool
	Sub      bool  // a subquery is in it
	Prefix   bool  // a text in it is taken by the number that it begins with
	JSON     bool  // it is JSON, not a text
	Named    bool  // a date function made it of a time column
	Uses     Slots // whose rows it looks at
	Column   bool  // it is a column as it stands: col of slot
	Slot     int
	Col      int
	Sides    *[2]Code                // of an = without COLLATE: what is compared
	Refuse   func(text string) error // Column.Refuse
}

// Constant is the code of a constant.
func Constant(v values.Value) Code {
	return Code{Eval: func(*Env) values.Value { return v }, Constant: true}
}

// Condition runs the code as a condition.
func (c *Code) Condition() func(*Env) values.Truth {
	if c.Test != nil {
		return c.Test
	}
	eval := c.Eval
	return func(e *Env) values.Truth { return eval(e).Truth() }
}

// Passing is the condition of a WHERE or an ON. As in SQLite what stands behind an
// unknown part of an AND or a BETWEEN is not evaluated there: it could fail, and change
// nothing else.
func (c *Code) Passing() func(*Env) values.Truth {
	if c.Pass != nil {
		return c.Pass
	}
	return c.Condition()
}

// FromTest makes the value of a condition.
func (c Code) FromTest() Code {
	test := c.Test
	c.Eval = func(e *Env) values.Value { return test(e).Value() }
	return c
}

// Likewise is what compares as another code does: it is the same value, in other words.
func (c Code) Likewise(a *Code) Code {
	c.Collate, c.Collated, c.Natural = a.Collate, a.Collated, a.Natural
	return c
}

// CollationOf is what a comparison compares by, as in SQLite: a COLLATE in it, the left one
// before the right one, or else the collation of a column.
func CollationOf(a, b *Code) values.Collation {
	switch {
	case a.Collated, a.Natural && !b.Collated:
		return a.Collate
	}
	return b.Collate
}

// Over adds up what is known of operands. As in SQLite what is made of them compares by
// the first collation that was written anywhere in it.
func Over(parts ...Code) Code {
	c := Code{Constant: true}
	for i := range parts {
		if !c.Collated && parts[i].Collated {
			c.Collate, c.Collated = parts[i].Collate, true
		}
		c.Constant = c.Constant && parts[i].Constant
		c.Sub = c.Sub || parts[i].Sub
		c.Prefix = c.Prefix || parts[i].Prefix
		c.Uses |= parts[i].Uses
	}
	return c
}

// ConstantOf is the value of a constant.
func (c *Code) ConstantOf() (values.Value, bool) {
	if !c.Constant {
		return values.Value{}, false
	}
	e := &Env{Budget: functions.Budget{Limits: functions.DefaultLimits}}
	v := c.Eval(e)
	return v, e.Err == nil
}

// IsPrefix reports a text constant that arithmetic would take by its beginning.
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
