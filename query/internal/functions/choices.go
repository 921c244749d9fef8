package functions

import (
	"math"

	"github.com/placectl/placectl/query/values"
)

func coalesce(_ *Budget, a []values.Value) values.Value {
	for _, v := range a {
		if v.Kind() != values.Null {
			return v
		}
	}
	return values.Value{}
}

// nullif returns the first value, or NULL if it equals the second.
func nullif(_ *Budget, a []values.Value) values.Value {
	if a[0].Kind() != values.Null && a[1].Kind() != values.Null && values.Compare(a[0], a[1]) == 0 {
		return values.Value{}
	}
	return a[0]
}

func iif(_ *Budget, a []values.Value) values.Value {
	if a[0].Truth() == values.Yes {
		return a[1]
	}
	if len(a) == 2 {
		return values.Value{}
	}
	return a[2]
}

// extreme returns the smallest (sign -1) or largest value: of equal ones the last smallest, or the first largest.
func extreme(sign int) func(*Budget, []values.Value) values.Value {
	return func(_ *Budget, a []values.Value) values.Value {
		best := a[0]
		for _, v := range a[1:] {
			if c := values.Compare(v, best) * sign; c > 0 || c == 0 && sign < 0 {
				best = v
			}
		}
		return best
	}
}

func typeOf(_ *Budget, a []values.Value) values.Value {
	return values.String([...]string{values.Null: "null", values.Integer: "integer", values.Real: "real",
		values.Text: "text"}[a[0].Kind()])
}

func quote(_ *Budget, a []values.Value) values.Value {
	if v := a[0]; v.Kind() == values.Real && !math.IsInf(v.Float64(), 0) {
		return values.String(v.String())
	}
	return values.String(a[0].Literal())
}
