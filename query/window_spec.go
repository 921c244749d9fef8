package query

import (
	"strconv"
	"strings"
)

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
		canon.WriteString(s.canon(t.X) + strconv.FormatBool(t.Desc) + strconv.Itoa(int(t.Nulls)) + "|")
	}
	if x.Frame != nil {
		canon.WriteString(x.Frame.String())
	}
	if spec := w.bySpec[canon.String()]; spec != nil {
		return spec
	}
	spec := &windowSpec{}
	w.bySpec[canon.String()] = spec
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
