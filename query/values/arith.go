package values

import (
	"math"
	"math/bits"
)

// Operators holds the operators that take two numbers.
var Operators = map[string]func(a, b Value) Value{
	"+": Add, "-": Subtract, "*": multiply, "/": divide, "%": remainder,
	"&":  bitwise(func(a, b int64) int64 { return a & b }),
	"|":  bitwise(func(a, b int64) int64 { return a | b }),
	"<<": bitwise(shiftLeft), ">>": bitwise(func(a, b int64) int64 { return shiftRight(a, b) }),
}

// operands converts both sides to numbers; ok is false if one is NULL.
func operands(a, b Value) (Value, Value, bool) {
	a, b = a.asNumber(), b.asNumber()
	return a, b, a.kind != Null && b.kind != Null
}

// Add adds integers. The sum is real if one of them is real or it is too large.
func Add(a, b Value) Value {
	if a.kind == Integer && b.kind == Integer {
		x, y := a.Int64(), b.Int64()
		if sum := x + y; (x^sum)&(y^sum) >= 0 {
			return Int(sum)
		}
	}
	a, b, ok := operands(a, b)
	switch {
	case !ok:
		return Value{}
	case a.kind == Integer && b.kind == Integer:
		x, y := a.Int64(), b.Int64()
		if sum := x + y; (x^sum)&(y^sum) >= 0 {
			return Int(sum)
		}
	}
	return Float(a.AsFloat() + b.AsFloat())
}

// Subtract subtracts by the same rules as Add.
func Subtract(a, b Value) Value {
	a, b, ok := operands(a, b)
	switch {
	case !ok:
		return Value{}
	case a.kind == Integer && b.kind == Integer:
		x, y := a.Int64(), b.Int64()
		if diff := x - y; (x^y)&(x^diff) >= 0 {
			return Int(diff)
		}
	}
	return Float(a.AsFloat() - b.AsFloat())
}

func multiply(a, b Value) Value {
	a, b, ok := operands(a, b)
	switch {
	case !ok:
		return Value{}
	case a.kind == Integer && b.kind == Integer:
		if n, ok := Product(a.Int64(), b.Int64()); ok {
			return Int(n)
		}
	}
	return Float(a.AsFloat() * b.AsFloat())
}

// Product multiplies; ok is false if the result is too large.
func Product(x, y int64) (int64, bool) {
	hi, lo := bits.Mul64(Magnitude(x), Magnitude(y))
	negative := (x < 0) != (y < 0)
	if hi != 0 || lo > math.MaxInt64 && !(negative && lo == 1<<63) {
		return 0, false
	}
	if negative {
		return int64(-lo), true
	}
	return int64(lo), true
}

// Magnitude returns the absolute value of a number.
func Magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// divide rounds integers towards zero; division by zero is NULL.
func divide(a, b Value) Value {
	a, b, ok := operands(a, b)
	switch {
	case !ok || b.AsFloat() == 0:
		return Value{}
	case a.kind == Integer && b.kind == Integer && !(a.Int64() == math.MinInt64 && b.Int64() == -1):
		return Int(a.Int64() / b.Int64())
	}
	return Float(a.AsFloat() / b.AsFloat())
}

// remainder takes both as integers. The result is real if one of them is.
func remainder(a, b Value) Value {
	x, y := a.AsInt(), b.AsInt() // the integer that a text begins with, not its number
	a, b, ok := operands(a, b)
	if !ok {
		return Value{}
	}
	if y == 0 {
		return Value{}
	}
	n := int64(0)
	if y != -1 {
		n = x % y
	}
	if a.kind == Integer && b.kind == Integer {
		return Int(n)
	}
	return Float(float64(n))
}

// Negate returns -v.
func Negate(v Value) Value {
	switch v = v.asNumber(); {
	case v.kind == Integer && v.Int64() == math.MinInt64:
		return Float(-float64(v.Int64()))
	case v.kind == Integer:
		return Int(-v.Int64())
	case v.kind == Real:
		return Float(-v.Float64())
	}
	return v
}

func bitwise(op func(a, b int64) int64) func(a, b Value) Value {
	return func(a, b Value) Value {
		if a.kind == Null || b.kind == Null {
			return Value{}
		}
		return Int(op(a.AsInt(), b.AsInt()))
	}
}

// shiftLeft shifts to the right if by is negative.
func shiftLeft(a, by int64) int64 {
	switch {
	case by < 0 && by > -64:
		return a >> -by
	case by <= -64:
		return a >> 63
	case by >= 64:
		return 0
	}
	return a << by
}

func shiftRight(a, by int64) int64 {
	if by == math.MinInt64 {
		return 0
	}
	return shiftLeft(a, -by)
}
