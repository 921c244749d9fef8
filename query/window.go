package query

import (
	"strconv"
	"strings"
)

// Window functions are computed when all rows that a SELECT makes of its tables or groups
// are known: the rows are kept, put in order for each window, and gone through; then
// results are made of each of them as if it had come from a table just now.

// windowing is the window functions of a SELECT.
type windowing struct {
	s       *scope
	named   map[string]*Window
	specs   []*windowSpec
	calls   []*windowCall
	byCanon map[string]*windowCall
	inputs  []code // what is computed of each row before it is kept
}

// windowSpec is partitions, an order and a frame.
type windowSpec struct {
	canon     string
	partition []int // inputs
	order     []orderKey
	keys      []int // inputs, of the order
	frame     Frame
	from, to  code // how far the frame goes, where it says so
	framed    bool // it was written
}

// windowCall is a function over a window.
type windowCall struct {
	spec   *windowSpec
	name   string
	kind   windowKind
	agg    *aggregate // nil for one of the window's own functions
	args   []int      // inputs
	filter int        // an input, -1 for none
	made   int
	words  string
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
	w := &windowing{s: s, named: map[string]*Window{}, byCanon: map[string]*windowCall{}}
	for i := range x.Windows {
		name := lowerASCII(x.Windows[i].Name)
		if w.named[name] != nil {
			s.c.fail(&x.Windows[i], "there are two windows called %s", x.Windows[i].Name)
		}
		w.named[name] = &x.Windows[i]
	}
	if found {
		s.windows, p.windows = w, w
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
	agg, isAggregate := x.aggregate()
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

// wholeWindow puts a window together with those that it names.
func (s *scope) wholeWindow(w *windowing, x *Window, depth int) *Window {
	name := x.Base
	if x.Base == "" && x.Name != "" && depth == 0 {
		name = x.Name
	}
	if name == "" {
		return x
	}
	base := w.named[lowerASCII(name)]
	if base == nil || depth > maxTables {
		var names []string
		for n := range w.named {
			names = append(names, n)
		}
		s.c.fail(x, "no window %q%s", name, didYouMean(name, names))
	}
	whole := *s.wholeWindow(w, base, depth+1)
	if x.Base == "" {
		return &whole
	}
	switch {
	case x.Partition != nil:
		s.c.fail(x, "a window that adds to another one takes its partitions")
	case whole.OrderBy != nil && x.OrderBy != nil:
		s.c.fail(x, "the window %s has an order already", name)
	case whole.Frame != nil:
		s.c.fail(x, "the window %s has a frame already", name)
	}
	if x.OrderBy != nil {
		whole.OrderBy = x.OrderBy
	}
	whole.Frame = x.Frame
	return &whole
}

// spec compiles a window, or finds the same one made before.
func (w *windowing) spec(x *Window) *windowSpec {
	s := w.s
	var canon strings.Builder
	for _, p := range x.Partition {
		canon.WriteString(s.canon(p) + "|")
	}
	canon.WriteString("/")
	for i := range x.OrderBy {
		t := &x.OrderBy[i]
		canon.WriteString(s.canon(t.X) + ifWords(t.Desc, " desc") + strconv.Itoa(int(t.Nulls)) + "|")
	}
	if x.Frame != nil {
		canon.WriteString(x.Frame.String())
	}
	for _, spec := range w.specs {
		if spec.canon == canon.String() {
			return spec
		}
	}
	spec := &windowSpec{canon: canon.String()}
	for _, p := range x.Partition {
		spec.partition = append(spec.partition, w.input(s.compile(p)))
	}
	for i := range x.OrderBy {
		k := s.plainOrder(&x.OrderBy[i])
		spec.order, spec.keys = append(spec.order, k), append(spec.keys, w.input(k.code))
	}
	spec.frame = Frame{From: Bound{Side: -1}}
	if x.Frame != nil {
		spec.frame, spec.framed = *x.Frame, true
		spec.from, spec.to = w.bound(spec, x.Frame.From), w.bound(spec, x.Frame.To)
	}
	w.specs = append(w.specs, spec)
	return spec
}

// bound compiles how far a frame goes.
func (w *windowing) bound(spec *windowSpec, b Bound) code {
	if b.X == nil {
		return code{}
	}
	s := w.s
	in := &scope{c: s.c, parent: nil, noAggs: "a frame is the same for all rows"}
	c := in.compile(b.X)
	if spec.frame.Unit == FrameRange {
		if len(spec.order) != 1 {
			s.c.fail(b.X, "RANGE with a distance takes one column to order by")
		}
		unit := spec.order[0].code.unit
		if unit == Time {
			unit = Duration
		}
		c = s.read(c, unit, b.X)
	}
	v, ok := c.constantOf()
	if v = NumericAffinity.Stored(v); !ok || v.kind != Integer && (v.kind != Real || spec.frame.Unit != FrameRange) || v.asFloat() < 0 {
		s.c.fail(b.X, "a frame goes so many rows or so far, not %s", b.X)
	}
	return constant(v)
}

// words lists the functions, for EXPLAIN.
func (w *windowing) words() []string {
	out := make([]string, len(w.calls))
	for i, c := range w.calls {
		out[i] = c.words
	}
	return out
}
