package plan

import (
	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/values"
)

// windowing is the window functions of a SELECT.
type windowing struct {
	*exec.Windows
	s       *scope
	named   map[string]*syntax.Window
	byCanon map[string]*exec.WindowCall
	bySpec  map[string]*exec.WindowSpec
}

// openWindows allows window functions in the scope, if there are any.
func (s *scope) openWindows(p *exec.Plan, x *syntax.Select, list []syntax.ResultColumn) {
	found := false
	for i := range list {
		found = found || s.windowed(list[i].X)
	}
	for i := range x.OrderBy {
		found = found || s.windowed(x.OrderBy[i].X)
	}
	w := &windowing{Windows: &exec.Windows{}, s: s, named: map[string]*syntax.Window{},
		byCanon: map[string]*exec.WindowCall{}, bySpec: map[string]*exec.WindowSpec{}}
	for i := range x.Windows {
		name := values.Lower(x.Windows[i].Name)
		if w.named[name] != nil {
			s.c.fail(&x.Windows[i], "there are two windows called %s", x.Windows[i].Name)
		}
		w.named[name] = &x.Windows[i]
	}
	if found {
		s.windows, p.Windows = w, w.Windows
	}
}

// windowed reports whether an expression contains a window function.
func (s *scope) windowed(x syntax.Expr) bool {
	if call, ok := x.(*syntax.Call); ok && call.Over != nil {
		return true
	}
	if ref, ok := x.(*syntax.ColumnRef); ok {
		if alias := s.aliasOf(ref); alias != nil && alias != x && !s.using[alias] {
			s.using[alias] = true
			defer delete(s.using, alias)
			return s.windowed(alias)
		}
	}
	for _, child := range syntax.Children(x) {
		if s.windowed(child) {
			return true
		}
	}
	return false
}

// windowCall compiles a window function.
func (s *scope) windowCall(x *syntax.Call) exec.Code {
	w := s.windows
	if w == nil {
		s.c.fail(x, "%s OVER: window functions may stand in result columns and in ORDER BY", x.Name)
	}
	kind, isWindow := exec.WindowKinds[x.Name]
	agg, isAggregate := aggregateOf(x)
	least, most := kind.Least, kind.Most
	if !isWindow {
		least, most = max(agg.Least, 1), agg.Most
		if x.Name == "count" {
			least = 0
		}
	}
	switch {
	case !isWindow && !isAggregate:
		s.c.gone(x, x.Name)
		s.c.fail(x, "%s is neither a window function nor an aggregate%s", x.Name,
			didYouMean(x.Name, exec.WindowNames()))
	case x.Distinct:
		s.c.fail(x, "DISTINCT is not supported for window functions")
	case x.OrderBy != nil:
		s.c.fail(x, "the order of a window function stands behind OVER")
	case x.Star && x.Name != "count", !x.Star && (len(x.Args) < least || len(x.Args) > most):
		s.c.fail(x, "%s takes %s, not %d", x.Name, arguments(least, most), len(x.Args))
	case x.Filter != nil && isWindow:
		s.c.fail(x, "FILTER is for aggregates, and %s is none", x.Name)
	}
	canon := s.canon(x)
	call := w.byCanon[canon]
	if call == nil {
		call = &exec.WindowCall{Name: x.Name, Kind: kind, Made: s.c.nmade, Filter: -1, Words: x.String(),
			Failed: s.c.failed(x)}
		s.c.nmade++
		s.windows = nil
		var args []exec.Code
		if !x.Star {
			args = s.all(x.Args)
		}
		if isWindow && len(args) == 3 { // the default value
			two := []exec.Code{args[0], args[2]}
			s.unify(two, []syntax.Expr{x.Args[0], x.Args[2]})
			args[0], args[2] = two[0], two[1]
		}
		for _, a := range args {
			call.Args = append(call.Args, w.input(a))
		}
		if x.Filter != nil {
			f := s.compile(x.Filter)
			test := f.Condition()
			call.Filter = w.input(exec.Code{Eval: func(e *exec.Env) values.Value {
				return values.Bool(test(e) == values.Yes)
			}})
		}
		call.Spec = w.spec(s.wholeWindow(w, x.Over, 0))
		if isAggregate && !isWindow {
			call.Agg = &exec.Aggregate{AggregateKind: agg, Args: args, Star: x.Star || len(args) == 0, Name: x.String(),
				Best: x.Name == "min" || x.Name == "max"}
			s.aggregateUnits(x, call.Agg)
		}
		s.windows = w
		w.byCanon[canon] = call
		w.Calls = append(w.Calls, call)
	}
	return w.result(s, call)
}

// result reads a function's result.
func (w *windowing) result(s *scope, call *exec.WindowCall) exec.Code {
	at := call.Made
	c := exec.Code{Eval: func(e *exec.Env) values.Value { return e.Made[at] }}
	for _, src := range s.sources {
		c.Uses |= 1 << src.Slot
	}
	switch {
	case call.Agg != nil:
		g := grouping{}
		from := g.result(call.Agg)
		c.Unit, c.Refuse, c.JSON = from.Unit, from.Refuse, from.JSON
	case call.Kind.OfValue:
		in := w.Inputs[call.Args[0]]
		c.Unit, c.Refuse = in.Unit, in.Refuse
	}
	return c
}

// input returns the number of an expression that is computed for each row.
func (w *windowing) input(c exec.Code) int {
	w.Inputs = append(w.Inputs, c)
	return len(w.Inputs) - 1
}
