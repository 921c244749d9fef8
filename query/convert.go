package query

import (
	"math"
	"strconv"
	"strings"
)

// Affinity is the kind of value that a column or a cast prefers; it decides what
// its values are compared as.
type Affinity uint8

// The affinities, in SQLite's words.
const (
	NoAffinity Affinity = iota
	TextAffinity
	NumericAffinity
	IntegerAffinity
	RealAffinity
)

func (a Affinity) numeric() bool { return a >= NumericAffinity }

var affinityNames = [...]string{"", "TEXT", "NUMERIC", "INTEGER", "REAL"}

func (a Affinity) String() string { return affinityNames[a] }

// ascii white space, as SQLite has it.
const blanks = " \t\n\v\f\r"

// numberPrefix splits the longest number off the front of a text: its length, 0 for
// none, and whether it has a fraction or an exponent. Blanks in front count.
func numberPrefix(s string) (end int, real bool) {
	i := len(s) - len(strings.TrimLeft(s, blanks))
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	digits := 0
	for ; i < len(s) && isDigit(s[i]); i++ {
		digits++
	}
	if i < len(s) && s[i] == '.' {
		at := i + 1
		for ; at < len(s) && isDigit(s[at]); at++ {
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
		if at < len(s) && isDigit(s[at]) {
			for ; at < len(s) && isDigit(s[at]); at++ {
			}
			i, real = at, true
		}
	}
	return i, real
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// leadingNumber is the number that a text begins with, 0 when it begins with none;
// whole reports whether there is nothing but blanks behind it.
func leadingNumber(s string) (v Value, whole bool) {
	end, real := numberPrefix(s)
	if end == 0 {
		return Int(0), false
	}
	text := strings.TrimLeft(s[:end], blanks)
	whole = strings.TrimLeft(s[end:], blanks) == ""
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
	n, _ := leadingNumber(v.str)
	return n
}

// asFloat is the value as a float64, 0 for what is no number.
func (v Value) asFloat() float64 {
	switch v = v.asNumber(); v.kind {
	case Integer:
		return float64(v.Int64())
	case Real:
		return v.Float64()
	}
	return 0
}

// asInt is the value as an int64, as CAST makes it: cut towards zero, at the ends of
// the range where it is beyond.
func (v Value) asInt() int64 {
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
	s = strings.TrimLeft(s, blanks)
	i := 0
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	n, err := strconv.ParseInt(s[:i], 10, 64)
	if err == nil || i > 1 && isDigit(s[i-1]) {
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

// wholeFloat gives a float64 as an int64 where nothing is lost by it.
func wholeFloat(f float64) (int64, bool) {
	if f < -(1<<51) || f > 1<<51 || f != math.Trunc(f) {
		return 0, false
	}
	return int64(f), true
}

// apply converts a value as storing it under an affinity, or comparing with a column
// of it, does.
func (a Affinity) apply(v Value) Value {
	switch {
	case a == TextAffinity && (v.kind == Integer || v.kind == Real):
		return String(v.String())
	case a.numeric() && v.kind == Text:
		n, whole := leadingNumber(v.str)
		if !whole {
			return v
		}
		v = n
		if n, ok := wholeFloat(v.asFloat()); ok && v.kind == Real {
			v = Int(n)
		}
	}
	if a == RealAffinity && v.kind == Integer {
		return Float(float64(v.Int64()))
	}
	return v
}

// Stored is a value as SQLite keeps it in a column of the affinity: of a number that is
// whole an integer, but for reals.
func (a Affinity) Stored(v Value) Value {
	if v = a.apply(v); v.kind == Real && (a == NumericAffinity || a == IntegerAffinity) {
		if n, ok := wholeFloat(v.Float64()); ok {
			return Int(n)
		}
	}
	return v
}

// cast is CAST(v AS a).
func (a Affinity) cast(v Value) Value {
	if v.kind == Null {
		return v
	}
	switch a {
	case TextAffinity:
		return String(v.String())
	case IntegerAffinity:
		return Int(v.asInt())
	case RealAffinity:
		return Float(v.asFloat())
	case NumericAffinity:
		if v.kind != Text {
			return v
		}
		v = v.asNumber()
		if n, ok := wholeFloat(v.asFloat()); ok {
			return Int(n)
		}
	}
	return v
}

// formatReal writes a real number as SQLite does since 3.52: with 17 digits, or with
// fewer that are read back as the same number; always with a point.
func formatReal(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "Inf"
	case math.IsInf(f, -1):
		return "-Inf"
	case f == 0:
		return "0.0"
	}
	mantissa, exp := roundedReal(f)
	return general(f < 0, mantissa, exp, 17, true)
}

// roundedReal is the digits of a number in text. SQLite does not look for the shortest
// that are read back as the number: of 18 digits it looks at the 14th to 16th, and
// leaves out what follows a row of nines or zeros there, or, of a number that has no
// fraction, a row of zeros before them.
func roundedReal(f float64) (string, int) {
	all, exp := decimal(f, math.MaxInt)
	digits := 17
	switch {
	case all[14:16] == "99":
		kept := strings.TrimRight(all[:14], "9")
		if up, upExp := roundDigits(all, exp, len(kept)); kept == "" || readsAs(up, upExp, f) {
			digits = len(kept) + 1
		}
	case exp+1 >= len(all) || all[13:16] == "000":
		kept := strings.TrimRight(all[:13], "0")
		if readsAs(kept, exp, f) {
			digits = len(kept) + 1
		}
	}
	return roundDigits(all, exp, digits)
}

// readsAs reports whether d.ddd * 10^exp is read as f.
func readsAs(digits string, exp int, f float64) bool {
	back, err := strconv.ParseFloat(digits[:1]+"."+digits[1:]+"e"+strconv.Itoa(exp), 64)
	return err == nil && back == math.Abs(f)
}

// formatGeneral is %.*g, with an exponent from 10 to the power of large on, and with a
// point kept or added where point says so.
func formatGeneral(f float64, digits, large int, point bool) string {
	mantissa, exp := decimal(f, digits)
	return general(f < 0, mantissa, exp, large, point)
}

func general(negative bool, mantissa string, exp, large int, point bool) string {
	sign := ""
	if negative {
		sign = "-"
	}
	mantissa = strings.TrimRight(mantissa, "0")
	if mantissa == "" {
		mantissa = "0"
	}
	if exp < -4 || exp >= large {
		out := sign + mantissa[:1]
		if rest := mantissa[1:]; rest != "" {
			out += "." + rest
		} else if point {
			out += ".0"
		}
		e := strconv.Itoa(max(exp, -exp))
		if len(e) < 2 {
			e = "0" + e
		}
		if exp < 0 {
			return out + "e-" + e
		}
		return out + "e+" + e
	}
	whole, frac := splitDecimal(mantissa, exp)
	if frac == "" && point {
		frac = "0"
	}
	if frac == "" {
		return sign + whole
	}
	return sign + whole + "." + frac
}

// splitDecimal puts the point of d.ddd * 10^exp where it belongs.
func splitDecimal(mantissa string, exp int) (whole, frac string) {
	if exp < 0 {
		return "0", strings.Repeat("0", -exp-1) + mantissa
	}
	if len(mantissa) <= exp+1 {
		return mantissa + strings.Repeat("0", exp+1-len(mantissa)), ""
	}
	return mantissa[:exp+1], mantissa[exp+1:]
}

// decimal is a number's first digits, rounded half up, and the power of ten of the
// first of them. As in SQLite no more than 18 digits are known of a number, or 19 where
// it is ten times the power of ten that its power of two begins with.
func decimal(f float64, digits int) (string, int) {
	text := strconv.FormatFloat(math.Abs(f), 'e', 40, 64)
	head, power, _ := strings.Cut(text, "e")
	exp, _ := strconv.Atoi(power)
	_, binary := math.Frexp(f)
	known := 18 + exp - int(math.Floor(float64(binary-1)*math.Log10(2)))
	all, exp := roundDigits(head[:1]+head[2:], exp, known)
	return roundDigits(all, exp, digits)
}

// roundDigits cuts digits to n of them, rounding half up; a carry out of the front
// raises the power of ten. Less than none is none.
func roundDigits(all string, exp, n int) (string, int) {
	if n < 0 {
		return "", exp
	}
	if n >= len(all) {
		return all, exp
	}
	up := all[n] >= '5'
	out := []byte(all[:n])
	for i := n - 1; up && i >= 0; i-- {
		if out[i]++; out[i] <= '9' {
			up = false
		} else {
			out[i] = '0'
		}
	}
	if up {
		return "1" + string(out), exp + 1
	}
	return string(out), exp
}

// quoteText writes a text literal.
func quoteText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
