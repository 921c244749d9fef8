package query

import (
	"strings"
)

// aggregateOf is the aggregate that a call is one of: min and max of several values are
// functions of one row.
func aggregateOf(x *Call) (aggregateKind, bool) {
	kind, ok := aggregates[x.Name]
	if ok && (x.Name == "min" || x.Name == "max") && len(x.Args) != 1 && !x.Star && !x.Distinct && len(x.Args) > 0 {
		return kind, false
	}
	return kind, ok
}

// aggregate compiles a call, or finds the same one made before.
func (s *scope) aggregate(x *Call, kind aggregateKind) code {
	g := s.group
	switch {
	case g == nil || s.noAggs != "":
		s.c.fail(x, "%s is an aggregate: %s", x.Name, s.noAggs)
	case x.Star && x.Name != "count":
		s.c.fail(x, "%s(*) means nothing; only count(*) does", x.Name)
	case !x.Star && (len(x.Args) < max(kind.least, 1) && x.Name != "count" || len(x.Args) > kind.most):
		s.c.fail(x, "%s takes %s, not %d", x.Name, arguments(kind.least, kind.most), len(x.Args))
	case x.Distinct && len(x.Args) != 1:
		s.c.fail(x, "DISTINCT takes one argument")
	}
	canon := s.canon(x)
	if a := g.byCanon[canon]; a != nil {
		return g.result(a)
	}
	a := &aggregate{aggregateKind: kind, star: x.Star || len(x.Args) == 0, distinct: x.Distinct, made: s.c.nmade, name: x.String(), best: x.Name == "min" || x.Name == "max"}
	s.c.nmade++
	windows := s.windows
	s.group, s.noAggs, s.windows = nil, "one cannot be inside another", nil
	a.args = s.all(x.Args)
	if x.Filter != nil {
		f := s.compile(x.Filter)
		a.filter = f.condition()
	}
	for i := range x.OrderBy {
		a.order = append(a.order, s.plainOrder(&x.OrderBy[i]))
	}
	s.group, s.noAggs, s.windows = g, "", windows
	a.by = firstCollation(a.args)
	if a.best {
		a.add = best(map[string]int{"min": -1, "max": 1}[x.Name], a.by)
	}
	s.aggregateUnits(x, a)
	s.ownAggregate(x, a)
	g.byCanon[canon] = a
	g.aggs = append(g.aggs, a)
	return g.result(a)
}

// aggregateUnits refuses what has no meaning.
func (s *scope) aggregateUnits(x *Call, a *aggregate) {
	for i := range a.args {
		if a.texts {
			s.onlyText(x.Name, a.args[i], x.Args[i])
		}
	}
	if strings.HasPrefix(x.Name, "std") || strings.HasPrefix(x.Name, "var") {
		if u := a.args[0].unit; u.measured() && strings.HasPrefix(x.Name, "var") {
			s.c.fail(x, "the variance of %s is of its square; stddev is of the same", u.shown())
		}
	}
	if (x.Name == "sum" || x.Name == "total") && len(a.args) == 1 && a.args[0].unit == Time {
		s.c.fail(x, "the %s of times means nothing; avg, min and max do, and sums of their differences", x.Name)
	}
}

// ownAggregate refuses one whose arguments are all of queries around: it would be
// theirs.
func (s *scope) ownAggregate(x *Call, a *aggregate) {
	var uses, mine slots
	for i := range a.args {
		uses |= a.args[i].uses
	}
	for _, src := range s.sources {
		mine |= 1 << src.slot
	}
	if uses != 0 && uses&mine == 0 {
		s.c.fail(x, "%s is about the query around this one: say it there", x.Name)
	}
}

// result reads an aggregate's result.
func (g *grouping) result(a *aggregate) code {
	at := a.made
	c := code{eval: func(e *env) Value { return e.made[at] }, uses: g.slots}
	if a.keepsUnit && len(a.args) > 0 {
		c.unit, c.prefix = a.args[0].unit, a.args[0].prefix
		if a.best || a.bare {
			c.refuse = a.args[0].refuse
		}
	}
	if strings.HasPrefix(a.name, "stddev") {
		if c.unit = a.args[0].unit; c.unit == Time {
			c.unit = Duration
		}
	}
	if a.bare {
		c.affinity = a.args[0].affinity
	}
	c.json = !a.bare && strings.HasPrefix(a.name, "json_") || strings.HasPrefix(a.name, "quantiles")
	if a.name != "" && strings.HasPrefix(a.name, "nodelist") {
		c.unit = Nodes
	}
	return c
}
