package plan

import (
	"strconv"
	"strings"

	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/values"
)

// wholeWindow combines a window with those that it names.
func (s *scope) wholeWindow(w *windowing, x *syntax.Window, depth int) *syntax.Window {
	name := x.Base
	if x.Base == "" && x.Name != "" && depth == 0 {
		name = x.Name
	}
	if name == "" {
		return x
	}
	base := w.named[values.Lower(name)]
	if base == nil || depth > syntax.MaxTables {
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

// spec compiles a window, or finds an equal one made before.
func (w *windowing) spec(x *syntax.Window) *exec.WindowSpec {
	s := w.s
	var canon strings.Builder
	for _, p := range x.Partition {
		canon.WriteString(s.canon(p) + "|")
	}
	canon.WriteString("/")
	for i := range x.OrderBy {
		t := &x.OrderBy[i]
		canon.WriteString(s.canon(t.X) + strconv.FormatBool(t.Desc) + strconv.Itoa(int(t.Nulls)) + "|")
	}
	if x.Frame != nil {
		canon.WriteString(x.Frame.String())
	}
	if spec := w.bySpec[canon.String()]; spec != nil {
		return spec
	}
	spec := &exec.WindowSpec{}
	w.bySpec[canon.String()] = spec
	for _, p := range x.Partition {
		spec.Partition = append(spec.Partition, w.input(s.compile(p)))
	}
	for i := range x.OrderBy {
		k := s.plainOrder(&x.OrderBy[i])
		spec.Order, spec.Keys = append(spec.Order, k), append(spec.Keys, w.input(k.Code))
	}
	spec.Frame = syntax.Frame{From: syntax.Bound{Side: -1}}
	if x.Frame != nil {
		spec.Frame = *x.Frame
		spec.From, spec.To = s.c.away(x.Frame.From), s.c.away(x.Frame.To)
	}
	w.Specs = append(w.Specs, spec)
	return spec
}

// away returns how many rows an end of a frame is away.
func (c *compiler) away(b syntax.Bound) int64 {
	if b.X == nil {
		return 0
	}
	in := &scope{c: c, noAggs: "a frame is the same for all rows"}
	code := in.compile(b.X)
	v, ok := code.ConstantOf()
	if v = values.NumericAffinity.Stored(v); !ok || v.Kind() != values.Integer || v.Int64() < 0 {
		c.fail(b.X, "a frame goes so many rows, not %s", b.X)
	}
	return v.Int64()
}
