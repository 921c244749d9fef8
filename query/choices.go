package query

import (
	"math"
)

func coalesce(_ *budget, a []Value) Value {
	for _, v := range a {
		if v.kind != Null {
			return v
		}
	}
	return Value{}
}

func nullif(a []Value, by Collation) Value {
	if a[0].kind != Null && a[1].kind != Null && compareValues(a[0], a[1], by) == 0 {
		return Value{}
	}
	return a[0]
}

func iif(_ *budget, a []Value) Value {
	if a[0].truth() == yes {
		return a[1]
	}
	if len(a) == 2 {
		return Value{}
	}
	return a[2]
}

// extreme is the smallest or largest of values: of equal ones the last smallest, and
// the first largest.
func extreme(a []Value, sign int, by Collation) Value {
	best := a[0]
	for _, v := range a[1:] {
		if c := compareValues(v, best, by) * sign; c > 0 || c == 0 && sign < 0 {
			best = v
		}
	}
	return best
}

func typeOf(_ *budget, a []Value) Value {
	return String([...]string{Null: "null", Integer: "integer", Real: "real", Text: "text"}[a[0].kind])
}

func quote(_ *budget, a []Value) Value {
	if v := a[0]; v.kind == Real && !math.IsInf(v.Float64(), 0) {
		return String(v.String())
	}
	return String(a[0].Literal())
}
