package query

import (
	"fmt"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
)

// selectPlan is a SELECT made ready to run.
type selectPlan struct {
	text     *Select
	columns  []Column   // of the result
	windows  *windowing // nil without window functions
	out      []code
	steps    []*step
	once     []func(*env) truth // conditions on no table of its own
	group    *grouping          // nil without aggregates and GROUP BY
	having   func(*env) truth   // nil for none
	distinct bool
	order    []orderKey
	limit    code
	offset   code
	limited  bool
	noIndex  bool
	strict   bool               // tables are joined as they are written, one after the other
	final    []func(*env) truth // of a strict one: WHERE
	ordered  []*source          // as they are written
	counted  bool               // conditions are run on the parts of the table, which tells their sizes
	outer    slots              // sources of queries around that it looks at
	counts   counts
}

// counts are what EXPLAIN ANALYZE tells.
type counts struct {
	rows  int64
	nanos int64
}

// step joins one more source to those before.
type step struct {
	src      *source
	left     bool               // a row before it without a partner stays
	right    bool               // so does a row of its own
	rows     *roaring.Bitmap    // the only ones to look at; nil for all
	span     *between           // what to read of an Ordered table; nil for all
	notes    []string           // how those were found
	filters  []func(*env) truth // on this source alone
	conds    []*condition       // those, as they were compiled
	on       []func(*env) truth // of a LEFT JOIN: who is a partner
	after    []func(*env) truth // on this source and those before
	asked    []string           // filters that are run on parts of the table, as they were written
	words    []string           // filters, on and after, as they were written
	method   joinMethod
	key      []code // of a lookup or hash: by sources before
	mine     []code // of a hash: the same of this source
	column   int    // of a lookup
	match    []Affinity
	kept     []int // the columns that a hash or loop keeps
	place    []int // of each column among those kept
	fixed    bool  // what is kept does not depend on a query around
	varies   bool  // a filter looks at a query around
	coded    bool  // of a hash: by the codes of one domain
	buffer   *buffer
	bufOf    *env
	probe    []Value   // scratch: the key looked for
	keptRow  bufferRow // scratch: the row found
	counts   counts
	estimate int64
}

type joinMethod uint8

const (
	scanJoin   joinMethod = iota // the first source, or one row at a time
	lookupJoin                   // by key in the table
	hashJoin
	loopJoin
	lateralJoin // a table function, called anew for each row
)

// compileSelect makes a query ready to run, below the scope of the query around.
func (c *compiler) compileSelect(x *Select, parent *scope) *selectPlan {
	if c.depth++; c.depth > 2*maxNesting {
		c.fail(x, "views and queries of WITH are nested more than %d deep", 2*maxNesting)
	}
	defer func() { c.depth-- }()
	if x.With != nil {
		parent = c.layer(x.With, parent)
	}
	switch {
	case x.Rest != nil:
		all := c.compound(x, parent)
		ordered := *x
		ordered.OrderBy = c.orderOfAll(x, all.columns)
		return c.wrap(&ordered, all, parent)
	case x.Values != nil:
		return c.wrap(x, c.values(x, parent), parent)
	}
	return c.compileCore(x, parent)
}

// compileCore makes a SELECT ready to run.
func (c *compiler) compileCore(x *Select, parent *scope) *selectPlan {
	s := &scope{c: c, parent: parent, aliases: map[string]Expr{}, using: map[Expr]bool{}, noAggs: "it needs rows to be grouped", top: parent == nil || parent.top && parent.common != nil}
	p := &selectPlan{text: x, distinct: x.Distinct, noIndex: c.opt.NoIndex}
	var on []Expr // conditions of inner joins
	from := flat(x.From)
	for i := range from {
		s.bind(&from[i])
	}
	p.strict = s.strict()
	for i := range from {
		if f := &from[i]; f.Join != LeftJoin && f.On != nil && !p.strict {
			on = append(on, f.On)
		}
	}
	s.checkOn()
	list := s.expand(x)
	for i := range list {
		if list[i].Alias != "" && list[i].X != nil {
			s.aliases[lowerASCII(list[i].Alias)] = list[i].X
		}
	}
	s.noAggs = "WHERE and ON come before grouping; say HAVING"
	p.counted = s.countable(x, list)
	p.joins(s, conjuncts(append(on, x.Where)...))
	s.grouping(p, x, list)
	s.openWindows(p, x, list)
	s.results(p, list)
	windows := s.windows
	s.windows = nil
	if x.Having != nil {
		if p.group == nil {
			c.fail(x.Having, "HAVING is for queries with GROUP BY or aggregates; say WHERE")
		}
		code := s.compile(x.Having)
		p.having = code.condition()
	}
	s.windows = windows
	s.ordering(p, x, list)
	s.windows = nil
	s.limits(p, x)
	p.outer, p.ordered = s.outer, s.sources
	p.finish()
	return p
}

// conjuncts takes ANDs apart, those that NOT makes of an OR too.
func conjuncts(all ...Expr) []Expr {
	var out []Expr
	for _, x := range all {
		if n, ok := x.(*Unary); ok && n.Op == "NOT" {
			if b, ok := n.X.(*Binary); ok && b.Op == "OR" {
				out = append(out, conjuncts(negation(b.X), negation(b.Y))...)
				continue
			}
		}
		if b, ok := x.(*Binary); ok && b.Op == "AND" {
			out = append(out, conjuncts(b.X, b.Y)...)
		} else if x != nil {
			out = append(out, x)
		}
	}
	return out
}

func negation(x Expr) Expr { return &Unary{span{x.Pos(), x.End()}, "NOT", x} }

// bind finds a FROM item and adds it to the sources.
func (s *scope) bind(f *FromItem) {
	c := s.c
	src := &source{item: f, slot: c.nslots, name: f.Alias, merged: map[string]bool{}}
	if src.name == "" {
		src.name = f.Table
	}
	s.open(f, src)
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

// open finds what a FROM item reads.
func (s *scope) open(f *FromItem, src *source) {
	c := s.c
	switch {
	case f.made != nil:
		src.sub = f.made
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

// viewed makes a view a source.
func (s *scope) viewed(f *FromItem, src *source, view *View) {
	src.sub = s.c.view(f, view)
	if view.Columns == nil && s.flatten(src) {
		return
	}
	src.columns = s.c.renamed(f, src.sub, f.Table, view.Columns)
}

// keptView finds a view of the catalog, nil where that has none of the name.
func (c *compiler) keptView(f *FromItem) *View {
	kept, ok := c.catalog.(Viewer)
	if !ok || f.At != nil {
		return nil
	}
	view, err := kept.View(lowerASCII(f.Table))
	c.found(f, err)
	return view
}

// view compiles a view. A fault in it is told where it is used.
func (c *compiler) view(f *FromItem, view *View) producer {
	if c.views[view] {
		c.fail(f, "the view %s is explained by itself", view.Name)
	}
	if c.views == nil {
		c.views = make(map[*View]bool)
	}
	c.views[view] = true
	defer delete(c.views, view)
	p, err := c.compileView(view)
	if fault, ok := err.(*Error); ok {
		c.fail(f, "view %s: %s", view.Name, fault.Msg)
	}
	if err != nil {
		panic(abort{err})
	}
	return p
}

func (c *compiler) compileView(view *View) (p producer, err error) {
	defer rescue(&err)
	return c.compileSelect(view.Select, nil), nil
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

// expand lists the result columns with stars written out.
func (s *scope) expand(x *Select) []ResultColumn {
	var out []ResultColumn
	for _, c := range x.Columns {
		if !c.Star {
			out = append(out, c)
			continue
		}
		n := len(out)
		for _, src := range s.sources {
			for i := range src.columns {
				if c.Table != "" && !src.called(c.Table, i) {
					continue
				}
				col := &src.columns[i]
				if !x.all && (c.Table == "" && src.merged[lowerASCII(col.Name)] || c.Table == "" && src.hides(i)) {
					continue
				}
				out = append(out, ResultColumn{span: c.span, X: s.starColumn(&c, src, i), text: col.Name})
			}
		}
		if len(out) == n {
			if c.Table == "" {
				s.c.fail(&c, "* needs a FROM")
			}
			s.missing(&ColumnRef{c.span, c.Table, "*"})
		}
		if len(out) > maxColumns {
			s.c.fail(&c, "more than %d columns", maxColumns)
		}
	}
	return out
}

// exactColumn is a column that a star stands for: it needs no looking up.
type exactColumn struct {
	ColumnRef
	at found
}

// results compiles the result columns.
func (s *scope) results(p *selectPlan, list []ResultColumn) {
	for i := range list {
		c := s.compile(list[i].X)
		name := list[i].Alias
		if name == "" {
			name = list[i].text
			if merged, ok := list[i].X.(*mergedColumn); ok {
				name = merged.Name
			} else if exact, ok := list[i].X.(*exactColumn); ok {
				name = exact.at.src.columns[exact.at.col].Name
			} else if ref := asColumn(list[i].X); ref != nil {
				name = ref.Name
				if f, ok := s.find(ref); ok {
					name = f.src.columns[f.col].Name
				}
			}
		}
		p.out = append(p.out, c)
		p.columns = append(p.columns, Column{Name: name, Type: c.affinity, Unit: c.unit, Refuse: c.refuse})
	}
	if s.top {
		return
	}
	for i := range p.out {
		if p.out[i].collate != ByBytes {
			s.c.fail(list[i].X, "COLLATE is not supported in the columns of a subquery")
		}
	}
}

func asColumn(x Expr) *ColumnRef {
	switch x := x.(type) {
	case *ColumnRef:
		return x
	case *exactColumn:
		return &x.ColumnRef
	}
	return nil
}

// limits compiles LIMIT and OFFSET.
func (s *scope) limits(p *selectPlan, x *Select) {
	if x.Limit == nil {
		return
	}
	in := &scope{c: s.c, noAggs: "LIMIT comes last"}
	p.limited = true
	p.limit, p.offset = in.compile(x.Limit), constant(Int(0))
	if x.Offset != nil {
		p.offset = in.compile(x.Offset)
	}
}

// count is a LIMIT or OFFSET.
func (c *code) count(e *env, at Expr, text string) (int64, error) {
	v := NumericAffinity.apply(c.eval(e))
	if v.kind == Real {
		if n, ok := wholeFloat(v.Float64()); ok {
			v = Int(n)
		}
	}
	if v.kind != Integer {
		return 0, &Error{text, at.Pos(), "LIMIT and OFFSET take whole numbers"}
	}
	return v.Int64(), e.err
}
