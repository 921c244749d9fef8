package query

import (
	"math"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/placectl/placectl/index"
)

// function is a scalar function.
type function struct {
	least, most int // arguments; most < 0 for any number
	run         func(e *env, args []Value) Value
	units       units
	strict      bool // NULL when any argument is
}

// units says what a function does with units.
type units uint8

const (
	anyUnit   units = iota // it takes all, and makes none
	firstUnit              // what it makes is of the unit of its first argument
	oneUnit                // it makes one of its arguments: all are read in the same unit
	noUnit                 // it works with texts
	noMeasure              // it works with numbers that are of nothing
	madeTime               // it makes a time
	dateUnit               // it takes times, and makes texts that name instants
)

// scalars are the functions of one row.
var scalars = map[string]function{
	"abs":          {1, 1, absolute, firstUnit, true},
	"round":        {1, 2, round, firstUnit, true},
	"length":       {1, 1, length, noUnit, true},
	"lower":        {1, 1, func(_ *env, a []Value) Value { return String(lowerASCII(a[0].String())) }, noUnit, true},
	"upper":        {1, 1, func(_ *env, a []Value) Value { return String(upperASCII(a[0].String())) }, noUnit, true},
	"substr":       {2, 3, substr, noUnit, true},
	"substring":    {2, 3, substr, noUnit, true},
	"trim":         {1, 2, trimmer(strings.Trim), noUnit, true},
	"ltrim":        {1, 2, trimmer(strings.TrimLeft), noUnit, true},
	"rtrim":        {1, 2, trimmer(strings.TrimRight), noUnit, true},
	"replace":      {3, 3, replace, noUnit, false},
	"instr":        {2, 2, instr, noUnit, true},
	"coalesce":     {2, -1, coalesce, oneUnit, false},
	"ifnull":       {2, 2, coalesce, oneUnit, false},
	"nullif":       {2, 2, nil, oneUnit, false},
	"min":          {2, -1, nil, oneUnit, true},
	"max":          {2, -1, nil, oneUnit, true},
	"iif":          {2, 3, iif, oneUnit, false},
	"typeof":       {1, 1, typeOf, anyUnit, false},
	"quote":        {1, 1, quote, anyUnit, false},
	"sign":         {1, 1, signOf, anyUnit, true},
	"printf":       {1, -1, printf, anyUnit, false},
	"format":       {1, -1, printf, anyUnit, false},
	"in_nodelist":  {2, 2, inNodelist, noUnit, true},
	"has":          {2, 2, hasWord, noUnit, true},
	"date":         {0, -1, nil, dateUnit, true},
	"time":         {0, -1, nil, dateUnit, true},
	"datetime":     {0, -1, nil, dateUnit, true},
	"unixepoch":    {0, -1, nil, madeTime, true},
	"strftime":     {1, -1, nil, dateUnit, true},
	"floor":        {1, 1, rounder(math.Floor), firstUnit, true},
	"ceil":         {1, 1, rounder(math.Ceil), firstUnit, true},
	"ceiling":      {1, 1, rounder(math.Ceil), firstUnit, true},
	"sqrt":         {1, 1, realFunction(squareRoot), noMeasure, true},
	"mod":          {2, 2, realFunction(modulo), oneUnit, true},
	"pow":          {2, 2, realFunction(power), noMeasure, true},
	"power":        {2, 2, realFunction(power), noMeasure, true},
	"hex":          {1, 1, hexText, noUnit, false},
	"char":         {0, -1, char, noUnit, false},
	"concat":       {1, -1, concatTexts, noUnit, false},
	"concat_ws":    {2, -1, concatWith, noUnit, false},
	"if":           {2, 3, iif, oneUnit, false},
	"greatest":     {1, -1, nil, oneUnit, true},
	"least":        {1, -1, nil, oneUnit, true},
	"now":          {0, 0, nil, madeTime, true},
	"date_trunc":   {2, 3, nil, anyUnit, true},
	"json_object":  {0, -1, nil, anyUnit, false},
	"json_array":   {0, -1, nil, anyUnit, false},
	"json_extract": {2, 2, jsonExtract, noUnit, true},
	"json":         {1, 1, jsonMinified, noUnit, true},
	"json_valid":   {1, 1, jsonValid, noUnit, true},
	"julianday":    {0, -1, nil, dateUnit, true},
}

// FunctionNames lists the functions, for completion.
func FunctionNames() []string {
	var names []string
	for name := range scalars {
		names = append(names, name)
	}
	for name := range aggregates {
		if _, twice := scalars[name]; !twice {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

// call is a function of one row, or an aggregate.
func (s *scope) call(x *Call) code {
	if x.Over != nil {
		return s.windowCall(x)
	}
	if kind, ok := x.aggregate(); ok {
		return s.aggregate(x, kind)
	}
	f, ok := scalars[x.Name]
	if !ok {
		s.c.fail(x, "no function %s%s", x.Name, didYouMean(x.Name, FunctionNames()))
	}
	switch {
	case x.Distinct || x.Star || x.Filter != nil || x.OrderBy != nil:
		s.c.fail(x, "%s is no aggregate: DISTINCT, *, ORDER BY and FILTER are for those", x.Name)
	case len(x.Args) < f.least || f.most >= 0 && len(x.Args) > f.most:
		s.c.fail(x, "%s takes %s, not %d", x.Name, arguments(f.least, f.most), len(x.Args))
	}
	args := s.all(x.Args)
	unit := s.functionUnit(x, f.units, args)
	c := over(args...)
	c.unit = unit
	c.prefix = c.prefix && f.units != noUnit || f.units == firstUnit && args[0].isPrefix()
	run := f.run
	switch by := firstCollation(args); x.Name {
	case "min", "least":
		run = func(_ *env, a []Value) Value { return extreme(a, -1, by) }
	case "max", "greatest":
		run = func(_ *env, a []Value) Value { return extreme(a, 1, by) }
	case "nullif":
		run = func(_ *env, a []Value) Value { return nullif(a, by) }
	case "date_trunc":
		return s.dateTrunc(x, args)
	case "json_object", "json_array":
		if run = jsonCall(args, x.Name == "json_object"); x.Name == "json_object" && len(args)%2 == 1 {
			s.c.fail(x, "json_object takes names and values, one after the other")
		}
	}
	c.json = strings.HasPrefix(x.Name, "json") && x.Name != "json_extract" && x.Name != "json_valid"
	if run == nil {
		at := min(x.time(), len(args))
		seconds := at < len(args) && args[at].unit == Time
		run, c.named = s.dateFunction(x, seconds), seconds && unit == UTC && x.Name != "strftime"
	}
	values := make([]Value, len(args))
	c.eval = func(e *env) Value {
		for i := range args {
			values[i] = args[i].eval(e)
			if f.strict && values[i].kind == Null {
				return Value{}
			}
		}
		return run(e, values)
	}
	return c
}

// functionUnit reads arguments in the units that they have to have, and tells that of
// the result.
func (s *scope) functionUnit(x *Call, u units, args []code) Unit {
	switch u {
	case firstUnit:
		return args[0].unit
	case oneUnit:
		if x.Name == "iif" || x.Name == "if" {
			return s.unify(args[1:], x.Args[1:])
		}
		return s.unify(args, x.Args)
	case noUnit:
		for i := range args {
			s.onlyText(x.Name, args[i], x.Args[i])
		}
	case noMeasure:
		for i := range args {
			if args[i].unit.measured() {
				s.c.fail(x.Args[i], "%s of %s means nothing", x.Name, args[i].unit.shown())
			}
		}
	case dateUnit, madeTime:
		for i := range args {
			if args[i].unit.measured() && (i != x.time() || args[i].unit != Time) {
				s.c.fail(x.Args[i], "%s takes a time there, and %s is %s", x.Name, x.Args[i], args[i].unit.shown())
			}
		}
		switch {
		case u == madeTime:
			return Time
		case x.Name == "date" || x.Name == "datetime" || x.Name == "strftime":
			return UTC
		}
	}
	return NoUnit
}

// time is which argument of a date function is the time.
func (x *Call) time() int {
	if x.Name == "strftime" {
		return 1
	}
	return 0
}

func arguments(least, most int) string {
	words := []string{"no argument", "1 argument", "2 arguments", "3 arguments"}
	switch {
	case most < 0:
		return words[least] + " or more"
	case least == most:
		return words[least]
	}
	return words[least][:1] + " to " + words[most]
}

func absolute(e *env, a []Value) Value {
	v := a[0]
	if v.kind == Integer {
		if n := v.Int64(); n == math.MinInt64 {
			return e.fail(errOverflow)
		} else if n < 0 {
			return Int(-n)
		}
		return v
	}
	return Float(math.Abs(v.asFloat()))
}

// round rounds half away from zero, to so many decimals.
func round(_ *env, a []Value) Value {
	digits := int64(0)
	if len(a) == 2 {
		digits = min(max(a[1].asInt(), 0), 30)
	}
	f := a[0].asFloat()
	switch {
	case f < -4503599627370496 || f > 4503599627370496 || f != f: // it has no fraction
		return Float(f)
	case digits == 0:
		return Float(math.Trunc(f + math.Copysign(0.5, f)))
	}
	v, _ := leadingNumber(formatFixed(f, int(digits)))
	return Float(v.asFloat())
}

func length(_ *env, a []Value) Value {
	text := a[0].String()
	if i := strings.IndexByte(text, 0); i >= 0 {
		text = text[:i]
	}
	return Int(int64(utf8.RuneCountInString(text)))
}

// substr counts characters from 1, or backwards from -1; of a length less than
// nothing it takes those before.
func substr(_ *env, a []Value) Value {
	text := []rune(a[0].String())
	n := int64(len(text))
	from, count := a[1].asInt(), int64(math.MaxInt32)
	if len(a) == 3 {
		count = a[2].asInt()
	}
	from, count = min(max(from, math.MinInt32), math.MaxInt32), min(max(count, math.MinInt32), math.MaxInt32)
	backward := count < 0
	if backward {
		count = -count
	}
	switch {
	case from < 0:
		if from += n; from < 0 {
			count += from
			count = max(count, 0)
			from = 0
		}
	case from > 0:
		from--
	case count > 0:
		count--
	}
	if backward {
		if from -= count; from < 0 {
			count += from
			from = 0
		}
	}
	from = min(from, n)
	return String(string(text[from:min(max(from+count, from), n)]))
}

func trimmer(cut func(s, set string) string) func(*env, []Value) Value {
	return func(_ *env, a []Value) Value {
		set := " "
		if len(a) == 2 {
			set = a[1].String()
		}
		if set == "" {
			return String(a[0].String())
		}
		return String(cut(a[0].String(), set))
	}
}

func replace(e *env, a []Value) Value {
	text, old, new := a[0].String(), a[1].String(), a[2].String()
	switch {
	case a[0].kind == Null || a[1].kind == Null:
		return Value{}
	case old == "": // before looking at what would come instead
		return String(text)
	case a[2].kind == Null:
		return Value{}
	}
	if grown := len(text) + strings.Count(text, old)*(len(new)-len(old)); grown > maxString {
		return e.fail(&LimitError{"bytes in one text", maxString})
	}
	return String(strings.ReplaceAll(text, old, new))
}

func instr(_ *env, a []Value) Value {
	text := a[0].String()
	at := strings.Index(text, a[1].String())
	if at < 0 {
		return Int(0)
	}
	return Int(int64(utf8.RuneCountInString(text[:at])) + 1)
}

func coalesce(_ *env, a []Value) Value {
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

func iif(_ *env, a []Value) Value {
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

func typeOf(_ *env, a []Value) Value {
	return String([...]string{Null: "null", Integer: "integer", Real: "real", Text: "text"}[a[0].kind])
}

func quote(_ *env, a []Value) Value {
	if v := a[0]; v.kind == Real && !math.IsInf(v.Float64(), 0) {
		return String(v.String())
	}
	return String(a[0].Literal())
}

func signOf(_ *env, a []Value) Value {
	v := a[0]
	if v.kind == Text {
		n, whole := leadingNumber(v.str)
		if !whole {
			return Value{}
		}
		v = n
	}
	switch f := v.asFloat(); {
	case f < 0:
		return Int(-1)
	case f > 0:
		return Int(1)
	}
	return Int(0)
}

// inNodelist reports whether a name is in a node list such as n[1-9].
func inNodelist(e *env, a []Value) Value {
	names, err := index.ExpandNodeList(a[1].String())
	if err != nil {
		return e.fail(err)
	}
	want := a[0].String()
	for _, name := range names {
		if name == want {
			return Int(1)
		}
	}
	return Int(0)
}

// hasWord reports whether a list joined by commas has a word.
func hasWord(_ *env, a []Value) Value {
	want := a[1].String()
	for word := range strings.SplitSeq(a[0].String(), ",") {
		if word == want {
			return Int(1)
		}
	}
	return Int(0)
}
