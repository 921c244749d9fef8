package query

import (
	"strings"
)

// fold runs what is constant once and for all. What fails is left to fail when it is
// run, if it is.
func (s *scope) fold(c code) code {
	if !c.constant || c.sub {
		return c
	}
	e := newEnv(s.c.opt.context(), s.c.opt.Limits, 0, 0)
	v := c.eval(e)
	if e.err != nil {
		return c
	}
	c.eval, c.test = func(*env) Value { return v }, nil
	return c
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
	if !ok || l.Word == "" {
		return "", false
	}
	return strings.ToUpper(l.Word), true
}
