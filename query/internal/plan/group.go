package plan

import (
	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/values"
)

// grouping is GROUP BY and the aggregates of a SELECT.
type grouping struct {
	*exec.Grouping
	slots   exec.Slots // the SELECT's own sources
	byKey   map[string]int
	byCanon map[string]*exec.Aggregate
}

// grouping compiles GROUP BY, and allows aggregates in the scope.
func (s *scope) grouping(p *exec.Plan, x *syntax.Select, list []syntax.ResultColumn) {
	aggregated := len(x.GroupBy) > 0
	for i := range list {
		aggregated = aggregated || s.aggregated(list[i].X)
	}
	aggregated = aggregated || x.Having != nil && s.aggregated(x.Having)
	for i := range x.OrderBy {
		aggregated = aggregated || s.aggregated(x.OrderBy[i].X)
	}
	s.noAggs = "GROUP BY takes none"
	if !aggregated {
		s.noAggs = ""
		return
	}
	g := &grouping{Grouping: &exec.Grouping{Made: s.c.nmade}, byKey: map[string]int{},
		byCanon: map[string]*exec.Aggregate{}}
	for _, src := range s.sources {
		g.slots |= 1 << src.Slot
	}
	for _, key := range x.GroupBy {
		if n, ok := ordinal(key); ok {
			if n < 1 || n > int64(len(list)) {
				s.c.fail(key, "GROUP BY %d: there are %d result columns", n, len(list))
			}
			key = list[n-1].X
		}
		if _, ok := g.byKey[s.canon(key)]; ok {
			continue
		}
		g.byKey[s.canon(key)] = len(g.Keys)
		code := s.compile(key)
		g.Keys = append(g.Keys, code)
		g.Words = append(g.Words, key.String())
	}
	s.c.nmade += len(g.Keys)
	s.noAggs = ""
	s.group, p.Group = g, g.Grouping
}

// ordinal returns a whole number that stands alone, with or without a sign: the number of a result column.
func ordinal(x syntax.Expr) (int64, bool) {
	if u, ok := x.(*syntax.Unary); ok && (u.Op == "-" || u.Op == "+") {
		n, ok := ordinal(u.X)
		if u.Op == "-" {
			n = -n
		}
		return n, ok
	}
	l, ok := x.(*syntax.Literal)
	if !ok || l.Value.Kind() != values.Integer || l.Word != "" {
		return 0, false
	}
	return l.Value.Int64(), true
}

// aggregated reports whether an expression contains an aggregate of this SELECT.
func (s *scope) aggregated(x syntax.Expr) bool {
	if call, ok := x.(*syntax.Call); ok {
		if _, ok := aggregateOf(call); ok && call.Over == nil {
			return true
		}
	}
	if ref, ok := x.(*syntax.ColumnRef); ok {
		if alias := s.aliasOf(ref); alias != nil && alias != x {
			if _, isColumn := s.local(ref); !isColumn && !s.using[alias] {
				s.using[alias] = true
				defer delete(s.using, alias)
				return s.aggregated(alias)
			}
		}
	}
	for _, child := range syntax.Children(x) {
		if s.aggregated(child) {
			return true
		}
	}
	return false
}

// key returns the code of an expression that is a key.
func (g *grouping) key(s *scope, x syntax.Expr) (exec.Code, bool) {
	if len(g.Keys) == 0 {
		return exec.Code{}, false
	}
	if _, ok := x.(*syntax.Literal); ok {
		return exec.Code{}, false
	}
	i, ok := g.byKey[s.canon(x)]
	if !ok {
		return exec.Code{}, false
	}
	at := g.Made + i
	return exec.Code{Eval: func(e *exec.Env) values.Value { return e.Made[at] }, Affinity: g.Keys[i].Affinity,
		Unit: g.Keys[i].Unit, Refuse: g.Keys[i].Refuse, Named: g.Keys[i].Named, Uses: g.slots}, true
}
