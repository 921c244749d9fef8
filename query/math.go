package query

import (
	"encoding/hex"
	"math"
	"strings"
	"unicode/utf8"
)

// rounder is floor and ceil: integers stay what they are.
func rounder(f func(float64) float64) func(*budget, []Value) Value {
	return func(_ *budget, a []Value) Value {
		v, ok := a[0].numeric()
		switch {
		case !ok:
			return Value{}
		case v.kind == Integer:
			return v
		}
		return Float(f(v.Float64()))
	}
}

// real makes a function of numbers one of values: NULL for what is no number, and where
// there is no result.
func realFunction(f func(x []float64) float64) func(*budget, []Value) Value {
	return func(_ *budget, a []Value) Value {
		x := make([]float64, len(a))
		for i := range a {
			v, ok := a[i].numeric()
			if !ok {
				return Value{}
			}
			x[i] = v.asFloat()
		}
		return Float(f(x))
	}
}

func modulo(x []float64) float64 { return math.Mod(x[0], x[1]) }

func squareRoot(x []float64) float64 { return math.Sqrt(x[0]) }

func power(x []float64) float64 { return math.Pow(x[0], x[1]) }

// hexText writes the bytes of a text; NULL has none.
func hexText(e *budget, a []Value) Value {
	return e.text(strings.ToUpper(hex.EncodeToString([]byte(a[0].String()))))
}

// char makes a text of the numbers of its characters.
func char(_ *budget, a []Value) Value {
	var b strings.Builder
	for _, v := range a {
		n := v.asInt()
		if n < 0 || n > utf8.MaxRune {
			n = utf8.RuneError
		}
		b.WriteRune(rune(n))
	}
	return String(b.String())
}

// concatTexts joins texts; NULL is an empty one.
func concatTexts(e *budget, a []Value) Value {
	var b strings.Builder
	for _, v := range a {
		b.WriteString(v.String())
	}
	return e.text(b.String())
}

// concatWith joins texts with a separator; NULLs are left out.
func concatWith(e *budget, a []Value) Value {
	if a[0].kind == Null {
		return Value{}
	}
	var parts []string
	for _, v := range a[1:] {
		if v.kind != Null {
			parts = append(parts, v.String())
		}
	}
	return e.text(strings.Join(parts, a[0].String()))
}

func absolute(e *budget, a []Value) Value {
	v := a[0]
	if v.kind == Integer {
		if n := v.Int64(); n == math.MinInt64 {
			return e.fail(errOverflow)
		} else if n < 0 {
			return Int(-n)
		}
		return v
	}
	return Float(math.Abs(v.asFloat()))
}

// round rounds half away from zero, to so many decimals.
func round(_ *budget, a []Value) Value {
	digits := int64(0)
	if len(a) == 2 {
		digits = min(max(a[1].asInt(), 0), 30)
	}
	f := a[0].asFloat()
	switch {
	case f < -4503599627370496 || f > 4503599627370496 || f != f: // it has no fraction
		return Float(f)
	case digits == 0:
		return Float(math.Trunc(f + math.Copysign(0.5, f)))
	}
	v, _ := leadingNumber(formatFixed(f, int(digits)))
	return Float(v.asFloat())
}

func signOf(_ *budget, a []Value) Value {
	v := a[0]
	if v.kind == Text {
		n, whole := leadingNumber(v.str)
		if !whole {
			return Value{}
		}
		v = n
	}
	switch f := v.asFloat(); {
	case f < 0:
		return Int(-1)
	case f > 0:
		return Int(1)
	}
	return Int(0)
}
