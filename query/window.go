package query

// windowing is the window functions of a SELECT.
type windowing struct {
	*runWindows
	s       *scope
	named   map[string]*Window
	byCanon map[string]*windowCall
	bySpec  map[string]*windowSpec
}

// openWindows opens the scope for window functions, if any stand where they may.
func (s *scope) openWindows(p *selectPlan, x *Select, list []ResultColumn) {
	found := false
	for i := range list {
		found = found || s.windowed(list[i].X)
	}
	for i := range x.OrderBy {
		found = found || s.windowed(x.OrderBy[i].X)
	}
	w := &windowing{runWindows: &runWindows{}, s: s, named: map[string]*Window{}, byCanon: map[string]*windowCall{}, bySpec: map[string]*windowSpec{}}
	for i := range x.Windows {
		name := lowerASCII(x.Windows[i].Name)
		if w.named[name] != nil {
			s.c.fail(&x.Windows[i], "there are two windows called %s", x.Windows[i].Name)
		}
		w.named[name] = &x.Windows[i]
	}
	if found {
		s.windows, p.windows = w, w.runWindows
	}
}

// windowed reports whether a window function is in an expression.
func (s *scope) windowed(x Expr) bool {
	if call, ok := x.(*Call); ok && call.Over != nil {
		return true
	}
	if ref, ok := x.(*ColumnRef); ok {
		if alias := s.aliasOf(ref); alias != nil && alias != x && !s.using[alias] {
			s.using[alias] = true
			defer delete(s.using, alias)
			return s.windowed(alias)
		}
	}
	for _, child := range children(x) {
		if s.windowed(child) {
			return true
		}
	}
	return false
}

// windowCall compiles a window function.
func (s *scope) windowCall(x *Call) code {
	w := s.windows
	if w == nil {
		s.c.fail(x, "%s OVER: window functions may stand in result columns and in ORDER BY", x.Name)
	}
	kind, isWindow := windowKinds[x.Name]
	agg, isAggregate := aggregateOf(x)
	least, most := kind.least, kind.most
	if !isWindow {
		least, most = max(agg.least, 1), agg.most
		if x.Name == "count" {
			least = 0
		}
	}
	switch {
	case !isWindow && !isAggregate:
		s.c.fail(x, "%s is neither a window function nor an aggregate%s", x.Name, didYouMean(x.Name, windowNames()))
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
		call = &windowCall{name: x.Name, kind: kind, made: s.c.nmade, filter: -1, words: x.String()}
		s.c.nmade++
		s.windows = nil
		var args []code
		if !x.Star {
			args = s.all(x.Args)
		}
		if isWindow && len(args) == 3 { // the value that stands for one that is not there
			two := []code{args[0], args[2]}
			s.unify(two, []Expr{x.Args[0], x.Args[2]})
			args[0], args[2] = two[0], two[1]
		}
		for _, a := range args {
			call.args = append(call.args, w.input(a))
		}
		if x.Filter != nil {
			f := s.compile(x.Filter)
			test := f.condition()
			call.filter = w.input(code{eval: func(e *env) Value { return Bool(test(e) == yes) }})
		}
		call.spec = w.spec(s.wholeWindow(w, x.Over, 0))
		if isAggregate && !isWindow {
			call.agg = &aggregate{aggregateKind: agg, args: args, star: x.Star || len(args) == 0, name: x.String(), best: x.Name == "min" || x.Name == "max", by: firstCollation(args)}
			if call.agg.best {
				call.agg.add = best(map[string]int{"min": -1, "max": 1}[x.Name], call.agg.by)
			}
			s.aggregateUnits(x, call.agg)
		}
		s.windows = w
		w.byCanon[canon] = call
		w.calls = append(w.calls, call)
	}
	return w.result(s, call)
}

// result reads a function's result.
func (w *windowing) result(s *scope, call *windowCall) code {
	at := call.made
	c := code{eval: func(e *env) Value { return e.made[at] }}
	for _, src := range s.sources {
		c.uses |= 1 << src.slot
	}
	switch {
	case call.agg != nil:
		g := grouping{}
		from := g.result(call.agg)
		c.unit, c.refuse, c.json = from.unit, from.refuse, from.json
	case call.kind.ofValue:
		in := w.inputs[call.args[0]]
		c.unit, c.refuse = in.unit, in.refuse
	}
	return c
}

// input is the number of something to be computed of each row.
func (w *windowing) input(c code) int {
	w.inputs = append(w.inputs, c)
	return len(w.inputs) - 1
}
