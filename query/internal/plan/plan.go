package plan

import (
	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/values"
)

// draft is a SELECT that is being compiled.
type draft struct {
	*exec.Plan
	steps []*step
}

// compileSelect compiles a query below the scope of the outer one.
func (c *compiler) compileSelect(x *syntax.Select, parent *scope) *exec.Plan {
	if c.depth++; c.depth > 2*syntax.MaxNesting {
		c.fail(x, "views and queries of WITH are nested more than %d deep", 2*syntax.MaxNesting)
	}
	defer func() { c.depth-- }()
	if x.With != nil {
		parent = c.layer(x.With, parent)
	}
	switch {
	case x.Rest != nil:
		all := c.compound(x, parent)
		ordered := *x
		ordered.OrderBy = c.orderOfAll(x, all.Columns)
		return c.wrap(&ordered, all, parent)
	case x.Values != nil:
		return c.wrap(x, c.values(x, parent), parent)
	}
	return c.compileCore(x, parent, nil)
}

// compileCore compiles a SELECT. made is its input if it was made here, not written.
func (c *compiler) compileCore(x *syntax.Select, parent *scope, made exec.Producer) *exec.Plan {
	s := &scope{c: c, parent: parent, aliases: map[string]syntax.Expr{}, using: map[syntax.Expr]bool{},
		noAggs: "it needs rows to be grouped"}
	p := &draft{Plan: &exec.Plan{At: x.Pos(), Distinct: x.Distinct, NoIndex: c.opt.NoIndex}}
	var on []syntax.Expr // conditions of inner joins
	for i := range x.From {
		f := &x.From[i]
		if s.bind(f, made); f.Join != syntax.LeftJoin && f.On != nil {
			on = append(on, f.On)
		}
	}
	s.checkOn()
	list := s.expand(x)
	for i := range list {
		if list[i].Alias != "" && list[i].X != nil {
			s.aliases[values.Lower(list[i].Alias)] = list[i].X
		}
	}
	s.noAggs = "WHERE and ON come before grouping; say HAVING"
	p.joins(s, conjuncts(append(on, x.Where)...))
	s.grouping(p.Plan, x, list)
	s.openWindows(p.Plan, x, list)
	s.results(p.Plan, list)
	windows := s.windows
	s.windows = nil
	if x.Having != nil {
		if p.Group == nil {
			c.fail(x.Having, "HAVING is for queries with GROUP BY or aggregates; say WHERE")
		}
		code := s.compile(x.Having)
		p.Having = code.Condition()
	}
	s.windows = windows
	s.ordering(p.Plan, x, list)
	s.windows = nil
	s.limits(p.Plan, x)
	p.Outer = s.outer
	p.finish()
	return p.Plan
}

// conjuncts takes ANDs apart, including those that NOT makes of an OR.
func conjuncts(all ...syntax.Expr) []syntax.Expr {
	var out []syntax.Expr
	for _, x := range all {
		if n, ok := x.(*syntax.Unary); ok && n.Op == "NOT" {
			if b, ok := n.X.(*syntax.Binary); ok && b.Op == "OR" {
				out = append(out, conjuncts(negation(b.X), negation(b.Y))...)
				continue
			}
		}
		if b, ok := x.(*syntax.Binary); ok && b.Op == "AND" {
			out = append(out, conjuncts(b.X, b.Y)...)
		} else if x != nil {
			out = append(out, x)
		}
	}
	return out
}

func negation(x syntax.Expr) syntax.Expr {
	return &syntax.Unary{Span: syntax.At(x.Pos(), x.End()), Op: "NOT", X: x}
}

// finish settles which columns are used, once all is compiled.
func (p *draft) finish() {
	for _, st := range p.steps {
		st.Place = make([]int, len(st.src.Used))
		for i, used := range st.src.Used {
			if used {
				st.Place[i] = len(st.Kept)
				st.Kept = append(st.Kept, i)
			}
		}
		p.Plan.Steps = append(p.Plan.Steps, st.Step)
		st.Fixed = !st.Varies && (st.src.Sub == nil || st.src.Sub.Steady())
	}
}
