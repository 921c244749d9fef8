package plan

import (
	"slices"
	"strings"

	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/internal/functions"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// call compiles a scalar function or an aggregate.
func (s *scope) call(x *syntax.Call) exec.Code {
	if x.Over != nil {
		return s.windowCall(x)
	}
	if kind, ok := aggregateOf(x); ok {
		return s.aggregate(x, kind)
	}
	f, ok := functions.Scalars[x.Name]
	if !ok && slices.Contains(exec.WindowNames(), x.Name) {
		s.c.fail(x, "%s is a window function: write %[1]s(...) OVER (ORDER BY ...)", x.Name)
	}
	if !ok && (x.Name == "generate_series" || slices.Contains(s.c.catalog.Names(), x.Name+"(")) {
		s.c.fail(x, "%s makes a table: write FROM %[1]s(...)", x.Name)
	}
	if !ok {
		s.c.gone(x, x.Name)
		s.c.fail(x, "no function %s%s", x.Name, didYouMean(x.Name, functions.Names()))
	}
	switch {
	case x.Distinct || x.Star || x.Filter != nil || x.OrderBy != nil:
		s.c.fail(x, "%s is no aggregate: DISTINCT, *, ORDER BY and FILTER are for those", x.Name)
	case len(x.Args) < f.Least || f.Most >= 0 && len(x.Args) > f.Most:
		s.c.fail(x, "%s takes %s, not %d", x.Name, arguments(f.Least, f.Most), len(x.Args))
	}
	args := s.all(x.Args)
	unit := s.functionUnit(x, f.Units, args)
	c := exec.Over(args...)
	c.Unit = unit
	c.Prefix = c.Prefix && f.Units != functions.NoUnit || f.Units == functions.FirstUnit && args[0].IsPrefix()
	run := f.Run
	switch x.Name {
	case "date_trunc":
		return s.dateTrunc(x, args)
	case "json":
		if u := args[0].Unit; u == tables.Nodes || u == tables.List {
			run, f.Strict = functions.JSONList(u == tables.Nodes), false
		}
	case "json_object", "json_array":
		if run = functions.JSONCall(areJSON(args), x.Name == "json_object"); x.Name == "json_object" &&
			len(args)%2 == 1 {
			s.c.fail(x, "json_object takes names and values, one after the other")
		}
	}
	c.JSON = strings.HasPrefix(x.Name, "json") && x.Name != "json_valid"
	if run == nil {
		at := min(timeArgument(x), len(args))
		seconds := at < len(args) && args[at].Unit == tables.Time
		run, c.Named = s.dateFunction(x, seconds), seconds && unit == tables.UTC && x.Name != "strftime"
	}
	given, failed := make([]values.Value, len(args)), s.c.failed(x)
	c.Eval = func(e *exec.Env) values.Value {
		for i := range args {
			given[i] = args[i].Eval(e)
			if f.Strict && given[i].Kind() == values.Null {
				return values.Value{}
			}
		}
		v := run(&e.Budget, given)
		if e.Err != nil {
			e.Err = failed(e.Err)
		}
		return v
	}
	return c
}

// functionUnit reads arguments in the required units, and returns the unit of the result.
func (s *scope) functionUnit(x *syntax.Call, u functions.UnitRule, args []exec.Code) tables.Unit {
	switch u {
	case functions.FirstUnit:
		return args[0].Unit
	case functions.OneUnit:
		if x.Name == "iif" || x.Name == "if" {
			return s.unify(args[1:], x.Args[1:])
		}
		return s.unify(args, x.Args)
	case functions.NoUnit:
		for i := range args {
			s.onlyText(x.Name, args[i], x.Args[i])
		}
	case functions.NoMeasure:
		for i := range args {
			if args[i].Unit.Measured() {
				s.c.fail(x.Args[i], "%s of %s means nothing", x.Name, args[i].Unit.Shown())
			}
		}
	case functions.DateUnit, functions.MadeTime, functions.MadeSeconds:
		for i := range args {
			if args[i].Unit.Measured() && (i != timeArgument(x) || args[i].Unit != tables.Time) {
				s.c.fail(x.Args[i], "%s takes a time there, and %s is %s", x.Name, x.Args[i], args[i].Unit.Shown())
			}
		}
		switch {
		case u == functions.MadeTime:
			return tables.Time
		case x.Name == "date" || x.Name == "datetime" || x.Name == "strftime":
			return tables.UTC
		}
	}
	return tables.NoUnit
}

// timeArgument returns the place of the time among a date function's arguments.
func timeArgument(x *syntax.Call) int {
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

// areJSON says which arguments are JSON.
func areJSON(args []exec.Code) []bool {
	out := make([]bool, len(args))
	for i := range args {
		out[i] = args[i].JSON
	}
	return out
}
