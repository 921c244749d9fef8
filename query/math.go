package query

import (
	"encoding/hex"
	"math"
	"strings"
	"unicode/utf8"
)

// numeric is a value as a number, not ok for a text that is none.
func (v Value) numeric() (Value, bool) {
	if v.kind == Text {
		return leadingNumber(v.str)
	}
	return v, v.kind != Null
}

// rounder is floor and ceil: integers stay what they are.
func rounder(f func(float64) float64) func(*env, []Value) Value {
	return func(_ *env, a []Value) Value {
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
func realFunction(f func(x []float64) float64) func(*env, []Value) Value {
	return func(_ *env, a []Value) Value {
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
func hexText(e *env, a []Value) Value {
	return e.text(strings.ToUpper(hex.EncodeToString([]byte(a[0].String()))))
}

// char makes a text of the numbers of its characters.
func char(_ *env, a []Value) Value {
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
func concatTexts(e *env, a []Value) Value {
	var b strings.Builder
	for _, v := range a {
		b.WriteString(v.String())
	}
	return e.text(b.String())
}

// concatWith joins texts with a separator; NULLs are left out.
func concatWith(e *env, a []Value) Value {
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
