package functions

import (
	"encoding/hex"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/placectl/placectl/query/values"
)

// rounder is floor or ceil. Integers stay as they are.
func rounder(f func(float64) float64) func(*Budget, []values.Value) values.Value {
	return func(_ *Budget, a []values.Value) values.Value {
		v, ok := a[0].Numeric()
		switch {
		case !ok:
			return values.Value{}
		case v.Kind() == values.Integer:
			return v
		}
		return values.Float(f(v.Float64()))
	}
}

// realFunction makes a function of numbers one of values. The result is NULL if an argument is
// not a number, or if the function has no result.
func realFunction(f func(x []float64) float64) func(*Budget, []values.Value) values.Value {
	return func(_ *Budget, a []values.Value) values.Value {
		x := make([]float64, len(a))
		for i := range a {
			v, ok := a[i].Numeric()
			if !ok {
				return values.Value{}
			}
			x[i] = v.AsFloat()
		}
		return values.Float(f(x))
	}
}

func modulo(x []float64) float64 { return math.Mod(x[0], x[1]) }

func squareRoot(x []float64) float64 { return math.Sqrt(x[0]) }

func power(x []float64) float64 { return math.Pow(x[0], x[1]) }

// hexText writes the bytes of a text in hexadecimal; none for NULL.
func hexText(e *Budget, a []values.Value) values.Value {
	return e.Text(strings.ToUpper(hex.EncodeToString([]byte(a[0].String()))))
}

// char makes a text of code points.
func char(_ *Budget, a []values.Value) values.Value {
	var b strings.Builder
	for _, v := range a {
		n := v.AsInt()
		if n < 0 || n > utf8.MaxRune {
			n = utf8.RuneError
		}
		b.WriteRune(rune(n))
	}
	return values.String(b.String())
}

// concatTexts joins texts. NULL counts as empty.
func concatTexts(e *Budget, a []values.Value) values.Value {
	var b strings.Builder
	for _, v := range a {
		b.WriteString(v.String())
	}
	return e.Text(b.String())
}

// concatWith joins texts with a separator, without NULLs.
func concatWith(e *Budget, a []values.Value) values.Value {
	if a[0].Kind() == values.Null {
		return values.Value{}
	}
	var parts []string
	for _, v := range a[1:] {
		if v.Kind() != values.Null {
			parts = append(parts, v.String())
		}
	}
	return e.Text(strings.Join(parts, a[0].String()))
}

func absolute(e *Budget, a []values.Value) values.Value {
	v := a[0]
	if v.Kind() == values.Integer {
		if n := v.Int64(); n == math.MinInt64 {
			return e.Fail(ErrOverflow)
		} else if n < 0 {
			return values.Int(-n)
		}
		return v
	}
	return values.Float(math.Abs(v.AsFloat()))
}

// round rounds half away from zero to a number of decimals.
func round(_ *Budget, a []values.Value) values.Value {
	digits := int64(0)
	if len(a) == 2 {
		digits = min(max(a[1].AsInt(), 0), 30)
	}
	f := a[0].AsFloat()
	switch {
	case f < -4503599627370496 || f > 4503599627370496 || f != f: // it has no fraction
		return values.Float(f)
	case digits == 0:
		return values.Float(math.Trunc(f + math.Copysign(0.5, f)))
	}
	v, _ := values.LeadingNumber(formatFixed(f, int(digits)))
	return values.Float(v.AsFloat())
}

func signOf(_ *Budget, a []values.Value) values.Value {
	v := a[0]
	if v.Kind() == values.Text {
		n, whole := values.LeadingNumber(v.Text())
		if !whole {
			return values.Value{}
		}
		v = n
	}
	switch f := v.AsFloat(); {
	case f < 0:
		return values.Int(-1)
	case f > 0:
		return values.Int(1)
	}
	return values.Int(0)
}
