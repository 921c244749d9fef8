package query

// compound is queries whose answers are joined, from left to right.
type compound struct {
	arms    []producer
	ops     []SetOp // of the arm of the same number; that of the first means nothing
	columns []Column
	outer   slots
}

func (s *compound) shape() ([]Column, slots) { return s.columns, s.outer }

func (s *compound) steady() bool {
	for _, arm := range s.arms {
		if !arm.steady() {
			return false
		}
	}
	return true
}

// compound compiles UNION and the like, without an order and a limit.
func (c *compiler) compound(x *Select, parent *scope) *compound {
	first := *x
	first.With, first.Rest, first.OrderBy, first.Limit, first.Offset = nil, nil, nil, nil, nil
	out := &compound{}
	out.add(c, x, c.compileSelect(&first, parent), 0)
	for _, arm := range x.Rest {
		out.add(c, arm.Select, c.compileSelect(arm.Select, parent), arm.Op)
	}
	return out
}

// add adds an arm. The columns are called as those of the first; their types are those of
// all arms, or none.
func (s *compound) add(c *compiler, at Node, arm producer, op SetOp) {
	columns, outer := arm.shape()
	if p, ok := arm.(*selectPlan); ok {
		for i := range p.out {
			if p.out[i].collate != ByBytes {
				c.fail(at, "COLLATE is not supported in the columns of queries that are joined")
			}
		}
	}
	if len(s.arms) > 0 && len(columns) != len(s.columns) {
		c.fail(at, "queries that are joined have as many columns: %d here, %d before", len(columns), len(s.columns))
	}
	if len(s.arms) == 0 {
		s.columns = append([]Column(nil), columns...)
	}
	for i := range s.columns {
		mine := &s.columns[i]
		before := mine.Unit
		if mine.Unit = c.sameUnit(at, before, columns[i].Unit); mine.Unit != before {
			for _, other := range s.arms {
				c.readColumn(other, i, mine.Unit)
			}
		}
		c.readColumn(arm, i, mine.Unit)
		mine.NotNull = mine.NotNull && columns[i].NotNull
		mine.Domain, mine.Refuse = "", nil
		if t := columns[i].Type; mine.Type != t && (mine.Type == TextAffinity || t == TextAffinity || t == NoAffinity) {
			mine.Type = NoAffinity
		}
	}
	s.arms, s.ops, s.outer = append(s.arms, arm), append(s.ops, op), s.outer|outer
}

// readColumn reads a result column in the unit that another query's has there.
func (c *compiler) readColumn(arm producer, i int, u Unit) {
	if p, ok := arm.(*selectPlan); ok && u.measured() && p.out[i].unit != u {
		s := &scope{c: c}
		p.out[i] = s.read(p.out[i], u, &ColumnRef{span: p.text.span, Name: p.columns[i].Name})
	}
}

func (s *compound) run(e *env, emit func([]Value) error) error {
	return pastStop(s.upTo(len(s.arms)-1, e, emit))
}

// upTo runs the first arms; errStop is handed on.
func (s *compound) upTo(n int, e *env, emit func([]Value) error) error {
	if n == 0 {
		return through(s.arms[0], e, emit)
	}
	if s.ops[n] == UnionAll {
		if err := s.upTo(n-1, e, emit); err != nil {
			return err
		}
		return through(s.arms[n], e, emit)
	}
	var seen, other hashIndex
	once := func(row []Value) error {
		if _, fresh := seen.put(row, 0); !fresh {
			return nil
		}
		if err := e.hold(row); err != nil {
			return err
		}
		return emit(row)
	}
	if s.ops[n] == Union {
		if err := s.upTo(n-1, e, once); err != nil {
			return err
		}
		return through(s.arms[n], e, once)
	}
	err := through(s.arms[n], e, func(row []Value) error {
		other.put(row, 0)
		return e.hold(row)
	})
	if err != nil {
		return err
	}
	return s.upTo(n-1, e, func(row []Value) error {
		if _, in := other.get(row); in != (s.ops[n] == Intersect) {
			return nil
		}
		return once(row)
	})
}

// through runs a producer and hands errStop on, which it keeps to itself.
func through(p producer, e *env, emit func([]Value) error) error {
	stopped := false
	err := p.run(e, func(row []Value) error {
		err := emit(row)
		stopped = stopped || err == errStop
		return err
	})
	if err == nil && stopped {
		return errStop
	}
	return err
}

// orderOfAll makes numbers of the terms of an ORDER BY behind UNION and the like: they
// name result columns, or are what is one in some arm.
func (c *compiler) orderOfAll(x *Select, columns []Column) []OrderTerm {
	out := append([]OrderTerm(nil), x.OrderBy...)
	for i := range out {
		term := out[i].X
		collated, isCollate := term.(*Collate)
		if isCollate {
			term = collated.X
		}
		at := c.resultColumn(x, columns, term)
		if at == 0 {
			c.fail(term, "ORDER BY behind UNION and the like takes result columns: %s is none", term)
		}
		var number Expr = &Literal{span: span{term.Pos(), term.End()}, Value: Int(int64(at))}
		if isCollate {
			number = &Collate{collated.span, number, collated.To}
		}
		out[i].X = number
	}
	return out
}

// resultColumn is the number of the result column that an expression names, 0 for none.
func (c *compiler) resultColumn(x *Select, columns []Column, term Expr) int {
	if n, ok := ordinal(term); ok {
		if n < 1 || int(n) > len(columns) {
			c.fail(term, "ORDER BY %d: there are %d result columns", n, len(columns))
		}
		return int(n)
	}
	arms := []*Select{x}
	for _, arm := range x.Rest {
		arms = append(arms, arm.Select)
	}
	ref := asColumn(term)
	for _, arm := range arms {
		for i := range arm.Columns {
			col := &arm.Columns[i]
			if ref != nil && ref.Table == "" && lowerASCII(col.Alias) == lowerASCII(ref.Name) && len(arm.Columns) == len(columns) {
				return i + 1
			}
		}
	}
	for i := range columns {
		if ref != nil && ref.Table == "" && lowerASCII(columns[i].Name) == lowerASCII(ref.Name) {
			return i + 1
		}
	}
	for _, arm := range arms {
		for i := range arm.Columns {
			if col := &arm.Columns[i]; col.X != nil && col.X.String() == term.String() && len(arm.Columns) == len(columns) {
				return i + 1
			}
		}
	}
	return 0
}
