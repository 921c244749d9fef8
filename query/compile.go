package query

import "strings"

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

// fold runs what is constant once and for all. What fails is left to fail when it is
// run, if it is.
func (s *scope) fold(c code) code {
	if !c.constant || c.sub {
		return c
	}
	e := &env{ctx: s.c.opt.context(), limits: s.c.opt.Limits.orDefault()}
	v := c.eval(e)
	if e.err != nil {
		return c
	}
	c.eval, c.test = func(*env) Value { return v }, nil
	return c
}

// constantOf is the value of a constant.
func (c *code) constantOf() (Value, bool) {
	if !c.constant {
		return Value{}, false
	}
	e := &env{limits: DefaultLimits}
	v := c.eval(e)
	return v, e.err == nil
}

// compile makes an expression ready to run. COLLATE may stand on top of it.
func (s *scope) compile(x Expr) code {
	if s.group != nil {
		if c, ok := s.group.key(s, x); ok {
			return c
		}
	}
	switch x := x.(type) {
	case *Literal:
		return constant(x.Value)
	case *ColumnRef:
		return s.columnCode(x)
	case *exactColumn:
		return s.found(&x.ColumnRef, x.at)
	case *Param:
		return constant(s.c.param(x))
	case *Unary:
		return s.fold(s.unary(x))
	case *Binary:
		return s.fold(s.binary(x))
	case *Between:
		return s.fold(s.between(x))
	case *In:
		return s.fold(s.in(x))
	case *Match:
		return s.fold(s.match(x))
	case *Case:
		return s.fold(s.caseCode(x))
	case *Cast:
		return s.fold(s.cast(x))
	case *Call:
		return s.fold(s.call(x))
	case *Exists:
		return s.exists(x)
	case *Subquery:
		return s.scalar(x)
	case *RowValue:
		s.c.fail(x, "a row of values is compared with another one, or looked for by IN; it is no value itself")
	case *mergedColumn:
		return s.merged(x)
	case *Collate:
		c := s.compile(x.X)
		c.collate, c.collated = x.To, true
		return c
	}
	panic("query: an expression of no known kind")
}

// all compiles expressions.
func (s *scope) all(list []Expr) []code {
	out := make([]code, len(list))
	for i, x := range list {
		out[i] = s.compile(x)
	}
	return out
}

// firstCollation is what functions compare their arguments by: as in SQLite that of the
// first one that is a column or has COLLATE in it.
func firstCollation(args []code) Collation {
	for i := range args {
		if args[i].collated || args[i].column {
			return args[i].collate
		}
	}
	return ByBytes
}

func (s *scope) columnCode(x *ColumnRef) code {
	f, ok := s.find(x)
	if ok {
		if m := s.mergedOf(x, f); m != nil {
			return s.merged(m)
		}
	}
	if !ok {
		for at := s; at != nil; at = at.parent {
			if alias := at.aliasOf(x); alias != nil {
				return at.viaAlias(s, x, alias)
			}
		}
		s.missing(x)
	}
	return s.found(x, f)
}

// found is the code of a column that has been found. Behind grouping only a key
// may be looked at.
func (s *scope) found(x *ColumnRef, f found) code {
	for at := s; at != nil; at = at.parent {
		if at.group != nil && at.owns(f.src) {
			if at != s {
				if c, ok := at.group.key(at, x); ok {
					return c
				}
			}
			return at.bare(f)
		}
	}
	return f.code()
}

func (s *scope) owns(src *source) bool {
	for _, mine := range s.sources {
		if mine == src {
			return true
		}
	}
	return false
}

// viaAlias compiles what a result column's alias stands for.
func (s *scope) viaAlias(from *scope, x *ColumnRef, alias Expr) code {
	if from != s {
		s.c.fail(x, "the alias %s of the query around cannot be used here; write out what it stands for", x.Name)
	}
	if s.using[alias] {
		s.c.fail(x, "the alias %s is explained by itself", x.Name)
	}
	s.using[alias] = true
	defer delete(s.using, alias)
	return s.compile(alias)
}

// code is the code of a column.
func (f found) code() code {
	f.src.used[f.col] = true
	slot, col := f.src.slot, f.col
	c := code{eval: func(e *env) Value { return e.row[slot].Column(col) }, uses: 1 << slot, column: true, slot: slot, col: col,
		affinity: f.src.columns[col].Type, unit: f.src.columns[col].Unit, refuse: f.src.columns[col].Refuse}
	return c
}

// param is the value of a parameter.
func (c *compiler) param(x *Param) Value {
	if x.Number > 0 {
		if x.Number > len(c.opt.Args) {
			c.fail(x, "no value is given for parameter %d", x.Number)
		}
		return c.opt.Args[x.Number-1]
	}
	v, ok := c.opt.Named[x.Name[1:]]
	if !ok {
		var names []string
		for name := range c.opt.Named {
			names = append(names, name)
		}
		c.fail(x, "no value is given for parameter %s%s", x.Name, didYouMean(x.Name[1:], names))
	}
	return v
}

// isWord reports a literal TRUE or FALSE, which IS takes as a condition.
func isWord(x Expr) (string, bool) {
	l, ok := x.(*Literal)
	return strings.ToUpper(l.word()), ok && l.Word != ""
}

func (x *Literal) word() string {
	if x == nil {
		return ""
	}
	return x.Word
}
