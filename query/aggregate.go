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
}

// aggregates are the functions of many rows. NULLs do not count, but for count(*).
var aggregates = map[string]aggregateKind{
	"count":        {0, 1, func(_ *env, s *state, _ Value, _ []Value, n int64) { s.n += n }, func(_ *env, s *state) Value { return Int(s.n) }, true, false, false},
	"sum":          {1, 1, addSum, sumResult, true, true, false},
	"total":        {1, 1, addSum, totalResult, true, true, false},
	"avg":          {1, 1, addSum, averageResult, true, true, false},
	"min":          {1, 1, best(-1), bestResult, true, true, false},
	"max":          {1, 1, best(1), bestResult, true, true, false},
	"group_concat": {1, 2, concat, concatResult, false, false, true},
	"string_agg":   {2, 2, concat, concatResult, false, false, true},
	"nodelist":     {1, 1, addName, namesResult, false, false, true},
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
	a := &aggregate{aggregateKind: kind, star: x.Star || len(x.Args) == 0, distinct: x.Distinct, made: s.c.nmade, name: x.String()}
	s.c.nmade++
	s.group, s.noAggs = nil, "one cannot be inside another"
	a.args = s.plains(x.Args)
	if x.Filter != nil {
		f := s.plain(x.Filter)
		a.filter = f.condition()
	}
	s.group, s.noAggs = g, ""
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
		if a.best() {
			c.refuse = a.args[0].refuse
		}
	}
	if a.name != "" && strings.HasPrefix(a.name, "nodelist") {
		c.unit = Nodes
	}
	return c
}

func (a *aggregate) best() bool {
	return strings.HasPrefix(a.name, "min") || strings.HasPrefix(a.name, "max")
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
	if v.kind != Null && len(a.args) > 1 {
		scratch[1] = a.args[1].eval(e)
	}
	if v.kind == Null {
		return e.err
	}
	if a.distinct {
		key := normal(v)
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
	a.add(e, s, v, scratch[:len(a.args)], times)
	return e.err
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

func best(sign int) func(*env, *state, Value, []Value, int64) {
	return func(_ *env, s *state, v Value, _ []Value, _ int64) {
		if s.best.kind == Null || compareValues(v, s.best, ByBytes)*sign > 0 {
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
