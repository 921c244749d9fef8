package functions

import (
	"fmt"
	"math"
	"slices"

	"github.com/placectl/placectl/query/fault"
	"github.com/placectl/placectl/query/values"
)

// more is the state of aggregates that need all values.
type more struct {
	floats []float64
	part   values.Value // the requested quantile
	mean   float64      // Welford's running mean
	spread float64      // sum of the squared deviations from it
	json   []byte
}

func (s *State) remember() *more {
	if s.more == nil {
		s.more = &more{}
	}
	return s.more
}

// Quantiles are as in SQLite's percentile extension: they ignore NULLs and refuse texts. Between two
// values they interpolate; percentile_disc takes the smaller one.

// addQuantile adds a value; whole is the number that means all of them.
func addQuantile(name string, whole float64) func(*Budget, *State, values.Value, []values.Value, int64) {
	return func(e *Budget, s *State, v values.Value, args []values.Value, times int64) {
		m := s.remember()
		if len(args) > 1 {
			p := args[1]
			if n, ok := p.Numeric(); !ok || n.AsFloat() < 0 || n.AsFloat() > whole || m.part.Kind() != values.Null &&
				!values.Same(m.part, p) {
				e.Fail(fmt.Errorf("%w: the second argument of %s is the same number for all rows, from 0 to %v",
					fault.ErrQuery, name, whole))
				return
			}
			m.part = p
		}
		m.add(e, name, v, times)
	}
}

func (m *more) add(e *Budget, name string, v values.Value, times int64) {
	f := v.AsFloat()
	if v.Kind() == values.Text || math.IsInf(f, 0) {
		e.Fail(fmt.Errorf("%w: %s is for numbers, not for %s", fault.ErrQuery, name, v.Literal()))
		return
	}
	for range times {
		m.floats = append(m.floats, f)
	}
	e.Hold([]values.Value{{}}, 0)
}

// quantile returns the value below which a fraction, from 0 to 1, of the values lies.
func (m *more) quantile(part float64, between bool) values.Value {
	n := len(m.floats)
	if n == 0 {
		return values.Value{}
	}
	slices.Sort(m.floats)
	at := part * float64(n-1)
	i := int(at)
	if !between || i == n-1 || at == float64(i) {
		return values.Float(m.floats[i])
	}
	return values.Float(m.floats[i] + (m.floats[i+1]-m.floats[i])*(at-float64(i)))
}

func quantileResult(whole float64, between bool) func(*Budget, *State) values.Value {
	return func(_ *Budget, s *State) values.Value {
		if s.more == nil {
			return values.Value{}
		}
		return s.more.quantile(s.more.part.AsFloat()/whole, between)
	}
}

func medianResult(_ *Budget, s *State) values.Value {
	if s.more == nil {
		return values.Value{}
	}
	return s.more.quantile(0.5, true)
}

// addSpread is Welford's variance, which stays exact for large means.
func addSpread(_ *Budget, s *State, v values.Value, _ []values.Value, times int64) {
	m := s.remember()
	f := v.AsFloat()
	for range times {
		s.N++
		d := f - m.mean
		m.mean += d / float64(s.N)
		m.spread += d * (f - m.mean)
	}
}

// spreadResult returns a variance, or its root, of a sample (less is 1) or of all values.
func spreadResult(less int64, root bool) func(*Budget, *State) values.Value {
	return func(_ *Budget, s *State) values.Value {
		if s.N <= less {
			return values.Value{}
		}
		f := s.more.spread / float64(s.N-less)
		if root {
			f = math.Sqrt(f)
		}
		return values.Float(f)
	}
}
