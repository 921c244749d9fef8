package values

import (
	"math"
	"strconv"
	"strings"
)

// ascii white space, as SQLite has it.
const Blanks = " \t\n\v\f\r"

// NumberPrefix splits the longest number off the front of a text: its length, 0 for
// none, and whether it has a fraction or an exponent. Blanks in front count.
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

// IsDigit reports an ASCII digit.
func IsDigit(c byte) bool { return c >= '0' && c <= '9' }

// LeadingNumber is the number that a text begins with, 0 when it begins with none;
// whole reports whether there is nothing but blanks behind it.
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
	f, _ := strconv.ParseFloat(text, 64) // too large is infinite, as it should be
	return Float(f), whole
}

// asNumber is the value as arithmetic takes it: text by the number it begins with.
func (v Value) asNumber() Value {
	if v.kind != Text {
		return v
	}
	n, _ := LeadingNumber(v.str)
	return n
}

// AsFloat is the value as a float64, 0 for what is no number.
func (v Value) AsFloat() float64 {
	switch v = v.asNumber(); v.kind {
	case Integer:
		return float64(v.Int64())
	case Real:
		return v.Float64()
	}
	return 0
}

// AsInt is the value as an int64, as CAST makes it: cut towards zero, at the ends of
// the range where it is beyond.
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

// leadingInteger is the longest integer that a text begins with.
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
		return n // at an end of the range where it is beyond
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

// WholeFloat gives a float64 as an int64 where nothing is lost by it.
func WholeFloat(f float64) (int64, bool) {
	if f < -(1<<51) || f > 1<<51 || f != math.Trunc(f) {
		return 0, false
	}
	return int64(f), true
}

// Quote writes a text literal.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// Numeric is a value as a number, not ok for a text that is none.
func (v Value) Numeric() (Value, bool) {
	if v.kind == Text {
		return LeadingNumber(v.str)
	}
	return v, v.kind != Null
}
