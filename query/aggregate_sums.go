package query

import (
	"math"
)

func addSum(_ *budget, s *state, v Value, _ []Value, times int64) {
	s.n += times
	if v.kind == Text {
		n, whole := leadingNumber(v.str)
		if v = n; !whole {
			v = Float(n.asFloat())
		}
	}
	if v.kind == Integer && !s.real {
		part, ok := v.Int64(), true
		s.size += math.Abs(float64(part)) * float64(times)
		if times != 1 {
			part, ok = product(part, times)
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
		if v.kind == Integer {
			s.addInt(v.Int64())
		} else {
			s.addFloat(v.Float64())
			s.best = Int(1) // a real was seen
		}
	}
}

// addInt adds an integer in two parts that are exact as floats.
func (s *state) addInt(n int64) {
	if n <= -4503599627370496 || n >= 4503599627370496 {
		low := n % 16384
		s.addFloat(float64(n - low))
		s.addFloat(float64(low))
		return
	}
	s.addFloat(float64(n))
}

func (s *state) addFloat(f float64) {
	sum := s.float + f
	if math.Abs(s.float) > math.Abs(f) {
		s.rest += s.float - sum + f
	} else {
		s.rest += f - sum + s.float
	}
	s.float = sum
}

func (s *state) asFloat() float64 {
	if !s.real {
		return float64(s.sum)
	}
	if math.IsInf(s.rest, 0) || s.rest != s.rest {
		return s.float
	}
	return s.float + s.rest
}

func sumResult(e *budget, s *state) Value {
	switch {
	case s.n == 0:
		return Value{}
	case s.real && s.best.kind == Null:
		return e.fail(errOverflow)
	case s.real:
		return Float(s.asFloat())
	}
	return Int(s.sum)
}

func totalResult(_ *budget, s *state) Value { return Float(s.asFloat()) }

func averageResult(_ *budget, s *state) Value {
	if s.n == 0 {
		return Value{}
	}
	return Float(s.asFloat() / float64(s.n))
}
