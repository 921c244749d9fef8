package query

// grouping is GROUP BY and the aggregates of a SELECT.
type grouping struct {
	*runGrouping
	slots   slots // the SELECT's own sources
	byKey   map[string]int
	byCanon map[string]*aggregate
}

// grouping compiles GROUP BY, and opens the scope for aggregates where there are any.
func (s *scope) grouping(p *selectPlan, x *Select, list []ResultColumn) {
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
	g := &grouping{runGrouping: &runGrouping{made: s.c.nmade}, byKey: map[string]int{}, byCanon: map[string]*aggregate{}}
	for _, src := range s.sources {
		g.slots |= 1 << src.slot
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
		g.byKey[s.canon(key)] = len(g.keys)
		code := s.compile(key)
		if code.collate != ByBytes {
			s.c.fail(key, "COLLATE and GROUP BY together are not supported")
		}
		g.keys = append(g.keys, code)
		g.words = append(g.words, key.String())
	}
	s.c.nmade += len(g.keys)
	s.noAggs = ""
	s.group, p.group = g, g.runGrouping
}

// ordinal is a whole number that stands alone: the number of a result column.
func ordinal(x Expr) (int64, bool) {
	l, ok := x.(*Literal)
	if !ok || l.Value.kind != Integer || l.Word != "" {
		return 0, false
	}
	return l.Value.Int64(), true
}

// aggregated reports whether an aggregate of this SELECT is in an expression.
func (s *scope) aggregated(x Expr) bool {
	if call, ok := x.(*Call); ok {
		if _, ok := aggregateOf(call); ok && call.Over == nil {
			return true
		}
	}
	if ref, ok := x.(*ColumnRef); ok {
		if alias := s.aliasOf(ref); alias != nil && alias != x {
			if _, isColumn := s.local(ref); !isColumn && !s.using[alias] {
				s.using[alias] = true
				defer delete(s.using, alias)
				return s.aggregated(alias)
			}
		}
	}
	for _, child := range children(x) {
		if s.aggregated(child) {
			return true
		}
	}
	return false
}

// key is an expression that is one of the keys.
func (g *grouping) key(s *scope, x Expr) (code, bool) {
	if len(g.keys) == 0 {
		return code{}, false
	}
	if _, ok := x.(*Literal); ok {
		return code{}, false
	}
	i, ok := g.byKey[s.canon(x)]
	if !ok {
		return code{}, false
	}
	at := g.made + i
	return code{eval: func(e *env) Value { return e.made[at] }, affinity: g.keys[i].affinity, unit: g.keys[i].unit, refuse: g.keys[i].refuse, named: g.keys[i].named, uses: g.slots}, true
}
