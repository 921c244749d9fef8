package functions

import (
	"math"

	"github.com/placectl/placectl/query/values"
)

func addSum(_ *Budget, s *State, v values.Value, _ []values.Value, times int64) {
	s.N += times
	if v.Kind() == values.Text {
		n, whole := values.LeadingNumber(v.Text())
		if v = n; !whole {
			v = values.Float(n.AsFloat())
		}
	}
	s.add(v, times)
}

// add adds a number n times.
func (s *State) add(v values.Value, times int64) {
	if v.Kind() == values.Integer && !s.real {
		part, ok := v.Int64(), true
		s.Size += math.Abs(float64(part)) * float64(times)
		if times != 1 {
			part, ok = values.Product(part, times)
		}
		if sum := s.sum + part; ok && (s.sum^sum)&(part^sum) >= 0 {
			s.sum = sum
			return
		}
	}
	if !s.real {
		s.real = true
		s.addInt(s.sum)
	}
	for range times {
		if v.Kind() == values.Integer {
			s.addInt(v.Int64())
		} else {
			s.addFloat(v.Float64())
			s.Best = values.Int(1) // a real was seen
		}
	}
}

// addInt adds an integer in two parts that are exact as floats.
func (s *State) addInt(n int64) {
	if n <= -4503599627370496 || n >= 4503599627370496 {
		low := n % 16384
		s.addFloat(float64(n - low))
		s.addFloat(float64(low))
		return
	}
	s.addFloat(float64(n))
}

func (s *State) addFloat(f float64) {
	sum := s.float + f
	if math.Abs(s.float) > math.Abs(f) {
		s.rest += s.float - sum + f
	} else {
		s.rest += f - sum + s.float
	}
	s.float = sum
}

func (s *State) asFloat() float64 {
	if !s.real {
		return float64(s.sum)
	}
	if math.IsInf(s.rest, 0) || s.rest != s.rest {
		return s.float
	}
	return s.float + s.rest
}

func sumResult(e *Budget, s *State) values.Value {
	switch {
	case s.N == 0:
		return values.Value{}
	case s.real && s.Best.Kind() == values.Null:
		return e.Fail(ErrOverflow)
	case s.real:
		return values.Float(s.asFloat())
	}
	return values.Int(s.sum)
}

func totalResult(_ *Budget, s *State) values.Value { return values.Float(s.asFloat()) }

func averageResult(_ *Budget, s *State) values.Value {
	if s.N == 0 {
		return values.Value{}
	}
	return values.Float(s.asFloat() / float64(s.N))
}
