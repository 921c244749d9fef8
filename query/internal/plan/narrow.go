package plan

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// narrow lets the step begin later, or end earlier, if a condition is on the column by which its table
// is sorted. It records bounds of columns by which the table has a further order. The condition is still
// checked.
func (st *step) narrow(s *scope, c *condition) {
	ordered, _ := st.src.Table.(tables.Ordered)
	_, ranged := st.src.Table.(tables.Ranged)
	if ordered == nil && !ranged || c.code.Sub || s.c.opt.NoIndex {
		return
	}
	d := &decider{s: s, src: st.src}
	b := exec.Span{From: math.MinInt64, To: math.MaxInt64}
	var of int
	var ok bool
	switch x := c.x.(type) {
	case *syntax.Binary:
		column, value, op := x.X, x.Y, x.Op
		if asColumn(column) == nil {
			column, value, op = value, column, mirrored[op]
		}
		of, ok = d.bound(column, value, op, &b)
	case *syntax.Between:
		if of, ok = d.bound(x.X, x.Lo, ">=", &b); x.Not || !ok {
			return
		}
		_, ok = d.bound(x.X, x.Hi, "<=", &b)
	}
	switch {
	case !ok:
	case ordered != nil && of == ordered.Order():
		st.Span = st.Span.And(b)
		st.Notes = append(st.Notes, fmt.Sprintf("%s: by the order of the rows", c.x))
	case ranged:
		if st.bounds == nil {
			st.bounds = make(map[int]*bounds)
		}
		if st.bounds[of] == nil {
			st.bounds[of] = new(bounds)
		}
		at := st.bounds[of]
		at.span, at.words = at.span.And(b), append(at.words, c.x.String())
	}
}

// bounds are the bounds that conditions set for a column.
type bounds struct {
	span  *exec.Span
	words []string
}

// between leaves only the rows within the bounds of columns, if the table knows them.
func (st *step) between() {
	table, ok := st.src.Table.(tables.Ranged)
	if !ok || st.Method != exec.ScanJoin {
		return
	}
	for _, column := range slices.Sorted(maps.Keys(st.bounds)) {
		b := st.bounds[column]
		where, ok := table.Between(column, b.span.From, b.span.To)
		note := strings.Join(b.words, " AND ") + ": "
		switch {
		case !ok:
			continue
		case where.Rows == nil:
			st.Span = st.Span.And(exec.Span{From: where.From, To: where.To})
			note += "by the order of the rows"
		default:
			note += "at most " + exec.RowsText(where.Rows.GetCardinality())
			if st.Rows != nil {
				where.Rows = roaring.And(st.Rows, where.Rows)
			}
			st.Rows = where.Rows
		}
		st.Notes = append(st.Notes, note)
	}
	if st.Rows != nil && st.Span != nil { // the numbers of rows are in that order
		st.Rows = roaring.And(st.Rows, numbered(st.Span.From, st.Span.To))
	}
}

// numbered returns the set of rows numbered from..to.
func numbered(from, to int64) *roaring.Bitmap {
	out := roaring.New()
	out.AddRange(uint64(max(from, 0)), uint64(max(min(to, math.MaxUint32), -1)+1))
	return out
}

// mirrored is an operator after its sides are swapped.
var mirrored = map[string]string{"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// bound adds the comparison of a column with a whole number to b.
func (d *decider) bound(column, value syntax.Expr, op string, b *exec.Span) (of int, ok bool) {
	ref := asColumn(column)
	if ref == nil {
		return 0, false
	}
	at, ok := d.s.local(ref)
	if !ok || at.src != d.src {
		return 0, false
	}
	v, ok := d.constant(column, value)
	if !ok || v.Kind() != values.Integer {
		return 0, false
	}
	n := v.Int64()
	switch op {
	case "=":
		b.From, b.To = max(b.From, n), min(b.To, n)
	case ">":
		if n == math.MaxInt64 {
			return 0, false
		}
		b.From = max(b.From, n+1)
	case ">=":
		b.From = max(b.From, n)
	case "<":
		if n == math.MinInt64 {
			return 0, false
		}
		b.To = min(b.To, n-1)
	case "<=":
		b.To = min(b.To, n)
	default:
		return 0, false
	}
	return at.col, true
}
