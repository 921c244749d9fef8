package query

import (
	"fmt"
	"math"
	"slices"
)

// more is what aggregates remember that need all of the values.
type more struct {
	floats []float64
	part   Value // which quantile is asked for
	parts  []float64
	mean   float64 // Welford's running mean, and
	spread float64 // the sum of the squares of what lies beside it
	json   []byte
}

func (s *state) remember() *more {
	if s.more == nil {
		s.more = &more{}
	}
	return s.more
}

// Quantiles are as in SQLite's percentile extension: NULLs do not count, texts are
// refused, and what lies between two values is in proportion; percentile_disc is the
// value before.

// addQuantile remembers a value; whole is what stands for all of them.
func addQuantile(name string, whole float64) func(*budget, *state, Value, []Value, int64) {
	return func(e *budget, s *state, v Value, args []Value, times int64) {
		m := s.remember()
		if len(args) > 1 {
			p := args[1]
			if n, ok := p.numeric(); !ok || n.asFloat() < 0 || n.asFloat() > whole || m.part.kind != Null && !same(m.part, p) {
				e.fail(fmt.Errorf("%w: the second argument of %s is the same number for all rows, from 0 to %v", ErrQuery, name, whole))
				return
			}
			m.part = p
		}
		m.add(e, name, v, times)
	}
}

func (m *more) add(e *budget, name string, v Value, times int64) {
	f := v.asFloat()
	if v.kind == Text || math.IsInf(f, 0) {
		e.fail(fmt.Errorf("%w: %s is for numbers, not for %s", ErrQuery, name, v.Literal()))
		return
	}
	for range times {
		m.floats = append(m.floats, f)
	}
	e.hold([]Value{{}})
}

// quantile is the value of which such a part, from 0 to 1, is less.
func (m *more) quantile(part float64, between bool) Value {
	n := len(m.floats)
	if n == 0 {
		return Value{}
	}
	slices.Sort(m.floats)
	at := part * float64(n-1)
	i := int(at)
	if !between || i == n-1 || at == float64(i) {
		return Float(m.floats[i])
	}
	return Float(m.floats[i] + (m.floats[i+1]-m.floats[i])*(at-float64(i)))
}

func quantileResult(whole float64, between bool) func(*budget, *state) Value {
	return func(_ *budget, s *state) Value {
		if s.more == nil {
			return Value{}
		}
		return s.more.quantile(s.more.part.asFloat()/whole, between)
	}
}

func medianResult(_ *budget, s *state) Value {
	if s.more == nil {
		return Value{}
	}
	return s.more.quantile(0.5, true)
}

// addQuantiles is for several quantiles at once.
func addQuantiles(e *budget, s *state, v Value, args []Value, times int64) {
	m := s.remember()
	if m.parts == nil {
		for _, p := range args[1:] {
			n, ok := p.numeric()
			if f := n.asFloat(); !ok || f < 0 || f > 1 {
				e.fail(fmt.Errorf("%w: quantiles takes numbers from 0 to 1 behind its first argument", ErrQuery))
				return
			}
			m.parts = append(m.parts, n.asFloat())
		}
	}
	m.add(e, "quantiles", v, times)
}

// quantilesResult is a JSON array of them.
func quantilesResult(_ *budget, s *state) Value {
	if s.more == nil {
		return Value{}
	}
	b := []byte("[")
	for i, part := range s.more.parts {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendJSON(b, s.more.quantile(part, true), false)
	}
	return String(string(append(b, ']')))
}

// addSpread is Welford's variance, which loses nothing by large means.
func addSpread(_ *budget, s *state, v Value, _ []Value, times int64) {
	m := s.remember()
	f := v.asFloat()
	for range times {
		s.n++
		d := f - m.mean
		m.mean += d / float64(s.n)
		m.spread += d * (f - m.mean)
	}
}

// spreadResult is a variance, or its root, of a sample (less 1) or of all there is.
func spreadResult(less int64, root bool) func(*budget, *state) Value {
	return func(_ *budget, s *state) Value {
		if s.n <= less {
			return Value{}
		}
		f := s.more.spread / float64(s.n-less)
		if root {
			f = math.Sqrt(f)
		}
		return Float(f)
	}
}
