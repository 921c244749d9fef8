package values

import (
	"math"
	"strconv"
	"strings"
)

// formatReal writes a real number as SQLite does since 3.52: with 17 digits, or fewer if they read back
// as the same number, and always with a point.
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

// roundedReal returns the digits of a number as text. SQLite does not search for the shortest
// digits that read back as the number. It examines the 14th to 16th of 18 digits, and cuts
// after a run of nines or zeros there. In a number without a fraction, it also cuts a run of
// zeros before them.
func roundedReal(f float64) (string, int) {
	all, exp := Decimal(f, math.MaxInt)
	digits := 17
	switch {
	case all[14:16] == "99":
		kept := strings.TrimRight(all[:14], "9")
		if up, upExp := RoundDigits(all, exp, len(kept)); kept == "" || readsAs(up, upExp, f) {
			digits = len(kept) + 1
		}
	case exp+1 >= len(all) || all[13:16] == "000":
		kept := strings.TrimRight(all[:13], "0")
		if readsAs(kept, exp, f) {
			digits = len(kept) + 1
		}
	}
	return RoundDigits(all, exp, digits)
}

// readsAs reports whether d.ddd * 10^exp is read as f.
func readsAs(digits string, exp int, f float64) bool {
	back, err := strconv.ParseFloat(digits[:1]+"."+digits[1:]+"e"+strconv.Itoa(exp), 64)
	return err == nil && back == math.Abs(f)
}

// FormatGeneral formats as %.*g, with an exponent from 10 to the power of large on. point
// keeps or adds the decimal point.
func FormatGeneral(f float64, digits, large int, point bool) string {
	mantissa, exp := Decimal(f, digits)
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

// Decimal returns a number's first digits, rounded half up, and the power of ten of the first
// one. As in SQLite, a number has at most 18 known digits, or 19 if it is ten times the power
// of ten that its power of two begins with.
func Decimal(f float64, digits int) (string, int) {
	text := strconv.FormatFloat(math.Abs(f), 'e', 40, 64)
	head, power, _ := strings.Cut(text, "e")
	exp, _ := strconv.Atoi(power)
	_, binary := math.Frexp(f)
	known := 18 + exp - int(math.Floor(float64(binary-1)*math.Log10(2)))
	all, exp := RoundDigits(head[:1]+head[2:], exp, known)
	return RoundDigits(all, exp, digits)
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
