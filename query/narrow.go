package query

import (
	"fmt"
	"math"
)

// between is what a step reads of an Ordered table: the rows whose value in the column
// of its order is one of from..to.
type between struct{ from, to int64 }

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

// scan goes through the rows of the step's table, those that it may need.
func (st *step) scan() Cursor {
	if st.span != nil && st.rows == nil {
		return st.src.table.(Ordered).Range(st.span.from, st.span.to)
	}
	return st.src.table.Scan(st.rows)
}

// within narrows an estimate to the span; one without an end says nothing.
func (b *between) within(estimate int64) int64 {
	if b == nil || b.from < -math.MaxInt64/2 || b.to > math.MaxInt64/2 {
		return estimate
	}
	return min(estimate, max(0, b.to-b.from+1))
}
