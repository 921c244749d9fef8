package query

import (
	"strings"
)

// Where a join is RIGHT or FULL, tables are joined one after the other as they are
// written, each condition of an ON decides about partners there and nowhere else, and
// WHERE is looked at in the end: rows that had no partner come last.

// strict reports whether there is such a join.
func (s *scope) strict() bool {
	for _, src := range s.sources {
		if j := src.item.Join; j == RightJoin || j == FullJoin {
			return true
		}
	}
	return false
}

func (p *draft) strictJoins(s *scope, where []Expr) {
	var mine slots
	for i, src := range s.sources {
		join := src.item.Join
		st := newStep(src)
		st.left, st.right = join == LeftJoin || join == FullJoin, join == RightJoin || join == FullJoin
		mine |= 1 << src.slot
		p.steps = append(p.steps, st)
		st.size()
		if i == 0 || st.lateral() {
			if st.right {
				s.c.fail(src.item, "a table function that takes columns cannot be joined RIGHT or FULL")
			}
		} else {
			st.method = loopJoin
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
		if st.method == loopJoin {
			st.hash(list, ^(slots(1) << src.slot))
		}
		for _, c := range list {
			if !c.used {
				st.on = append(st.on, c.test())
				st.words = append(st.words, c.x.String())
			}
		}
	}
	for _, x := range where {
		c := &condition{x: x, code: s.compile(x)}
		p.final = append(p.final, c.test())
	}
}

// flat takes joins in parentheses apart where they come first, which changes nothing.
func flat(from []FromItem) []FromItem {
	if len(from) == 0 || from[0].Group == nil || from[0].Alias != "" {
		return from
	}
	first := append([]FromItem(nil), flat(from[0].Group)...)
	return append(first, from[1:]...)
}

// joined is joins in parentheses: a subquery that gives all columns of its tables, which
// keep their names.
func (s *scope) joined(f *FromItem, src *source) {
	if len(f.Group) == 1 && f.Alias == "" {
		f.Alias = f.Group[0].Alias
		if f.Alias == "" {
			f.Alias = f.Group[0].Table
		}
	}
	star := []ResultColumn{{span: f.span, Star: true}}
	in := &Select{span: f.span, Columns: star, From: f.Group}
	p := s.c.compileOf(in, s.parent, given{all: true})
	src.sub = p
	for _, st := range p.ordered {
		for i := range st.columns {
			name := st.name
			if st.tables != nil && name == "" {
				name = st.tables[i]
			}
			if st.merged[lowerASCII(st.columns[i].Name)] && (st.item.Join == RightJoin || st.item.Join == FullJoin) {
				s.c.fail(f, "a RIGHT or FULL join by USING in parentheses is not supported: say ON")
			}
			src.tables = append(src.tables, name)
			src.hidden = append(src.hidden, st.merged[lowerASCII(st.columns[i].Name)] || st.hides(i))
		}
	}
	if f.Alias == "" {
		src.name = ""
	}
}

// shared lists the columns by which a NATURAL join joins.
func (s *scope) shared(f *FromItem, src *source) []Name {
	var out []Name
	for i := range src.columns {
		name := src.columns[i].Name
		if _, ok := s.local(&ColumnRef{f.span, "", name}); ok && !src.hides(i) {
			out = append(out, Name{f.span, name})
		}
	}
	return out
}

// mergedColumn is a column of USING behind RIGHT and FULL joins: of the first table that
// has a row there.
type mergedColumn struct {
	ColumnRef
	all []found
}

// mergedOf is what a bare name means that has been found, where it is such a column.
func (s *scope) mergedOf(x *ColumnRef, f found) *mergedColumn {
	if x.Table != "" || !s.owns(f.src) {
		return nil
	}
	m := &mergedColumn{*x, []found{f}}
	outer := false
	for _, src := range s.sources {
		if src == f.src || !src.merged[lowerASCII(x.Name)] {
			continue
		}
		outer = outer || src.item.Join == RightJoin || src.item.Join == FullJoin
		for i := range src.columns {
			if strings.EqualFold(src.columns[i].Name, x.Name) {
				m.all = append(m.all, found{src, i})
			}
		}
	}
	if !outer {
		return nil
	}
	return m
}

// starColumn is a column that a star stands for.
func (s *scope) starColumn(c *ResultColumn, src *source, i int) Expr {
	ref := ColumnRef{c.span, src.name, src.columns[i].Name}
	if src.tables != nil && src.name == "" {
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

// merged is the code of a merged column.
func (s *scope) merged(x *mergedColumn) code {
	parts := make([]code, len(x.all))
	for i, f := range x.all {
		parts[i] = s.found(&ColumnRef{x.span, f.src.name, x.Name}, f)
	}
	c := over(parts...)
	c.affinity, c.unit, c.refuse = parts[0].affinity, parts[0].unit, parts[0].refuse
	c.eval = func(e *env) Value {
		for i := range parts {
			if v := parts[i].eval(e); v.kind != Null {
				return v
			}
		}
		return Value{}
	}
	return c
}
