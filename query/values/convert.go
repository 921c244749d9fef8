package values

import (
	"math"
	"strconv"
	"strings"
)

// Blanks is ASCII white space, as in SQLite.
const Blanks = " \t\n\v\f\r"

// NumberPrefix returns the length of the longest number at the front of a text, or 0, and whether
// it has a fraction or an exponent. Blanks in front count.
func NumberPrefix(s string) (end int, real bool) {
	i := len(s) - len(strings.TrimLeft(s, Blanks))
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	digits := 0
	for ; i < len(s) && IsDigit(s[i]); i++ {
		digits++
	}
	if i < len(s) && s[i] == '.' {
		at := i + 1
		for ; at < len(s) && IsDigit(s[at]); at++ {
			digits++
		}
		if digits > 0 {
			i, real = at, true
		}
	}
	if digits == 0 {
		return 0, false
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		at := i + 1
		if at < len(s) && (s[at] == '-' || s[at] == '+') {
			at++
		}
		if at < len(s) && IsDigit(s[at]) {
			for ; at < len(s) && IsDigit(s[at]); at++ {
			}
			i, real = at, true
		}
	}
	return i, real
}

// IsDigit reports whether a byte is an ASCII digit.
func IsDigit(c byte) bool { return c >= '0' && c <= '9' }

// LeadingNumber returns the number that a text begins with, or 0; whole reports whether only blanks follow
// it.
func LeadingNumber(s string) (v Value, whole bool) {
	end, real := NumberPrefix(s)
	if end == 0 {
		return Int(0), false
	}
	text := strings.TrimLeft(s[:end], Blanks)
	whole = strings.TrimLeft(s[end:], Blanks) == ""
	if !real {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return Int(n), whole
		}
	}
	f, _ := strconv.ParseFloat(text, 64) // too large becomes infinite, as it should
	return Float(f), whole
}

// asNumber returns the value as arithmetic uses it: text becomes the number it begins with.
func (v Value) asNumber() Value {
	if v.kind != Text {
		return v
	}
	n, _ := LeadingNumber(v.str)
	return n
}

// AsFloat returns the value as a float64, or 0 if it is not a number.
func (v Value) AsFloat() float64 {
	switch v = v.asNumber(); v.kind {
	case Integer:
		return float64(v.Int64())
	case Real:
		return v.Float64()
	}
	return 0
}

// AsInt returns the value as an int64, as CAST does: rounded towards zero, and limited to the
// range.
func (v Value) AsInt() int64 {
	switch v.kind {
	case Integer:
		return v.Int64()
	case Real:
		return cutFloat(v.Float64())
	case Text:
		return leadingInteger(v.str)
	}
	return 0
}

// leadingInteger returns the longest integer that a text begins with.
func leadingInteger(s string) int64 {
	s = strings.TrimLeft(s, Blanks)
	i := 0
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	for i < len(s) && IsDigit(s[i]) {
		i++
	}
	n, err := strconv.ParseInt(s[:i], 10, 64)
	if err == nil || i > 1 && IsDigit(s[i-1]) {
		return n // limited to the range
	}
	return 0
}

func cutFloat(f float64) int64 {
	switch {
	case f <= math.MinInt64:
		return math.MinInt64
	case f >= math.MaxInt64:
		return math.MaxInt64
	}
	return int64(f)
}

// WholeFloat converts a float64 to an int64 if nothing is lost.
func WholeFloat(f float64) (int64, bool) {
	if f < -(1<<51) || f > 1<<51 || f != math.Trunc(f) {
		return 0, false
	}
	return int64(f), true
}

// Quote writes a text literal.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// Numeric returns the value as a number; ok is false for a text that is no number.
func (v Value) Numeric() (Value, bool) {
	if v.kind == Text {
		return LeadingNumber(v.str)
	}
	return v, v.kind != Null
}
