package functions

import (
	"fmt"
	"strings"

	"github.com/placectl/placectl/query/fault"
	"github.com/placectl/placectl/query/values"
)

var ErrOverflow = fmt.Errorf("%w: integer overflow", fault.ErrQuery)

// AggregateKind describes an aggregate function.
type AggregateKind struct {
	Least, Most int
	Add         func(e *Budget, s *State, v values.Value, args []values.Value, times int64)
	Result      func(e *Budget, s *State) values.Value
	Weighs      bool // a repeated value can be added at once
	KeepsUnit   bool
	Texts       bool // it works with texts
	Nulls       bool // NULLs count
}

// State holds what an aggregate has seen of a group.
type State struct {
	N       int64
	sum     int64
	real    bool // a real was seen, or the sum overflowed an integer
	float   float64
	Size    float64 // sum of the absolute values of all integers
	rest    float64 // rounding error of float (Neumaier's variant of Kahan's sum)
	Best    values.Value
	text    strings.Builder
	names   []string
	started bool
	Json    bool // the values gathered are JSON
	more    *more
}

// Aggregates are the aggregate functions. All but count(*) ignore NULLs.
var Aggregates = map[string]AggregateKind{
	"count": {0, 1, func(_ *Budget, s *State, _ values.Value, _ []values.Value, n int64) { s.N += n },
		func(_ *Budget, s *State) values.Value { return values.Int(s.N) }, true, false, false, false},
	"sum":               {1, 1, addSum, sumResult, true, true, false, false},
	"total":             {1, 1, addSum, totalResult, true, true, false, false},
	"avg":               {1, 1, addSum, averageResult, true, true, false, false},
	"min":               {1, 1, best(-1), BestResult, true, true, false, false},
	"max":               {1, 1, best(1), BestResult, true, true, false, false},
	"group_concat":      {1, 2, concat, concatResult, false, false, true, false},
	"string_agg":        {2, 2, concat, concatResult, false, false, true, false},
	"median":            {1, 1, addQuantile("median", 1), medianResult, true, true, false, false},
	"percentile":        {2, 2, addQuantile("percentile", 100), quantileResult(100, true), true, true, false, false},
	"percentile_cont":   {2, 2, addQuantile("percentile_cont", 1), quantileResult(1, true), true, true, false, false},
	"percentile_disc":   {2, 2, addQuantile("percentile_disc", 1), quantileResult(1, false), true, true, false, false},
	"stddev":            {1, 1, addSpread, spreadResult(1, true), true, false, false, false},
	"stddev_pop":        {1, 1, addSpread, spreadResult(0, true), true, false, false, false},
	"variance":          {1, 1, addSpread, spreadResult(1, false), true, false, false, false},
	"var_pop":           {1, 1, addSpread, spreadResult(0, false), true, false, false, false},
	"json_group_array":  {1, 1, addJSON(false), jsonResult("[", "]"), false, false, false, true},
	"json_group_object": {2, 2, addJSON(true), jsonResult("{", "}"), false, false, false, true},
	"nodelist":          {1, 1, addName, namesResult, false, false, true, false},
}

// best returns a function that keeps the smallest (sign -1) or largest value.
func best(sign int) func(*Budget, *State, values.Value, []values.Value, int64) {
	return func(_ *Budget, s *State, v values.Value, _ []values.Value, _ int64) {
		if s.Best.Kind() == values.Null || values.Compare(v, s.Best)*sign > 0 {
			s.Best = v
		}
	}
}

// BestResult returns the kept value.
func BestResult(_ *Budget, s *State) values.Value { return s.Best }
