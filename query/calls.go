package query

import (
	"strings"
)

// call is a function of one row, or an aggregate.
func (s *scope) call(x *Call) code {
	if x.Over != nil {
		return s.windowCall(x)
	}
	if kind, ok := aggregateOf(x); ok {
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
		run = func(_ *budget, a []Value) Value { return extreme(a, -1, by) }
	case "max", "greatest":
		run = func(_ *budget, a []Value) Value { return extreme(a, 1, by) }
	case "nullif":
		run = func(_ *budget, a []Value) Value { return nullif(a, by) }
	case "date_trunc":
		return s.dateTrunc(x, args)
	case "json_object", "json_array":
		if run = jsonCall(areJSON(args), x.Name == "json_object"); x.Name == "json_object" && len(args)%2 == 1 {
			s.c.fail(x, "json_object takes names and values, one after the other")
		}
	}
	c.json = strings.HasPrefix(x.Name, "json") && x.Name != "json_extract" && x.Name != "json_valid"
	if run == nil {
		at := min(timeArgument(x), len(args))
		seconds := at < len(args) && args[at].unit == Time
		run, c.named = s.dateFunction(x, seconds), seconds && unit == UTC && x.Name != "strftime"
	}
	given := make([]Value, len(args))
	c.eval = func(e *env) Value {
		for i := range args {
			given[i] = args[i].eval(e)
			if f.strict && given[i].kind == Null {
				return Value{}
			}
		}
		return run(&e.budget, given)
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
			if args[i].unit.measured() && (i != timeArgument(x) || args[i].unit != Time) {
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

// timeArgument is which argument of a date function is the time.
func timeArgument(x *Call) int {
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

// areJSON tells of each argument whether it is JSON itself.
func areJSON(args []code) []bool {
	out := make([]bool, len(args))
	for i := range args {
		out[i] = args[i].json
	}
	return out
}
