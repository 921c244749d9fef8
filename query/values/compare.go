package values

import (
	"cmp"
	"math"
	"strings"
)

// Compare orders values as ORDER BY does: NULL, then numbers, then texts.
func Compare(a, b Value) int {
	if a.kind == Integer && b.kind == Integer {
		return cmp.Compare(a.Int64(), b.Int64())
	}
	if rank(a.kind) != rank(b.kind) {
		return rank(a.kind) - rank(b.kind)
	}
	switch {
	case a.kind == Null:
		return 0
	case a.kind == Text:
		return strings.Compare(a.str, b.str)
	case a.kind == Real && b.kind == Real:
		return cmp.Compare(a.Float64(), b.Float64())
	case a.kind == Integer:
		return compareIntFloat(a.Int64(), b.Float64())
	}
	return -compareIntFloat(b.Int64(), a.Float64())
}

// rank counts both kinds of numbers as one.
func rank(k Kind) int {
	if k == Real {
		k = Integer
	}
	return int(k)
}

// compareIntFloat compares without rounding.
func compareIntFloat(n int64, f float64) int {
	switch {
	case f < math.MinInt64:
		return 1
	case f >= math.MaxInt64:
		return -1
	}
	if c := cmp.Compare(n, int64(f)); c != 0 {
		return c
	}
	return cmp.Compare(float64(n), f)
}

// Same reports whether values are equal for DISTINCT and GROUP BY. NULLs are equal.
func Same(a, b Value) bool { return Compare(a, b) == 0 }

// Lower converts ASCII letters to lower case. Other characters stay.
func Lower(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= 'A' && s[i] <= 'Z' {
			return foldASCII(s, 'A', 'Z', 'a'-'A')
		}
	}
	return s
}

// Upper converts ASCII letters to upper case.
func Upper(s string) string { return foldASCII(s, 'a', 'z', 'A'-'a'+256) }

func foldASCII(s string, from, to byte, by int) string {
	b := []byte(s)
	for i, c := range b {
		if c >= from && c <= to {
			b[i] = byte(int(c) + by)
		}
	}
	return string(b)
}

// Normal converts whole numbers to integers, so that values that compare as equal become the
// same.
func Normal(v Value) Value {
	if v.kind == Real {
		if f := v.Float64(); f >= -(1<<63) && f < 1<<63 && f == float64(int64(f)) {
			return Int(int64(f))
		}
	}
	return v
}
