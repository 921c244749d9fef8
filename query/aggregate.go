package query

import (
	"errors"
	"math"
	"strings"

	"github.com/placectl/placectl/index"
)

var errOverflow = errors.New("integer overflow")

// aggregateKind makes an aggregate.
type aggregateKind struct {
	least, most int
	add         func(e *env, s *state, v Value, args []Value, times int64)
	result      func(e *env, s *state) Value
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
	seen    map[Value]struct{}
	started bool
	json    bool // what is gathered is JSON itself
	more    *more
}

// aggregates are the functions of many rows. NULLs do not count, but for count(*).
var aggregates = map[string]aggregateKind{
	"count":             {0, 1, func(_ *env, s *state, _ Value, _ []Value, n int64) { s.n += n }, func(_ *env, s *state) Value { return Int(s.n) }, true, false, false, false},
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

// aggregate is one call of one in a SELECT.
type aggregate struct {
	aggregateKind
	args     []code
	filter   func(*env) truth
	star     bool
	distinct bool
	made     int // where its result goes
	name     string
	order    []orderKey // in which it takes its rows, nil for as they come
	best     bool       // it is the smallest or largest
	by       Collation  // by which it compares
	bare     bool       // it is a column beside aggregates
}

// aggregate is the aggregate that a call is one of: min and max of several values are
// functions of one row.
func (x *Call) aggregate() (aggregateKind, bool) {
	kind, ok := aggregates[x.Name]
	if ok && (x.Name == "min" || x.Name == "max") && len(x.Args) != 1 && !x.Star && !x.Distinct && len(x.Args) > 0 {
		return kind, false
	}
	return kind, ok
}

// aggregate compiles a call, or finds the same one made before.
func (s *scope) aggregate(x *Call, kind aggregateKind) code {
	g := s.group
	switch {
	case g == nil || s.noAggs != "":
		s.c.fail(x, "%s is an aggregate: %s", x.Name, s.noAggs)
	case x.Star && x.Name != "count":
		s.c.fail(x, "%s(*) means nothing; only count(*) does", x.Name)
	case !x.Star && (len(x.Args) < max(kind.least, 1) && x.Name != "count" || len(x.Args) > kind.most):
		s.c.fail(x, "%s takes %s, not %d", x.Name, arguments(kind.least, kind.most), len(x.Args))
	case x.Distinct && len(x.Args) != 1:
		s.c.fail(x, "DISTINCT takes one argument")
	}
	canon := s.canon(x)
	if a := g.byCanon[canon]; a != nil {
		return g.result(a)
	}
	a := &aggregate{aggregateKind: kind, star: x.Star || len(x.Args) == 0, distinct: x.Distinct, made: s.c.nmade, name: x.String(), best: x.Name == "min" || x.Name == "max"}
	s.c.nmade++
	windows := s.windows
	s.group, s.noAggs, s.windows = nil, "one cannot be inside another", nil
	a.args = s.all(x.Args)
	if x.Filter != nil {
		f := s.compile(x.Filter)
		a.filter = f.condition()
	}
	for i := range x.OrderBy {
		a.order = append(a.order, s.plainOrder(&x.OrderBy[i]))
	}
	s.group, s.noAggs, s.windows = g, "", windows
	a.by = firstCollation(a.args)
	if a.best {
		a.add = best(map[string]int{"min": -1, "max": 1}[x.Name], a.by)
	}
	s.aggregateUnits(x, a)
	s.ownAggregate(x, a)
	g.byCanon[canon] = a
	g.aggs = append(g.aggs, a)
	return g.result(a)
}

// aggregateUnits refuses what has no meaning.
func (s *scope) aggregateUnits(x *Call, a *aggregate) {
	for i := range a.args {
		if a.texts {
			s.onlyText(x.Name, a.args[i], x.Args[i])
		}
	}
	if strings.HasPrefix(x.Name, "std") || strings.HasPrefix(x.Name, "var") {
		if u := a.args[0].unit; u.measured() && strings.HasPrefix(x.Name, "var") {
			s.c.fail(x, "the variance of %s is of its square; stddev is of the same", u.shown())
		}
	}
	if (x.Name == "sum" || x.Name == "total") && len(a.args) == 1 && a.args[0].unit == Time {
		s.c.fail(x, "the %s of times means nothing; avg, min and max do, and sums of their differences", x.Name)
	}
}

// ownAggregate refuses one whose arguments are all of queries around: it would be
// theirs.
func (s *scope) ownAggregate(x *Call, a *aggregate) {
	var uses, mine slots
	for i := range a.args {
		uses |= a.args[i].uses
	}
	for _, src := range s.sources {
		mine |= 1 << src.slot
	}
	if uses != 0 && uses&mine == 0 {
		s.c.fail(x, "%s is about the query around this one: say it there", x.Name)
	}
}

// result reads an aggregate's result.
func (g *grouping) result(a *aggregate) code {
	at := a.made
	c := code{eval: func(e *env) Value { return e.made[at] }, uses: g.slots}
	if a.keepsUnit && len(a.args) > 0 {
		c.unit, c.prefix = a.args[0].unit, a.args[0].prefix
		if a.best || a.bare {
			c.refuse = a.args[0].refuse
		}
	}
	if strings.HasPrefix(a.name, "stddev") {
		if c.unit = a.args[0].unit; c.unit == Time {
			c.unit = Duration
		}
	}
	if a.bare {
		c.affinity = a.args[0].affinity
	}
	c.json = !a.bare && strings.HasPrefix(a.name, "json_") || strings.HasPrefix(a.name, "quantiles")
	if a.name != "" && strings.HasPrefix(a.name, "nodelist") {
		c.unit = Nodes
	}
	return c
}

// update adds the row at hand, so many times over.
func (a *aggregate) update(e *env, s *state, scratch []Value, times int64) error {
	if a.filter != nil && a.filter(e) != yes {
		return e.err
	}
	if a.star {
		s.n += times
		return nil
	}
	v := a.args[0].eval(e)
	if v.kind == Null && !a.nulls {
		return e.err
	}
	for i := 1; i < len(a.args); i++ {
		scratch[i] = a.args[i].eval(e)
	}
	if a.distinct {
		key := normal(a.by.fold(v))
		if _, twice := s.seen[key]; twice {
			return e.err
		}
		if s.seen == nil {
			s.seen = make(map[Value]struct{})
		}
		s.seen[key] = struct{}{}
		if scratch[0], times = v, 1; e.hold(scratch[:1]) != nil {
			return e.err
		}
	}
	if a.order != nil {
		return a.keep(e, s, v, scratch)
	}
	a.take(e, s, v, scratch[:len(a.args)], times)
	return e.err
}

// take adds a value.
func (a *aggregate) take(e *env, s *state, v Value, args []Value, times int64) {
	s.json = len(a.args) > 0 && a.args[len(a.args)-1].json
	a.add(e, s, v, args, times)
}

// keep remembers a row of an aggregate that has an order.
func (a *aggregate) keep(e *env, s *state, v Value, args []Value) error {
	m := s.remember()
	if m.sorter == nil {
		m.sorter = newSorter(a.order, -1)
	}
	row := make([]Value, len(a.args), len(a.args)+len(a.order))
	copy(row, args[:len(a.args)])
	row[0] = v
	keys := make([]Value, len(a.order))
	for i := range a.order {
		keys[i] = a.order[i].code.eval(e)
	}
	if err := e.hold(append(row, keys...)); err != nil {
		return err
	}
	m.sorter.add(keys, row)
	return e.err
}

// resultOf is the result of what was added, in its order.
func (a *aggregate) resultOf(e *env, s *state) Value {
	if a.order != nil && s.more != nil && s.more.sorter != nil {
		in := s.more.sorter
		in.finish()
		s = &state{}
		for i := range in.rows {
			a.take(e, s, in.rows[i].row[0], in.rows[i].row, 1)
		}
	}
	return a.aggregateKind.result(e, s)
}

func addSum(_ *env, s *state, v Value, _ []Value, times int64) {
	s.n += times
	if v.kind == Text {
		n, whole := leadingNumber(v.str)
		if v = n; !whole {
			v = Float(n.asFloat())
		}
	}
	if v.kind == Integer && !s.real {
		part, ok := v.Int64(), true
		s.size += math.Abs(float64(part)) * float64(times)
		if times != 1 {
			part, ok = product(part, times)
		}
		if sum := s.sum + part; ok && (s.sum^sum)&(part^sum) >= 0 {
			s.sum = sum
			return
		}
	}
	if !s.real {
		s.real = true
		s.addInt(s.sum)
	}
	for range times {
		if v.kind == Integer {
			s.addInt(v.Int64())
		} else {
			s.addFloat(v.Float64())
			s.best = Int(1) // a real was seen
		}
	}
}

// addInt adds an integer in two parts that are exact as floats.
func (s *state) addInt(n int64) {
	if n <= -4503599627370496 || n >= 4503599627370496 {
		low := n % 16384
		s.addFloat(float64(n - low))
		s.addFloat(float64(low))
		return
	}
	s.addFloat(float64(n))
}

func (s *state) addFloat(f float64) {
	sum := s.float + f
	if math.Abs(s.float) > math.Abs(f) {
		s.rest += s.float - sum + f
	} else {
		s.rest += f - sum + s.float
	}
	s.float = sum
}

func (s *state) asFloat() float64 {
	if !s.real {
		return float64(s.sum)
	}
	if math.IsInf(s.rest, 0) || s.rest != s.rest {
		return s.float
	}
	return s.float + s.rest
}

func sumResult(e *env, s *state) Value {
	switch {
	case s.n == 0:
		return Value{}
	case s.real && s.best.kind == Null:
		return e.fail(errOverflow)
	case s.real:
		return Float(s.asFloat())
	}
	return Int(s.sum)
}

func totalResult(_ *env, s *state) Value { return Float(s.asFloat()) }

func averageResult(_ *env, s *state) Value {
	if s.n == 0 {
		return Value{}
	}
	return Float(s.asFloat() / float64(s.n))
}

func best(sign int, by Collation) func(*env, *state, Value, []Value, int64) {
	return func(_ *env, s *state, v Value, _ []Value, _ int64) {
		if s.best.kind == Null || compareValues(v, s.best, by)*sign > 0 {
			s.best = v
		}
	}
}

func bestResult(_ *env, s *state) Value { return s.best }

func concat(e *env, s *state, v Value, args []Value, _ int64) {
	if s.started {
		separator := ","
		if len(args) == 2 {
			separator = args[1].String()
		}
		s.text.WriteString(separator)
	}
	s.started = true
	s.text.WriteString(v.String())
	if s.text.Len() > maxString {
		e.fail(&LimitError{"bytes in one text", maxString})
	}
}

func concatResult(_ *env, s *state) Value {
	if !s.started {
		return Value{}
	}
	return String(s.text.String())
}

func addName(e *env, s *state, v Value, _ []Value, _ int64) {
	s.names = append(s.names, v.String())
	s.n += int64(len(v.str)) + 16
	if s.n > e.limits.Bytes {
		e.fail(&LimitError{"bytes held or answered", e.limits.Bytes})
	}
}

// namesResult folds names into node[1-9].
func namesResult(_ *env, s *state) Value {
	if len(s.names) == 0 {
		return Value{}
	}
	return String(index.FoldNodeList(s.names))
}
