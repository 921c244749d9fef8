package plan

import (
	"strings"

	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/values"
)

// With a RIGHT or FULL join, tables are joined in the order in which they are written. Each condition of
// an ON decides about partners there and nowhere else, and WHERE is checked at the end. Rows without a
// partner come last.

// strict reports whether there is such a join.
func (s *scope) strict() bool {
	for _, src := range s.sources {
		if j := src.item.Join; j == syntax.RightJoin || j == syntax.FullJoin {
			return true
		}
	}
	return false
}

func (p *draft) strictJoins(s *scope, where []syntax.Expr) {
	var mine exec.Slots
	for i, src := range s.sources {
		join := src.item.Join
		st := newStep(src)
		st.Left, st.Right = join == syntax.LeftJoin || join == syntax.FullJoin, join == syntax.RightJoin ||
			join == syntax.FullJoin
		mine |= 1 << src.Slot
		p.steps = append(p.steps, st)
		st.size()
		if i == 0 || st.lateral() {
			if st.Right {
				s.c.fail(src.item, "a table function that takes columns cannot be joined RIGHT or FULL")
			}
		} else {
			st.Method = exec.LoopJoin
		}
		all := s.sources
		s.sources = all[:i+1]
		conds := usingConditions(s, src)
		if src.item.On != nil {
			conds = append(conds, conjuncts(src.item.On)...)
		}
		var list []*condition
		for _, x := range conds {
			list = append(list, &condition{x: x, code: s.compile(x)})
		}
		s.sources = all
		if st.Method == exec.LoopJoin {
			st.hash(list, ^(exec.Slots(1) << src.Slot))
		}
		for _, c := range list {
			if !c.used {
				st.On = append(st.On, c.test())
				st.Words = append(st.Words, c.x.String())
			}
		}
	}
	for _, x := range where {
		c := &condition{x: x, code: s.compile(x)}
		p.Final = append(p.Final, c.test())
	}
}

// flat removes parentheses around joins that come first, which changes nothing.
func flat(from []syntax.FromItem) []syntax.FromItem {
	if len(from) == 0 || from[0].Group == nil || from[0].Alias != "" {
		return from
	}
	first := append([]syntax.FromItem(nil), flat(from[0].Group)...)
	return append(first, from[1:]...)
}

// joined compiles joins in parentheses: a subquery with all columns of its tables, which keep their
// names.
func (s *scope) joined(f *syntax.FromItem, src *source) {
	if len(f.Group) == 1 && f.Alias == "" {
		f.Alias = f.Group[0].Alias
		if f.Alias == "" {
			f.Alias = f.Group[0].Table
		}
	}
	star := []syntax.ResultColumn{{Span: f.Span, Star: true}}
	in := &syntax.Select{Span: f.Span, Columns: star, From: f.Group}
	p := s.c.compileOf(in, s.parent, given{all: true})
	src.Sub = p
	for _, st := range p.ordered {
		for i := range st.Columns {
			name := st.Name
			if st.tables != nil && name == "" {
				name = st.tables[i]
			}
			if st.merged[values.Lower(st.Columns[i].Name)] && (st.item.Join == syntax.RightJoin ||
				st.item.Join == syntax.FullJoin) {
				s.c.fail(f, "a RIGHT or FULL join by USING in parentheses is not supported: say ON")
			}
			src.tables = append(src.tables, name)
			src.hidden = append(src.hidden, st.merged[values.Lower(st.Columns[i].Name)] || st.hides(i))
		}
	}
	if f.Alias == "" {
		src.Name = ""
	}
}

// shared lists the columns by which a NATURAL join joins.
func (s *scope) shared(f *syntax.FromItem, src *source) []syntax.Name {
	var out []syntax.Name
	for i := range src.Columns {
		name := src.Columns[i].Name
		if _, ok := s.local(&syntax.ColumnRef{Span: f.Span, Table: "", Name: name}); ok && !src.hides(i) {
			out = append(out, syntax.Name{Span: f.Span, Text: name})
		}
	}
	return out
}

// mergedColumn is a column of USING after RIGHT and FULL joins. As in SQLite, after RIGHT it
// is the column of the right table, and after FULL that of the first table that has a row
// there.
type mergedColumn struct {
	syntax.ColumnRef
	all []found
}

// mergedOf returns the merged column that a bare name means, if it is one.
func (s *scope) mergedOf(x *syntax.ColumnRef, f found) *mergedColumn {
	if x.Table != "" || !s.owns(f.src) {
		return nil
	}
	m := &mergedColumn{*x, []found{f}}
	outer := false
	for _, src := range s.sources {
		right, full := src.item.Join == syntax.RightJoin, src.item.Join == syntax.FullJoin
		if src == f.src || !src.merged[values.Lower(x.Name)] || !right && !full {
			continue
		}
		if outer = true; right {
			m.all = nil
		}
		for i := range src.Columns {
			if strings.EqualFold(src.Columns[i].Name, x.Name) {
				m.all = append(m.all, found{src, i})
			}
		}
	}
	if !outer {
		return nil
	}
	return m
}

// starColumn returns a column from a star.
func (s *scope) starColumn(c *syntax.ResultColumn, src *source, i int) syntax.Expr {
	ref := syntax.ColumnRef{Span: c.Span, Table: src.Name, Name: src.Columns[i].Name}
	if src.tables != nil && src.Name == "" {
		ref.Table = src.tables[i]
	}
	if c.Table == "" {
		bare := ref
		bare.Table = ""
		if m := s.mergedOf(&bare, found{src, i}); m != nil {
			return m
		}
	}
	return &exactColumn{ref, found{src, i}}
}

// merged returns the code of a merged column.
func (s *scope) merged(x *mergedColumn) exec.Code {
	parts := make([]exec.Code, len(x.all))
	for i, f := range x.all {
		parts[i] = s.found(&syntax.ColumnRef{Span: x.Span, Table: f.src.Name, Name: x.Name}, f)
	}
	c := exec.Over(parts...).Likewise(&parts[0])
	c.Affinity, c.Unit, c.Refuse = parts[0].Affinity, parts[0].Unit, parts[0].Refuse
	c.Eval = func(e *exec.Env) values.Value {
		for i := range parts {
			if v := parts[i].Eval(e); v.Kind() != values.Null {
				return v
			}
		}
		return values.Value{}
	}
	return c
}
