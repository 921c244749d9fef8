package query

import (
	"strconv"
	"strings"
)

// grouping is GROUP BY and the aggregates of a SELECT.
type grouping struct {
	slots   slots // the SELECT's own sources
	keys    []code
	made    int // where the first key goes; the others behind it
	byKey   map[string]int
	aggs    []*aggregate
	byCanon map[string]*aggregate
	bares   []*aggregate // columns that are neither keys nor in an aggregate
	words   []string
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
	g := &grouping{byKey: map[string]int{}, byCanon: map[string]*aggregate{}, made: s.c.nmade}
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
	s.group, p.group = g, g
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
		if _, ok := call.aggregate(); ok && call.Over == nil {
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

// canon writes an expression such that two that mean the same columns are the same
// text.
func (s *scope) canon(x Expr) string {
	switch x := x.(type) {
	case *exactColumn:
		return "#" + strconv.Itoa(x.at.src.slot) + "." + strconv.Itoa(x.at.col)
	case *mergedColumn:
		return "merged " + lowerASCII(x.Name)
	case *ColumnRef:
		if f, ok := s.local(x); ok {
			if s.mergedOf(x, f) != nil {
				return "merged " + lowerASCII(x.Name)
			}
			return "#" + strconv.Itoa(f.src.slot) + "." + strconv.Itoa(f.col)
		}
		if alias := s.aliasOf(x); alias != nil && !s.using[alias] {
			s.using[alias] = true
			defer delete(s.using, alias)
			return s.canon(alias)
		}
		return x.String()
	case *Subquery, *Exists:
		return x.String()
	case *Literal, *Param:
		return x.String()
	}
	var b strings.Builder
	b.WriteString(shape(x) + "(")
	for _, child := range children(x) {
		b.WriteString(s.canon(child) + ",")
	}
	if in, ok := x.(*In); ok && in.Sub != nil {
		b.WriteString(in.Sub.String())
	}
	return b.String() + ")"
}

// shape is what an expression is, its operands apart.
func shape(x Expr) string {
	switch x := x.(type) {
	case *Unary:
		return x.Op
	case *Binary:
		return x.Op
	case *Between:
		return "between" + negated(x.Not)
	case *In:
		return "in" + negated(x.Not)
	case *Match:
		return "match" + negated(x.Not) + x.word() + strconv.FormatBool(x.Escape != nil)
	case *Case:
		return "case" + strconv.FormatBool(x.X != nil) + strconv.FormatBool(x.Else != nil)
	case *Cast:
		return "cast" + x.To.String()
	case *Call:
		return x.Name + strconv.FormatBool(x.Distinct) + strconv.FormatBool(x.Star) + strconv.FormatBool(x.Filter != nil) + shapeOfCall(x)
	case *RowValue:
		return "row"
	case *Collate:
		return "collate" + x.To.String()
	}
	return "?"
}

// shapeOfCall tells apart calls by their orders and windows.
func shapeOfCall(x *Call) string {
	out := ""
	for i := range x.OrderBy {
		out += "order" + strconv.FormatBool(x.OrderBy[i].Desc) + strconv.Itoa(int(x.OrderBy[i].Nulls))
	}
	if x.Over != nil {
		out += "over" + x.Over.String()
	}
	return out
}

// maxArguments is how many arguments an aggregate may have.
const maxArguments = 20

// groups gathers rows into groups.
type groups struct {
	g       *grouping
	byKey   hashIndex
	keys    []Value // of all groups, one after the other
	states  []*state
	scratch []Value
	args    []Value
	n       int
}

func newGroups(g *grouping) *groups {
	return &groups{g: g, scratch: make([]Value, len(g.keys)), args: make([]Value, maxArguments)}
}

// add puts the row at hand into its group, as often as it stands for.
func (gs *groups) add(e *env, times int64) error {
	g := gs.g
	for i := range g.keys {
		gs.scratch[i] = g.keys[i].eval(e)
	}
	at, fresh := gs.byKey.put(gs.scratch, gs.n)
	if fresh {
		if err := gs.open(e); err != nil {
			return err
		}
	}
	states := gs.states[at*g.width():]
	decider := -1
	var before Value
	if len(g.bares) > 0 {
		if decider = g.decider(); decider >= 0 {
			before = states[decider].best
		}
	}
	for i, a := range g.aggs {
		if err := a.update(e, states[i], gs.args, times); err != nil {
			return err
		}
	}
	if len(g.bares) > 0 {
		hit := decider >= 0 && (before.kind == Null || !same(before, states[decider].best))
		g.takeBare(e, states, fresh, hit)
	}
	return e.err
}

// width is how many results a group has.
func (g *grouping) width() int { return len(g.aggs) + len(g.bares) }

// open begins a group.
func (gs *groups) open(e *env) error {
	gs.n++
	gs.keys = append(gs.keys, gs.scratch...)
	states := make([]state, gs.g.width())
	for i := range states {
		gs.states = append(gs.states, &states[i])
	}
	e.held += int64(len(states)) * 200
	return e.hold(gs.scratch)
}

// each makes the results of every group. Without GROUP BY there is always one.
func (gs *groups) each(e *env, emit func() error) error {
	g := gs.g
	if gs.n == 0 && len(g.keys) == 0 {
		if err := gs.open(e); err != nil {
			return err
		}
	}
	for at := range gs.n {
		copy(e.made[g.made:], gs.keys[at*len(g.keys):(at+1)*len(g.keys)])
		for i, a := range g.aggs {
			e.made[a.made] = a.resultOf(e, gs.states[at*g.width()+i])
		}
		for i, a := range g.bares {
			e.made[a.made] = gs.states[at*g.width()+len(g.aggs)+i].best
		}
		if e.err != nil {
			return e.err
		}
		if err := emit(); err != nil {
			return err
		}
	}
	return nil
}
