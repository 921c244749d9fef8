package plan

import (
	"fmt"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// Conditions become sets of rows as follows. NOT moves inwards until it stands before something other
// than AND and OR; in three-valued logic that changes nothing. Then AND is an intersection of the sets
// of rows for which the operands are true, and OR a union.
//
// The table decides the operands. If it can find the rows of a comparison, it does. Otherwise
// the table is split by the operand's columns, and the operand, whatever it computes, is
// evaluated on one row of each part. A condition that cannot be decided in this way is checked
// row by row. In an AND only that operand is, but an OR with such an operand stays whole.

// push narrows a step's rows by a condition, if its table knows them.
func (st *step) push(s *scope, c *condition) bool {
	table, ok := st.src.Table.(tables.Indexed)
	if !ok || c.code.Sub || s.c.opt.NoIndex || st.Method == exec.LookupJoin {
		return false
	}
	d := &decider{s: s, src: st.src, table: table}
	rows, ok := d.rows(c.x, false)
	if !ok {
		return false
	}
	st.Notes = append(st.Notes, fmt.Sprintf("%s: %s", c.x, exec.RowsText(rows.GetCardinality())))
	if st.Rows != nil {
		rows = roaring.And(st.Rows, rows)
	}
	st.Rows = rows
	return true
}

// decider decides conditions on the rows of one table.
type decider struct {
	s     *scope
	src   *source
	table tables.Indexed
}

// rows returns the rows for which a condition, or its negation, is true.
func (d *decider) rows(x syntax.Expr, not bool) (*roaring.Bitmap, bool) {
	switch b := x.(type) {
	case *syntax.Unary:
		if b.Op == "NOT" {
			return d.rows(b.X, !not)
		}
	case *syntax.Binary:
		if b.Op != "AND" && b.Op != "OR" {
			break
		}
		l, ok := d.rows(b.X, not)
		if !ok {
			return nil, false
		}
		r, ok := d.rows(b.Y, not)
		if !ok {
			return nil, false
		}
		if (b.Op == "AND") != not {
			return roaring.And(l, r), true
		}
		return roaring.Or(l, r), true
	}
	if !not {
		if rows, ok := d.find(x); ok {
			return rows, true
		}
	} else if rows, ok := d.find(x); ok && d.neverNull(x) {
		return roaring.AndNot(d.table.All(), rows), true
	}
	return d.split(x, not)
}

// neverNull reports whether a condition that the table has found is never unknown.
func (d *decider) neverNull(x syntax.Expr) bool {
	cols, ok := d.columns(x)
	for _, col := range cols {
		ok = ok && d.src.Columns[col].NotNull
	}
	return ok
}

// find asks the table about a comparison of a column with a constant.
func (d *decider) find(x syntax.Expr) (*roaring.Bitmap, bool) {
	f := tables.Find{}
	var column, value syntax.Expr
	switch x := x.(type) {
	case *syntax.Binary:
		if x.Op != "=" {
			return nil, false
		}
		if column, value = x.X, x.Y; asColumn(column) == nil {
			column, value = value, column
		}
	case *syntax.In:
		return d.findAny(x)
	case *syntax.Match:
		prefix, ok := d.prefix(x)
		if !ok {
			return nil, false
		}
		f.Op, f.Value = tables.FindPrefix, values.String(prefix)
		return d.ask(x.X, f)
	case *syntax.Call:
		if x.Name != "has" || len(x.Args) != 2 {
			return nil, false
		}
		column, value, f.Op = x.Args[0], x.Args[1], tables.FindHas
	default:
		return nil, false
	}
	v, ok := d.constant(column, value)
	if !ok {
		return nil, false
	}
	f.Value = v
	return d.ask(column, f)
}

// constant returns the value that a column is compared with, converted as in the comparison.
func (d *decider) constant(column, value syntax.Expr) (values.Value, bool) {
	ref := asColumn(column)
	if ref == nil {
		return values.Value{}, false
	}
	a, b := d.s.compile(column), d.s.compile(value)
	_, b = d.s.beside(a, b, column, value)
	v, ok := b.ConstantOf()
	if !ok || b.Sub || v.Kind() == values.Null {
		return values.Value{}, false
	}
	affinity := compareAffinity(a.Affinity, b.Affinity)
	if affinity.Numeric() != a.Affinity.Numeric() {
		return values.Value{}, false
	}
	v = values.Normal(affinity.Apply(v))
	return v, true
}

func (d *decider) ask(column syntax.Expr, f tables.Find) (*roaring.Bitmap, bool) {
	ref := asColumn(column)
	if ref == nil {
		return nil, false
	}
	at, ok := d.s.local(ref)
	if !ok || at.src != d.src {
		return nil, false
	}
	f.Column = at.col
	if isText := d.src.Columns[at.col].Type == values.TextAffinity; isText != (f.Value.Kind() == values.Text) {
		return nil, false
	}
	return d.table.Find(f)
}

// findAny finds the rows of an IN with a list of values.
func (d *decider) findAny(x *syntax.In) (*roaring.Bitmap, bool) {
	if x.Not || x.Sub != nil || len(x.List) == 0 || len(x.List) > 1000 {
		return nil, false
	}
	out := roaring.New()
	for _, item := range x.List {
		v, ok := d.constant(x.X, item)
		if !ok {
			return nil, false
		}
		rows, ok := d.ask(x.X, tables.Find{Op: tables.FindEqual, Value: v})
		if !ok {
			return nil, false
		}
		out.Or(rows)
	}
	return out, true
}

// prefix returns the text that a pattern requires at the front, if it requires nothing else. LIKE ignores
// case, so a text with letters is no prefix for it.
func (d *decider) prefix(x *syntax.Match) (string, bool) {
	if x.Not || x.Escape != nil || x.Regexp {
		return "", false
	}
	pattern := d.s.compile(x.Y)
	v, ok := pattern.ConstantOf()
	if !ok || v.Kind() != values.Text {
		return "", false
	}
	if x.Glob {
		p, found := strings.CutSuffix(v.Text(), "*")
		return p, found && !strings.ContainsAny(p, "*?[")
	}
	p, found := strings.CutSuffix(v.Text(), "%")
	return p, found && !strings.ContainsAny(p, "%_") && !strings.ContainsFunc(p, func(r rune) bool {
		return r|0x20 >= 'a' && r|0x20 <= 'z'
	})
}

// columns returns the columns of the source in an expression; ok is false if it uses anything else.
func (d *decider) columns(x syntax.Expr) ([]int, bool) {
	if ref := asColumn(x); ref != nil {
		at, ok := d.s.local(ref)
		if !ok {
			if alias := d.s.aliasOf(ref); alias != nil {
				return nil, false
			}
		}
		return []int{at.col}, ok && at.src == d.src
	}
	var out []int
	for _, child := range syntax.Children(x) {
		cols, ok := d.columns(child)
		if !ok {
			return nil, false
		}
		out = append(out, cols...)
	}
	return out, true
}

// split decides a condition once for each part.
func (d *decider) split(x syntax.Expr, not bool) (*roaring.Bitmap, bool) {
	cols, ok := d.columns(x)
	if !ok || len(cols) == 0 {
		return nil, false
	}
	parts, ok := d.table.Split(cols)
	if !ok {
		return nil, false
	}
	c := d.s.compile(x)
	test := c.Condition()
	want := values.Yes
	if not {
		want = values.No
	}
	e := exec.NewEnv(d.s.c.opt.context(), d.s.c.opt.Limits, exec.MaxSlots, 0)
	var hits []*roaring.Bitmap
	for row, rows := range parts {
		e.Row[d.src.Slot] = row
		if test(e) == want {
			hits = append(hits, rows)
		}
		if e.Err != nil {
			return nil, false
		}
	}
	if len(hits) == 1 {
		return hits[0], true
	}
	return roaring.FastOr(hits...), true
}
