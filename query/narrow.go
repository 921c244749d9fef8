package query

import (
	"fmt"
	"math"
)

// narrow makes the step begin later, or end earlier, where a condition is on the column
// of its table's order. The condition stays to be looked at.
func (st *step) narrow(s *scope, c *condition) {
	table, ok := st.src.table.(Ordered)
	if !ok || c.code.sub || s.c.opt.NoIndex {
		return
	}
	d := &decider{s: s, src: st.src}
	b := between{math.MinInt64, math.MaxInt64}
	switch x := c.x.(type) {
	case *Binary:
		column, value, op := x.X, x.Y, x.Op
		if asColumn(column) == nil {
			column, value, op = value, column, mirrored[op]
		}
		ok = d.bound(table, column, value, op, &b)
	case *Between:
		ok = !x.Not && d.bound(table, x.X, x.Lo, ">=", &b) && d.bound(table, x.X, x.Hi, "<=", &b)
	default:
		return
	}
	if !ok {
		return
	}
	if st.span != nil {
		b = between{max(b.from, st.span.from), min(b.to, st.span.to)}
	}
	st.span = &b
	st.notes = append(st.notes, fmt.Sprintf("%s: by the order of the rows", c.x))
}

// mirrored is an operator with its sides exchanged.
var mirrored = map[string]string{"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// bound takes a comparison of the column of the order with a whole number into b.
func (d *decider) bound(table Ordered, column, value Expr, op string, b *between) bool {
	ref := asColumn(column)
	if ref == nil {
		return false
	}
	at, ok := d.s.local(ref)
	if !ok || at.src != d.src || at.col != table.Order() {
		return false
	}
	v, ok := d.constant(column, value)
	if !ok || v.kind != Integer {
		return false
	}
	n := v.Int64()
	switch op {
	case "=":
		b.from, b.to = max(b.from, n), min(b.to, n)
	case ">":
		if n == math.MaxInt64 {
			return false
		}
		b.from = max(b.from, n+1)
	case ">=":
		b.from = max(b.from, n)
	case "<":
		if n == math.MinInt64 {
			return false
		}
		b.to = min(b.to, n-1)
	case "<=":
		b.to = min(b.to, n)
	default:
		return false
	}
	return true
}
