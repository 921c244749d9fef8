package plan

import (
	"fmt"
	"math"

	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// narrow makes the step begin later, or end earlier, where a condition is on the column
// of its table's order. The condition stays to be looked at.
func (st *step) narrow(s *scope, c *condition) {
	table, ok := st.src.Table.(tables.Ordered)
	if !ok || c.code.Sub || s.c.opt.NoIndex {
		return
	}
	d := &decider{s: s, src: st.src}
	b := exec.Span{From: math.MinInt64, To: math.MaxInt64}
	switch x := c.x.(type) {
	case *syntax.Binary:
		column, value, op := x.X, x.Y, x.Op
		if asColumn(column) == nil {
			column, value, op = value, column, mirrored[op]
		}
		ok = d.bound(table, column, value, op, &b)
	case *syntax.Between:
		ok = !x.Not && d.bound(table, x.X, x.Lo, ">=", &b) && d.bound(table, x.X, x.Hi, "<=", &b)
	default:
		return
	}
	if !ok {
		return
	}
	if st.Span != nil {
		b = exec.Span{From: max(b.From, st.Span.From), To: min(b.To, st.Span.To)}
	}
	st.Span = &b
	st.Notes = append(st.Notes, fmt.Sprintf("%s: by the order of the rows", c.x))
}

// mirrored is an operator with its sides exchanged.
var mirrored = map[string]string{"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// bound takes a comparison of the column of the order with a whole number into b.
func (d *decider) bound(table tables.Ordered, column, value syntax.Expr, op string, b *exec.Span) bool {
	ref := asColumn(column)
	if ref == nil {
		return false
	}
	at, ok := d.s.local(ref)
	if !ok || at.src != d.src || at.col != table.Order() {
		return false
	}
	v, ok := d.constant(column, value)
	if !ok || v.Kind() != values.Integer {
		return false
	}
	n := v.Int64()
	switch op {
	case "=":
		b.From, b.To = max(b.From, n), min(b.To, n)
	case ">":
		if n == math.MaxInt64 {
			return false
		}
		b.From = max(b.From, n+1)
	case ">=":
		b.From = max(b.From, n)
	case "<":
		if n == math.MinInt64 {
			return false
		}
		b.To = min(b.To, n-1)
	case "<=":
		b.To = min(b.To, n)
	default:
		return false
	}
	return true
}
