package query

// draft is a SELECT while it is made ready to run.
type draft struct {
	*selectPlan
	steps   []*step
	ordered []*source // as they are written
}

// compileSelect makes a query ready to run, below the scope of the query around.
func (c *compiler) compileSelect(x *Select, parent *scope) *selectPlan {
	if c.depth++; c.depth > 2*maxNesting {
		c.fail(x, "views and queries of WITH are nested more than %d deep", 2*maxNesting)
	}
	defer func() { c.depth-- }()
	if x.With != nil {
		parent = c.layer(x.With, parent)
	}
	switch {
	case x.Rest != nil:
		all := c.compound(x, parent)
		ordered := *x
		ordered.OrderBy = c.orderOfAll(x, all.columns)
		return c.wrap(&ordered, all, parent)
	case x.Values != nil:
		return c.wrap(x, c.values(x, parent), parent)
	}
	return c.compileCore(x, parent)
}

// compileCore makes a SELECT ready to run.
func (c *compiler) compileCore(x *Select, parent *scope) *selectPlan {
	return c.compileOf(x, parent, given{}).selectPlan
}

// given is what a SELECT has that was made here, not written.
type given struct {
	from producer // what it reads, nil for what its FROM says
	all  bool     // its star is all columns, those that are shown once too
}

func (c *compiler) compileOf(x *Select, parent *scope, by given) *draft {
	s := &scope{c: c, parent: parent, aliases: map[string]Expr{}, using: map[Expr]bool{}, noAggs: "it needs rows to be grouped", top: parent == nil || parent.top && parent.common != nil}
	p := &draft{selectPlan: &selectPlan{at: x.Pos(), distinct: x.Distinct, noIndex: c.opt.NoIndex}}
	var on []Expr // conditions of inner joins
	from := flat(x.From)
	for i := range from {
		s.bind(&from[i], by.from)
	}
	p.strict = s.strict()
	for i := range from {
		if f := &from[i]; f.Join != LeftJoin && f.On != nil && !p.strict {
			on = append(on, f.On)
		}
	}
	s.checkOn()
	list := s.expand(x, by.all)
	for i := range list {
		if list[i].Alias != "" && list[i].X != nil {
			s.aliases[lowerASCII(list[i].Alias)] = list[i].X
		}
	}
	s.noAggs = "WHERE and ON come before grouping; say HAVING"
	p.counted = s.countable(x, list)
	p.joins(s, conjuncts(append(on, x.Where)...))
	s.grouping(p.selectPlan, x, list)
	s.openWindows(p.selectPlan, x, list)
	s.results(p.selectPlan, list)
	windows := s.windows
	s.windows = nil
	if x.Having != nil {
		if p.group == nil {
			c.fail(x.Having, "HAVING is for queries with GROUP BY or aggregates; say WHERE")
		}
		code := s.compile(x.Having)
		p.having = code.condition()
	}
	s.windows = windows
	s.ordering(p.selectPlan, x, list)
	s.windows = nil
	s.limits(p.selectPlan, x)
	p.outer, p.ordered = s.outer, s.sources
	p.finish()
	return p
}

// conjuncts takes ANDs apart, those that NOT makes of an OR too.
func conjuncts(all ...Expr) []Expr {
	var out []Expr
	for _, x := range all {
		if n, ok := x.(*Unary); ok && n.Op == "NOT" {
			if b, ok := n.X.(*Binary); ok && b.Op == "OR" {
				out = append(out, conjuncts(negation(b.X), negation(b.Y))...)
				continue
			}
		}
		if b, ok := x.(*Binary); ok && b.Op == "AND" {
			out = append(out, conjuncts(b.X, b.Y)...)
		} else if x != nil {
			out = append(out, x)
		}
	}
	return out
}

func negation(x Expr) Expr { return &Unary{at(x.Pos(), x.End()), "NOT", x} }

// finish settles what is known only when all is compiled: which columns are looked at.
func (p *draft) finish() {
	for _, st := range p.steps {
		st.place = make([]int, len(st.src.used))
		for i, used := range st.src.used {
			if used {
				st.place[i] = len(st.kept)
				st.kept = append(st.kept, i)
			}
		}
		p.selectPlan.steps = append(p.selectPlan.steps, st.runStep)
		st.fixed = !st.varies && (st.src.sub == nil || st.src.sub.steady())
	}
}
