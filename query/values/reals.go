package values

import (
	"math"
	"strconv"
	"strings"
)

// formatReal writes a real number with as many digits as are needed to read it back, and always with a
// point.
func formatReal(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "Inf"
	case math.IsInf(f, -1):
		return "-Inf"
	case f == 0:
		return "0.0"
	}
	mantissa, exp := Digits(f, -1)
	return General(f < 0, mantissa, exp, 17, true)
}

// Digits returns the first digit of a number and n more, or with -1 as many as are needed to read it back,
// and the power of ten of the first one.
func Digits(f float64, n int) (digits string, exp int) {
	head, power, _ := strings.Cut(strconv.FormatFloat(math.Abs(f), 'e', n, 64), "e")
	exp, _ = strconv.Atoi(power)
	return strings.Replace(head, ".", "", 1), exp
}

// General writes digits as %g does, with an exponent from 10 to the power of large on. point adds a decimal
// point if there is none.
func General(negative bool, mantissa string, exp, large int, point bool) string {
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
	whole, frac := SplitDecimal(mantissa, exp)
	if frac == "" && point {
		frac = "0"
	}
	if frac == "" {
		return sign + whole
	}
	return sign + whole + "." + frac
}

// SplitDecimal splits d.ddd * 10^exp at its decimal point.
func SplitDecimal(mantissa string, exp int) (whole, frac string) {
	if exp < 0 {
		return "0", strings.Repeat("0", -exp-1) + mantissa
	}
	if len(mantissa) <= exp+1 {
		return mantissa + strings.Repeat("0", exp+1-len(mantissa)), ""
	}
	return mantissa[:exp+1], mantissa[exp+1:]
}

// RoundDigits cuts digits to n, at least 0, and rounds half up. A carry out of the first digit raises
// the power of ten.
func RoundDigits(all string, exp, n int) (string, int) {
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
