package plan

import (
	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// common is a query of WITH.
type common struct {
	def  *syntax.CommonTable
	at   *scope // where it is compiled, with the names of the same WITH
	busy bool   // it is being compiled now
	*exec.Shared
	self *exec.Self // of a recursive one: the current row
	only *scope     // where that can be named
	used bool       // it has been used
}

// layer returns a scope with the names of WITH only.
func (c *compiler) layer(w *syntax.With, parent *scope) *scope {
	s := &scope{c: c, parent: parent, common: map[string]*common{}}
	for i := range w.Tables {
		t := &w.Tables[i]
		name := values.Lower(t.Name)
		if s.common[name] != nil {
			c.fail(t, "there are two queries called %s", t.Name)
		}
		s.common[name] = &common{def: t, at: s, Shared: &exec.Shared{Name: t.Name}}
	}
	return s
}

// commonTable finds a query of WITH by its name.
func (s *scope) commonTable(name string) *common {
	for at := s; at != nil; at = at.parent {
		if t := at.common[values.Lower(name)]; t != nil {
			return t
		}
	}
	return nil
}

// use makes the query a source of a scope.
func (t *common) use(c *compiler, f *syntax.FromItem, in *scope) (exec.Producer, []tables.Column) {
	if t.busy {
		if t.self == nil {
			c.fail(f, "%s is explained by itself: what comes before UNION may not name it", f.Table)
		}
		if in.parent != t.only || t.used {
			c.fail(f, "a query of WITH may name itself once, in the FROM behind UNION")
		}
		t.used = true
		return t.self, t.Columns
	}
	if t.Plan == nil {
		t.busy = true
		t.compile(c)
		t.busy = false
	}
	t.Refs++
	return t.Shared, t.Columns
}

// compile compiles the query when it is first used.
func (t *common) compile(c *compiler) {
	x := t.def.Select
	first := len(x.Rest) + 1
	for i, arm := range x.Rest {
		if first > i && fromNames(arm.Select, t.def.Name) {
			first = i
		}
	}
	if first > len(x.Rest) {
		t.Plan = c.compileSelect(x, t.at)
		t.Columns = c.renamed(t.def, t.Plan, t.def.Name, t.def.Columns)
		return
	}
	t.recursive(c, x, first)
}

// fromNames reports whether a SELECT has a table of a name in its FROM.
func fromNames(x *syntax.Select, name string) bool {
	for i := range x.From {
		f := &x.From[i]
		if f.Sub == nil && !f.Call && values.Lower(f.Table) == values.Lower(name) {
			return true
		}
	}
	return false
}

// recursive compiles a query whose arms, from a number on, name it.
func (t *common) recursive(c *compiler, x *syntax.Select, from int) {
	first := *x
	first.With, first.Rest, first.OrderBy, first.Limit, first.Offset = nil, x.Rest[:from], nil, nil, nil
	at := t.at
	if x.With != nil {
		at = c.layer(x.With, at)
	}
	r := &exec.Recursive{First: c.compileSelect(&first, at), Distinct: x.Rest[from].Op == syntax.Union}
	r.Columns = append([]tables.Column(nil), c.renamed(t.def, r.First, t.def.Name, t.def.Columns)...)
	_, r.Outer = r.First.Shape()
	t.Columns, t.only = r.Columns, at
	for _, arm := range x.Rest[from:] {
		if arm.Op != syntax.Union && arm.Op != syntax.UnionAll {
			c.fail(arm.Select, "a query that names itself is joined by UNION or UNION ALL")
		}
		t.self, t.used = &exec.Self{Columns: r.Columns}, false
		plan := c.compileSelect(arm.Select, at)
		if len(plan.Columns) != len(r.Columns) {
			c.fail(arm.Select, "queries that are joined have as many columns: %d here, %d before", len(plan.Columns),
				len(r.Columns))
		}
		if plan.Group != nil {
			c.fail(arm.Select, "the part of a query that names itself takes no aggregates")
		}
		r.Arms, r.Outer = append(r.Arms, &exec.Arm{Plan: plan, Self: t.self}), r.Outer|plan.Outer
	}
	t.self = nil
	s := &scope{c: c, noAggs: "LIMIT comes last"}
	r.Limited = &exec.Plan{}
	s.limits(r.Limited, x)
	for _, term := range c.orderOfAll(x, r.Columns) {
		n, _ := ordinal(term.X)
		r.Order = append(r.Order, exec.OrderKey{Column: int(n) - 1, Desc: term.Desc, Nulls: term.Nulls})
	}
	t.Plan = r
}
