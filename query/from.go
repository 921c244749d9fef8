package query

import (
	"fmt"
	"slices"
	"strings"
)

// bind finds a FROM item and adds it to the sources.
func (s *scope) bind(f *FromItem, made producer) {
	c := s.c
	src := &source{runSource: &runSource{slot: c.nslots, name: f.Alias, of: f.Table}, item: f, merged: map[string]bool{}}
	if src.name == "" {
		src.name = f.Table
	}
	if src.sub = made; made != nil {
		s.shapeOf(src)
	} else {
		s.open(f, src)
	}
	if src.table == nil { // what it is made of has taken some
		src.slot = c.nslots
	}
	if c.nslots = src.slot + 1; c.nslots > maxSlots {
		c.fail(f, "more than %d tables in a statement", maxSlots)
	}
	src.used = make([]bool, len(src.columns))
	s.mergeUsing(f, src)
	for _, other := range s.sources {
		if f.Alias != "" && strings.EqualFold(other.name, src.name) {
			c.fail(f, "there are two tables called %s: give one another alias", src.name)
		}
	}
	s.sources = append(s.sources, src)
}

// mergeUsing checks the columns of USING, which are those of the first table that has
// them.
func (s *scope) mergeUsing(f *FromItem, src *source) {
	if f.Natural {
		f.Using = s.shared(f, src)
	}
	for _, n := range f.Using {
		ref := &ColumnRef{n.span, "", n.Text}
		if _, ok := s.local(ref); !ok {
			s.c.fail(ref, "USING: no column %q in the tables before", n.Text)
		}
		has := false
		for i := range src.columns {
			has = has || strings.EqualFold(src.columns[i].Name, n.Text)
		}
		if !has {
			s.c.fail(ref, "USING: no column %q in %s", n.Text, src.name)
		}
		src.merged[lowerASCII(n.Text)] = true
	}
}

// usingConditions are the comparisons that USING stands for.
func usingConditions(s *scope, src *source) []Expr {
	var out []Expr
	for _, n := range src.item.Using {
		for i := range src.columns {
			if strings.EqualFold(src.columns[i].Name, n.Text) {
				mine := &exactColumn{ColumnRef{n.span, src.name, n.Text}, found{src, i}}
				out = append(out, &Binary{n.span, "=", s.before(src, n), mine})
				break
			}
		}
	}
	return out
}

// before is the column of USING in the tables before one.
func (s *scope) before(src *source, n Name) Expr {
	all := s.sources
	defer func() { s.sources = all }()
	s.sources = all[:slices.Index(all, src)]
	ref := &ColumnRef{n.span, "", n.Text}
	f, _ := s.local(ref)
	if m := s.mergedOf(ref, f); m != nil {
		return m
	}
	return &exactColumn{ColumnRef{n.span, "", n.Text}, f}
}

// open finds what a FROM item reads.
func (s *scope) open(f *FromItem, src *source) {
	c := s.c
	switch {
	case f.Sub != nil:
		src.sub = c.compileSelect(f.Sub, s.parent)
		if s.flatten(src) {
			return
		}
	case f.Group != nil:
		s.joined(f, src)
	case f.Call:
		s.function(f, src)
		return
	case f.At == nil && s.named(f, src):
		return
	default:
		if src.table = c.table(f); src.table == nil {
			s.viewed(f, src, c.keptView(f))
			return
		}
		src.columns = src.table.Columns()
		return
	}
	s.shapeOf(src)
}

// shapeOf takes the columns of what a source reads.
func (s *scope) shapeOf(src *source) {
	columns, outer := src.sub.shape()
	s.outer |= outer
	src.columns = columns
}

// named finds a query of WITH, or a view.
func (s *scope) named(f *FromItem, src *source) bool {
	if t := s.commonTable(f.Table); t != nil {
		src.sub, src.columns = t.use(s.c, f, s)
		_, outer := src.sub.shape()
		s.outer |= outer
		return true
	}
	view := s.c.opt.Views[lowerASCII(f.Table)]
	if view == nil {
		return false
	}
	s.viewed(f, src, view)
	return true
}

// table finds a table, nil for a view of the catalog.
func (c *compiler) table(f *FromItem) Table {
	at := Value{}
	if f.At != nil {
		at = c.instant(&scope{c: c, noAggs: "it needs rows"}, f.At)
	}
	t, err := c.catalog.Table(lowerASCII(f.Table), at)
	c.found(f, err)
	if t == nil && c.keptView(f) == nil {
		c.noTable(f)
	}
	return t
}

func (c *compiler) noTable(f *FromItem) {
	names := c.catalog.Names()
	what := "table"
	if f.Call {
		what = "table function"
	}
	for i, n := range names {
		if strings.EqualFold(n, f.Table+"(") {
			c.fail(f, "%s is a table function: give it arguments, %s(...)", f.Table, f.Table)
		}
		names[i] = strings.TrimSuffix(n, "(")
	}
	c.fail(f, "no %s %q%s", what, f.Table, didYouMean(f.Table, names))
}

// instant reads what is behind AT.
func (c *compiler) instant(s *scope, x Expr) Value {
	a := s.compile(x)
	v, ok := a.constantOf()
	if !ok || v.kind == Null {
		c.fail(x, "AT takes a time")
	}
	if v.kind == Text {
		t, err := c.catalog.Literal(Time, v.str)
		if err != nil {
			c.fail(x, "%v", err)
		}
		v = t
	}
	return v
}

// checkOn refuses an ON that speaks of a table to come, which SQLite allows in inner
// joins only, and where nobody expects it.
func (s *scope) checkOn() {
	all := s.sources
	for i, src := range all {
		if src.item.On != nil {
			s.sources = all[:i+1]
			before := s.looked()
			s.noAggs = "ON comes before grouping"
			s.compile(src.item.On)
			for _, src := range s.sources {
				copy(src.used, before[src.slot])
			}
		}
	}
	s.sources = all
}

// found fails with an error of the catalog: where the FROM item stands, if it is about
// what was asked for.
func (c *compiler) found(f *FromItem, err error) {
	if err != nil {
		panic(abort{c.placed(f, err)})
	}
}

// placed gives an error about what was asked for its place.
func (c *compiler) placed(f *FromItem, err error) error {
	if _, ok := err.(*Error); ok || !c.opt.isInput(err) {
		return err
	}
	return &Error{c.text, f.Pos(), fmt.Sprintf("%s: %v", f.Table, err)}
}
