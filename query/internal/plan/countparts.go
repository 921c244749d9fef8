package plan

import (
	"github.com/placectl/placectl/query/internal/functions"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// Some queries need only the number of rows in each part of a table: counts, and sums of columns that
// have one value in each part. If a table knows these sizes without making sets of rows, the conditions
// run once for each part when the statement runs, and no bitmap is made.

// countable reports whether the SELECT is such a query.
func (s *scope) countable(x *syntax.Select, list []syntax.ResultColumn) bool {
	if len(s.sources) != 1 || x.Where == nil || x.Distinct || s.c.opt.NoIndex || !s.top || x.Windows != nil {
		return false
	}
	table, ok := s.sources[0].Table.(tables.Countable)
	if !ok {
		return false
	}
	d := &decider{s: s, src: s.sources[0]}
	all := append([]syntax.Expr{x.Where}, x.GroupBy...)
	for i := range list {
		all = append(all, list[i].X)
	}
	if x.Having != nil {
		all = append(all, x.Having)
	}
	for i := range x.OrderBy {
		all = append(all, x.OrderBy[i].X)
	}
	var used []int
	grouped := len(x.GroupBy) > 0
	for _, expr := range all {
		cols, ok := d.columns(expr)
		if !ok || !d.weighable(expr) {
			return false
		}
		used = append(used, cols...)
		grouped = grouped || s.aggregated(expr)
	}
	keys := map[string]bool{}
	for _, key := range x.GroupBy {
		if n, ok := ordinal(key); ok && n >= 1 && n <= int64(len(list)) {
			key = list[n-1].X
		}
		keys[s.canon(key)] = true
	}
	for _, expr := range all[1:] {
		grouped = grouped && !s.bareIn(expr, keys)
	}
	if !grouped || len(used) == 0 {
		return false
	}
	_, ok = table.Parts(used)
	return ok
}

// weighable reports whether all aggregates in an expression can add many equal rows at once, and it
// contains no subquery.
func (d *decider) weighable(x syntax.Expr) bool {
	switch x := x.(type) {
	case *syntax.Subquery, *syntax.Exists:
		return false
	case *syntax.In:
		if x.Sub != nil {
			return false
		}
	case *syntax.Call:
		if x.Over != nil {
			return false
		}
		kind, ok := functions.Aggregates[x.Name]
		if !ok || len(x.Args) > 1 {
			break
		}
		if !kind.Weighs || x.Distinct || x.Filter != nil || x.Over != nil || x.OrderBy != nil {
			return false
		}
		if !x.Star && (len(x.Args) != 1 || asColumn(x.Args[0]) == nil || !d.exact(asColumn(x.Args[0]), x.Name)) {
			return false
		}
	}
	for _, child := range syntax.Children(x) {
		if !d.weighable(child) {
			return false
		}
	}
	return true
}

// exact reports whether an aggregate of a column does not depend on the order of rows. Sums of reals do.
func (d *decider) exact(ref *syntax.ColumnRef, name string) bool {
	at, ok := d.s.local(ref)
	return ok && (d.src.Columns[at.col].Type != values.RealAffinity || name == "count" || name == "min" ||
		name == "max")
}

// bareIn reports whether an expression uses a column, outside aggregates, that is not a key.
func (s *scope) bareIn(x syntax.Expr, keys map[string]bool) bool {
	if _, isNumber := x.(*syntax.Literal); isNumber || keys[s.canon(x)] {
		return false
	}
	if call, ok := x.(*syntax.Call); ok {
		if _, ok := aggregateOf(call); ok && call.Over == nil {
			return false
		}
	}
	if ref := asColumn(x); ref != nil {
		if alias := s.aliasOf(ref); alias != nil && !s.using[alias] {
			if _, isColumn := s.local(ref); !isColumn {
				s.using[alias] = true
				defer delete(s.using, alias)
				return s.bareIn(alias, keys)
			}
		}
		return true
	}
	for _, child := range syntax.Children(x) {
		if s.bareIn(child, keys) {
			return true
		}
	}
	return false
}
