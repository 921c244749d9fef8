package query

import (
	"errors"
	"strings"
)

var errOverflow = errors.New("integer overflow")

// aggregateKind makes an aggregate.
type aggregateKind struct {
	least, most int
	add         func(e *budget, s *state, v Value, args []Value, times int64)
	result      func(e *budget, s *state) Value
	weighs      bool // one value many times over can be added at once
	keepsUnit   bool
	texts       bool // it works with texts
	nulls       bool // NULLs count
}

// state is what an aggregate has seen of a group.
type state struct {
	n       int64
	sum     int64
	real    bool // a real was seen, or the sum grew too large for an integer
	float   float64
	size    float64 // of all integers added, without their signs
	rest    float64 // what rounding lost of float (Neumaier's variant of Kahan's sum)
	best    Value
	text    strings.Builder
	names   []string
	started bool
	json    bool // what is gathered is JSON itself
	more    *more
}

// aggregates are the functions of many rows. NULLs do not count, but for count(*).
var aggregates = map[string]aggregateKind{
	"count":             {0, 1, func(_ *budget, s *state, _ Value, _ []Value, n int64) { s.n += n }, func(_ *budget, s *state) Value { return Int(s.n) }, true, false, false, false},
	"sum":               {1, 1, addSum, sumResult, true, true, false, false},
	"total":             {1, 1, addSum, totalResult, true, true, false, false},
	"avg":               {1, 1, addSum, averageResult, true, true, false, false},
	"min":               {1, 1, best(-1, ByBytes), bestResult, true, true, false, false},
	"max":               {1, 1, best(1, ByBytes), bestResult, true, true, false, false},
	"group_concat":      {1, 2, concat, concatResult, false, false, true, false},
	"string_agg":        {2, 2, concat, concatResult, false, false, true, false},
	"median":            {1, 1, addQuantile("median", 1), medianResult, true, true, false, false},
	"percentile":        {2, 2, addQuantile("percentile", 100), quantileResult(100, true), true, true, false, false},
	"percentile_cont":   {2, 2, addQuantile("percentile_cont", 1), quantileResult(1, true), true, true, false, false},
	"percentile_disc":   {2, 2, addQuantile("percentile_disc", 1), quantileResult(1, false), true, true, false, false},
	"quantile":          {2, 2, addQuantile("quantile", 1), quantileResult(1, true), true, true, false, false},
	"quantiles":         {2, 20, addQuantiles, quantilesResult, true, false, false, false},
	"stddev":            {1, 1, addSpread, spreadResult(1, true), true, false, false, false},
	"stddev_samp":       {1, 1, addSpread, spreadResult(1, true), true, false, false, false},
	"stddev_pop":        {1, 1, addSpread, spreadResult(0, true), true, false, false, false},
	"variance":          {1, 1, addSpread, spreadResult(1, false), true, false, false, false},
	"var_samp":          {1, 1, addSpread, spreadResult(1, false), true, false, false, false},
	"var_pop":           {1, 1, addSpread, spreadResult(0, false), true, false, false, false},
	"json_group_array":  {1, 1, addJSON(false), jsonResult("[", "]"), false, false, false, true},
	"json_group_object": {2, 2, addJSON(true), jsonResult("{", "}"), false, false, false, true},
	"nodelist":          {1, 1, addName, namesResult, false, false, true, false},
}

func best(sign int, by Collation) func(*budget, *state, Value, []Value, int64) {
	return func(_ *budget, s *state, v Value, _ []Value, _ int64) {
		if s.best.kind == Null || compareValues(v, s.best, by)*sign > 0 {
			s.best = v
		}
	}
}

func bestResult(_ *budget, s *state) Value { return s.best }
