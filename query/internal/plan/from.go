package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/placectl/placectl/query/fault"
	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// bind resolves a FROM item and adds it to the sources.
func (s *scope) bind(f *syntax.FromItem, made exec.Producer) {
	c := s.c
	src := &source{Source: &exec.Source{Slot: c.nslots, Name: f.Alias, Of: f.Table}, item: f, merged: map[string]bool{}}
	if src.Name == "" {
		src.Name = f.Table
	}
	if src.Sub = made; made != nil {
		s.shapeOf(src)
	} else {
		s.open(f, src)
	}
	if src.Table == nil { // its own sources have taken numbers
		src.Slot = c.nslots
	}
	if c.nslots = src.Slot + 1; c.nslots > exec.MaxSlots {
		c.fail(f, "more than %d tables in a statement", exec.MaxSlots)
	}
	src.Used = make([]bool, len(src.Columns))
	s.mergeUsing(f, src)
	for _, other := range s.sources {
		if f.Alias != "" && strings.EqualFold(other.Name, src.Name) {
			c.fail(f, "there are two tables called %s: give one another alias", src.Name)
		}
	}
	s.sources = append(s.sources, src)
}

// mergeUsing checks the columns of USING. Each is the column of the first table that has it.
func (s *scope) mergeUsing(f *syntax.FromItem, src *source) {
	for _, n := range f.Using {
		ref := &syntax.ColumnRef{Span: n.Span, Table: "", Name: n.Text}
		if _, ok := s.local(ref); !ok {
			s.c.fail(ref, "USING: no column %q in the tables before", n.Text)
		}
		has := false
		for i := range src.Columns {
			has = has || strings.EqualFold(src.Columns[i].Name, n.Text)
		}
		if !has {
			s.c.fail(ref, "USING: no column %q in %s", n.Text, src.Name)
		}
		src.merged[values.Lower(n.Text)] = true
	}
}

// usingConditions returns the comparisons that USING stands for.
func usingConditions(s *scope, src *source) []syntax.Expr {
	var out []syntax.Expr
	for _, n := range src.item.Using {
		for i := range src.Columns {
			if strings.EqualFold(src.Columns[i].Name, n.Text) {
				mine := &exactColumn{syntax.ColumnRef{Span: n.Span, Table: src.Name, Name: n.Text}, found{src, i}}
				out = append(out, &syntax.Binary{Span: n.Span, Op: "=", X: s.before(src, n), Y: mine})
				break
			}
		}
	}
	return out
}

// before returns the column of USING in the tables before a source.
func (s *scope) before(src *source, n syntax.Name) syntax.Expr {
	all := s.sources
	defer func() { s.sources = all }()
	s.sources = all[:slices.Index(all, src)]
	ref := &syntax.ColumnRef{Span: n.Span, Table: "", Name: n.Text}
	f, _ := s.local(ref)
	return &exactColumn{syntax.ColumnRef{Span: n.Span, Table: "", Name: n.Text}, f}
}

// open finds out what a FROM item reads.
func (s *scope) open(f *syntax.FromItem, src *source) {
	c := s.c
	switch {
	case f.Sub != nil:
		src.Sub = c.compileSelect(f.Sub, s.parent)
		if s.flatten(src) {
			return
		}
	case f.Call:
		s.function(f, src)
		return
	case f.At == nil && s.named(f, src):
		return
	default:
		if src.Table = c.table(f); src.Table == nil {
			s.viewed(f, src, c.keptView(f))
			return
		}
		src.Columns = src.Table.Columns()
		return
	}
	s.shapeOf(src)
}

// shapeOf sets the columns of a source.
func (s *scope) shapeOf(src *source) {
	columns, outer := src.Sub.Shape()
	s.outer |= outer
	src.Columns = columns
}

// named finds a query of WITH, or a view.
func (s *scope) named(f *syntax.FromItem, src *source) bool {
	if t := s.commonTable(f.Table); t != nil {
		src.Sub, src.Columns = t.use(s.c, f, s)
		_, outer := src.Sub.Shape()
		s.outer |= outer
		return true
	}
	view := s.c.opt.Views[values.Lower(f.Table)]
	if view == nil {
		return false
	}
	s.viewed(f, src, view)
	return true
}

// table finds a table; nil for a view of the catalog.
func (c *compiler) table(f *syntax.FromItem) tables.Table {
	at := values.Value{}
	if f.At != nil {
		at = c.instant(&scope{c: c, noAggs: "it needs rows"}, f.At)
	}
	t, err := c.catalog.Table(values.Lower(f.Table), at)
	c.found(f, err)
	if t == nil && c.keptView(f) == nil {
		c.noTable(f)
	}
	return t
}

// gone refuses a function of SQLite that is not supported.
func (c *compiler) gone(at syntax.Node, name string) {
	if instead := syntax.Instead(values.Lower(name)); instead != "" {
		c.fail(at, "%s is not supported: %s", name, instead)
	}
}

func (c *compiler) noTable(f *syntax.FromItem) {
	c.gone(f, f.Table)
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
	hint := didYouMean(f.Table, names)
	if hint == "" && slices.Contains(names, "sys_tables") {
		hint = "; sys_tables lists them"
	}
	c.fail(f, "no %s %q%s", what, f.Table, hint)
}

// instant reads the expression after AT.
func (c *compiler) instant(s *scope, x syntax.Expr) values.Value {
	a := s.compile(x)
	v, ok := a.ConstantOf()
	if !ok || v.Kind() == values.Null {
		c.fail(x, "AT takes a time")
	}
	if v.Kind() == values.Text {
		t, err := c.catalog.Literal(tables.Time, v.Text())
		if err != nil {
			c.fail(x, "%v", err)
		}
		v = t
	}
	return v
}

// checkOn refuses an ON that refers to a later table. SQLite allows it only in inner joins, where it
// surprises people.
func (s *scope) checkOn() {
	all := s.sources
	for i, src := range all {
		if src.item.On != nil {
			s.sources = all[:i+1]
			before := s.looked()
			s.noAggs = "ON comes before grouping"
			s.compile(src.item.On)
			for _, src := range s.sources {
				copy(src.Used, before[src.Slot])
			}
		}
	}
	s.sources = all
}

// found fails with an error of the catalog. If it is about the text, it gets the place of the FROM item.
func (c *compiler) found(f *syntax.FromItem, err error) {
	if err != nil {
		panic(fault.Abort{Err: c.placed(f, err)})
	}
}

// placed gives an error about the text its place.
func (c *compiler) placed(f *syntax.FromItem, err error) error {
	if _, ok := err.(*fault.Error); ok || !c.opt.isInput(err) {
		return err
	}
	return &fault.Error{Text: c.text, Offset: f.Pos(), Msg: fmt.Sprintf("%s: %v", f.Table, err)}
}
