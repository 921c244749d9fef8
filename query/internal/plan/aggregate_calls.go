package plan

import (
	"strings"

	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/internal/functions"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// aggregateOf returns the aggregate that a call is. min and max of several values are scalar functions.
func aggregateOf(x *syntax.Call) (functions.AggregateKind, bool) {
	kind, ok := functions.Aggregates[x.Name]
	if ok && (x.Name == "min" || x.Name == "max") && len(x.Args) != 1 && !x.Star && !x.Distinct && len(x.Args) > 0 {
		return kind, false
	}
	return kind, ok
}

// aggregate compiles a call, or finds an equal one made before.
func (s *scope) aggregate(x *syntax.Call, kind functions.AggregateKind) exec.Code {
	g := s.group
	switch {
	case g == nil || s.noAggs != "":
		s.c.fail(x, "%s is an aggregate: %s", x.Name, s.noAggs)
	case x.Star && x.Name != "count":
		s.c.fail(x, "%s(*) means nothing; only count(*) does", x.Name)
	case !x.Star && (len(x.Args) < max(kind.Least, 1) && x.Name != "count" || len(x.Args) > kind.Most):
		s.c.fail(x, "%s takes %s, not %d", x.Name, arguments(kind.Least, kind.Most), len(x.Args))
	case x.Distinct && len(x.Args) != 1:
		s.c.fail(x, "DISTINCT takes one argument")
	}
	canon := s.canon(x)
	if a := g.byCanon[canon]; a != nil {
		return g.result(a)
	}
	a := &exec.Aggregate{AggregateKind: kind, Star: x.Star || len(x.Args) == 0, Distinct: x.Distinct, Made: s.c.nmade,
		Name: x.String(), Failed: s.c.failed(x), Best: x.Name == "min" || x.Name == "max"}
	s.c.nmade++
	windows := s.windows
	s.group, s.noAggs, s.windows = nil, "one cannot be inside another", nil
	a.Args = s.all(x.Args)
	if x.Filter != nil {
		f := s.compile(x.Filter)
		a.Filter = f.Condition()
	}
	for i := range x.OrderBy {
		a.Order = append(a.Order, s.plainOrder(&x.OrderBy[i]))
	}
	s.group, s.noAggs, s.windows = g, "", windows
	s.aggregateUnits(x, a)
	s.ownAggregate(x, a)
	g.byCanon[canon] = a
	g.Aggs = append(g.Aggs, a)
	return g.result(a)
}

// aggregateUnits refuses meaningless units.
func (s *scope) aggregateUnits(x *syntax.Call, a *exec.Aggregate) {
	for i := range a.Args {
		if a.Texts {
			s.onlyText(x.Name, a.Args[i], x.Args[i])
		}
	}
	if strings.HasPrefix(x.Name, "std") || strings.HasPrefix(x.Name, "var") {
		if u := a.Args[0].Unit; u.Measured() && strings.HasPrefix(x.Name, "var") {
			s.c.fail(x, "the variance of %s is of its square; stddev is of the same", u.Shown())
		}
	}
	if (x.Name == "sum" || x.Name == "total") && len(a.Args) == 1 && a.Args[0].Unit == tables.Time {
		s.c.fail(x, "the %s of times means nothing; avg, min and max do, and sums of their differences", x.Name)
	}
}

// ownAggregate refuses an aggregate whose arguments all belong to outer queries: it would be theirs.
func (s *scope) ownAggregate(x *syntax.Call, a *exec.Aggregate) {
	var uses, mine exec.Slots
	for i := range a.Args {
		uses |= a.Args[i].Uses
	}
	for _, src := range s.sources {
		mine |= 1 << src.Slot
	}
	if uses != 0 && uses&mine == 0 {
		s.c.fail(x, "%s is about the query around this one: say it there", x.Name)
	}
}

// result reads an aggregate's result.
func (g *grouping) result(a *exec.Aggregate) exec.Code {
	at := a.Made
	c := exec.Code{Eval: func(e *exec.Env) values.Value { return e.Made[at] }, Uses: g.slots}
	if a.KeepsUnit && len(a.Args) > 0 {
		c.Unit, c.Prefix = a.Args[0].Unit, a.Args[0].Prefix
		if a.Best || a.Bare {
			c.Refuse = a.Args[0].Refuse
		}
	}
	if strings.HasPrefix(a.Name, "stddev") {
		if c.Unit = a.Args[0].Unit; c.Unit == tables.Time {
			c.Unit = tables.Duration
		}
	}
	if a.Bare {
		c.Affinity = a.Args[0].Affinity
	}
	c.JSON = !a.Bare && strings.HasPrefix(a.Name, "json_")
	if a.Name != "" && strings.HasPrefix(a.Name, "nodelist") {
		c.Unit = tables.Nodes
	}
	return c
}
