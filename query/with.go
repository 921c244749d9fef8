package query

// common is a query of WITH.
type common struct {
	def  *CommonTable
	at   *scope // where it is compiled: its names are those of the same WITH
	busy bool   // it is being compiled
	*shared
	self *self  // of a recursive one: the row at hand
	only *scope // where that may be named
	used bool   // it was
}

// layer is a scope of names alone: those of WITH.
func (c *compiler) layer(w *With, parent *scope) *scope {
	s := &scope{c: c, parent: parent, common: map[string]*common{}, top: parent == nil || parent.top}
	for i := range w.Tables {
		t := &w.Tables[i]
		name := lowerASCII(t.Name)
		if s.common[name] != nil {
			c.fail(t, "there are two queries called %s", t.Name)
		}
		s.common[name] = &common{def: t, at: s, shared: &shared{name: t.Name}}
	}
	return s
}

// commonTable finds a query of WITH by its name.
func (s *scope) commonTable(name string) *common {
	for at := s; at != nil; at = at.parent {
		if t := at.common[lowerASCII(name)]; t != nil {
			return t
		}
	}
	return nil
}

// use is the query as a source of a scope.
func (t *common) use(c *compiler, f *FromItem, in *scope) (producer, []Column) {
	if t.busy {
		if t.self == nil {
			c.fail(f, "%s is explained by itself: what comes before UNION may not name it", f.Table)
		}
		if in.parent != t.only || t.used {
			c.fail(f, "a query of WITH may name itself once, in the FROM behind UNION")
		}
		t.used = true
		return t.self, t.columns
	}
	if t.plan == nil {
		t.busy = true
		t.compile(c)
		t.busy = false
	}
	t.refs++
	return t.shared, t.columns
}

// compile compiles the query, when it is first used.
func (t *common) compile(c *compiler) {
	x := t.def.Select
	first := len(x.Rest) + 1
	for i, arm := range x.Rest {
		if first > i && fromNames(arm.Select, t.def.Name) {
			first = i
		}
	}
	if first > len(x.Rest) {
		t.plan = c.compileSelect(x, t.at)
		t.columns = c.renamed(t.def, t.plan, t.def.Name, t.def.Columns)
		return
	}
	t.recursive(c, x, first)
}

// fromNames reports whether a SELECT has a table of a name in its FROM.
func fromNames(x *Select, name string) bool { return namedIn(x.From, name) }

func namedIn(from []FromItem, name string) bool {
	for i := range from {
		f := &from[i]
		if f.Sub == nil && !f.Call && lowerASCII(f.Table) == lowerASCII(name) || namedIn(f.Group, name) {
			return true
		}
	}
	return false
}

// recursive compiles a query whose arms from a number on name it.
func (t *common) recursive(c *compiler, x *Select, from int) {
	first := *x
	first.With, first.Rest, first.OrderBy, first.Limit, first.Offset = nil, x.Rest[:from], nil, nil, nil
	at := t.at
	if x.With != nil {
		at = c.layer(x.With, at)
	}
	r := &recursive{first: c.compileSelect(&first, at), distinct: x.Rest[from].Op == Union}
	r.columns = append([]Column(nil), c.renamed(t.def, r.first, t.def.Name, t.def.Columns)...)
	_, r.outer = r.first.shape()
	t.columns, t.only = r.columns, at
	for _, arm := range x.Rest[from:] {
		if arm.Op != Union && arm.Op != UnionAll {
			c.fail(arm.Select, "a query that names itself is joined by UNION or UNION ALL")
		}
		t.self, t.used = &self{columns: r.columns}, false
		plan := c.compileSelect(arm.Select, at)
		if len(plan.columns) != len(r.columns) {
			c.fail(arm.Select, "queries that are joined have as many columns: %d here, %d before", len(plan.columns), len(r.columns))
		}
		if plan.group != nil {
			c.fail(arm.Select, "the part of a query that names itself takes no aggregates")
		}
		r.arms, r.outer = append(r.arms, &selfed{plan, t.self}), r.outer|plan.outer
	}
	t.self = nil
	s := &scope{c: c, noAggs: "LIMIT comes last"}
	r.limited = &selectPlan{}
	s.limits(r.limited, x)
	for _, term := range c.orderOfAll(x, r.columns) {
		k := orderKey{desc: term.Desc, nulls: term.Nulls}
		if collated, ok := term.X.(*Collate); ok {
			k.coll, term.X = collated.To, collated.X
		}
		n, _ := ordinal(term.X)
		k.column = int(n) - 1
		r.order = append(r.order, k)
	}
	t.plan = r
}
