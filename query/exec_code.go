package query

// code is an expression made ready to run, and what is known of it beforehand.
type code struct {
	eval     func(*env) Value
	test     func(*env) truth // the same as a condition; nil where eval must do
	pass     func(*env) truth // the same where unknown counts as no: nil where test must do
	affinity Affinity
	unit     Unit
	collate  Collation
	collated bool // COLLATE was written in it
	constant bool
	sub      bool  // a subquery is in it
	prefix   bool  // a text in it is taken by the number that it begins with
	json     bool  // it is JSON, not a text
	named    bool  // a date function made it of a time column
	uses     slots // whose rows it looks at
	column   bool  // it is a column as it stands: col of slot
	slot     int
	col      int
	sides    *[2]code                // of an = without COLLATE: what is compared
	refuse   func(text string) error // Column.Refuse
}

// constant is the code of a constant.
func constant(v Value) code {
	return code{eval: func(*env) Value { return v }, constant: true}
}

// condition runs the code as a condition.
func (c *code) condition() func(*env) truth {
	if c.test != nil {
		return c.test
	}
	eval := c.eval
	return func(e *env) truth { return eval(e).truth() }
}

// passing is the condition of a WHERE or an ON. As in SQLite what stands behind an
// unknown part of an AND or a BETWEEN is not evaluated there: it could fail, and change
// nothing else.
func (c *code) passing() func(*env) truth {
	if c.pass != nil {
		return c.pass
	}
	return c.condition()
}

// fromTest makes the value of a condition.
func (c code) fromTest() code {
	test := c.test
	c.eval = func(e *env) Value { return test(e).value() }
	return c
}

// over adds up what is known of operands. As in SQLite what is made of them compares by
// the first collation that was written anywhere in it.
func over(parts ...code) code {
	c := code{constant: true}
	for i := range parts {
		if !c.collated {
			c.collate, c.collated = parts[i].collate, parts[i].collated
		}
		c.constant = c.constant && parts[i].constant
		c.sub = c.sub || parts[i].sub
		c.prefix = c.prefix || parts[i].prefix
		c.uses |= parts[i].uses
	}
	return c
}

// constantOf is the value of a constant.
func (c *code) constantOf() (Value, bool) {
	if !c.constant {
		return Value{}, false
	}
	e := &env{budget: budget{limits: DefaultLimits}}
	v := c.eval(e)
	return v, e.err == nil
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
