package functions

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/placectl/placectl/query/fault"
	"github.com/placectl/placectl/query/values"
)

// directive is one % directive of a format.
type directive struct {
	minus, zero, comma bool

	positive  string // what stands before a number that is not negative
	width     int
	precision int // -1 for none
	verb      byte
}

// printf is SQLite's printf(): missing arguments are NULL, and further ones are ignored.
func printf(e *Budget, a []values.Value) values.Value {
	if a[0].Kind() == values.Null {
		return values.Value{}
	}
	format, args := a[0].String(), a[1:]
	next := func() values.Value {
		if len(args) == 0 {
			return values.Value{}
		}
		v := args[0]
		args = args[1:]
		return v
	}
	var b strings.Builder
	for {
		i := strings.IndexByte(format, '%')
		if i < 0 {
			b.WriteString(format)
			return e.Text(b.String())
		}
		b.WriteString(format[:i])
		var d directive
		var ok bool
		if d, format, ok = readDirective(format[i+1:], next); !ok {
			if d.verb == 0 && format == "" {
				b.WriteByte('%')
			}
			return e.Text(b.String())
		}
		if d.width > maxString || d.precision > maxString || b.Len() > maxString {
			return e.Fail(&fault.LimitError{What: "bytes in one text", Limit: maxString})
		}
		if d.verb == '%' {
			b.WriteString(d.pad("%"))
			continue
		}
		v := next()
		if strings.IndexByte("difeEgGxXosc", d.verb) < 0 {
			return e.Fail(fmt.Errorf("%w: printf: %%%c is not supported: there are d, i, f, e, g, x, o, s and c, "+
				"behind - + 0 , or a blank", fault.ErrQuery, d.verb))
		}
		if d.zero && strings.IndexByte("feEgG", d.verb) >= 0 && math.IsInf(v.AsFloat(), 0) {
			return e.Fail(fmt.Errorf("%w: printf: infinity cannot be filled with zeros", fault.ErrQuery))
		}
		b.WriteString(d.format(v))
	}
}

// readDirective reads what follows a %; ok is false if it is no directive.
func readDirective(s string, next func() values.Value) (d directive, rest string, ok bool) {
	d.precision = -1
	i := 0
flags:
	for ; i < len(s); i++ {
		switch s[i] {
		case '-':
			d.minus = true
		case '+', ' ':
			d.positive = s[i : i+1]
		case '0':
			d.zero = true
		case ',':
			d.comma = true
		default:
			break flags
		}
	}
	number := func() int {
		if i < len(s) && s[i] == '*' {
			i++
			return int(min(max(next().AsInt(), -maxString-1), maxString+1))
		}
		n := 0
		for ; i < len(s) && values.IsDigit(s[i]); i++ {
			n = min(n*10+int(s[i]-'0'), maxString+1)
		}
		return n
	}
	if d.width = number(); d.width < 0 {
		d.minus, d.width = true, -d.width
	}
	if i < len(s) && s[i] == '.' {
		i++
		if d.precision = number(); d.precision < 0 {
			d.precision = -d.precision
		}
	}
	for i < len(s) && s[i] == 'l' {
		i++
	}
	if i >= len(s) {
		return d, "", false
	}
	d.verb = s[i]
	return d, s[i+1:], true
}

func (d *directive) format(v values.Value) string {
	switch d.verb {
	case 'd', 'i':
		n := v.AsInt()
		return d.integer(values.Magnitude(n), d.sign(n < 0))
	case 'x', 'X', 'o':
		return d.unsigned(uint64(v.AsInt()))
	case 'f', 'e', 'E', 'g', 'G':
		return d.float(v.AsFloat())
	case 'c':
		r, n := utf8.DecodeRuneInString(v.String())
		if n == 0 {
			r = 0
		}
		times := max(d.precision, 1)
		d.width += times * (len(string(r)) - 1) // it counts as one character, however many bytes it has
		return d.pad(strings.Repeat(string(r), times))
	}
	s := v.String()
	if d.precision >= 0 {
		s = s[:min(d.precision, len(s))]
	}
	return d.pad(s)
}

// pad fills up to the width. As in SQLite it counts bytes.
func (d *directive) pad(s string) string {
	missing := d.width - len(s)
	switch {
	case missing <= 0:
		return s
	case d.minus:
		return s + strings.Repeat(" ", missing)
	}
	return strings.Repeat(" ", missing) + s
}

// sign returns what stands before a number.
func (d *directive) sign(negative bool) string {
	if negative {
		return "-"
	}
	return d.positive
}

// whole fills the digits of an integer with zeros, to the precision and beside a sign to the width.
func (d *directive) whole(digits, sign string) string {
	n := d.precision
	if d.zero {
		n = max(n, d.width-len(sign))
	}
	return strings.Repeat("0", max(0, n-len(digits))) + digits
}

func (d *directive) integer(n uint64, sign string) string {
	digits := d.whole(strconv.FormatUint(n, 10), sign)
	if d.comma {
		digits = parted(digits)
	}
	return d.pad(sign + digits)
}

// parted puts commas between groups of three digits.
func parted(digits string) string {
	var b strings.Builder
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(digits[i])
	}
	return b.String()
}

func (d *directive) unsigned(n uint64) string {
	base := 16
	if d.verb == 'o' {
		base = 8
	}
	digits := strconv.FormatUint(n, base)
	if d.verb == 'X' {
		digits = values.Upper(digits)
	}
	return d.pad(d.whole(digits, ""))
}

func (d *directive) float(f float64) string {
	precision := d.precision
	if precision < 0 {
		precision = 6
	}
	sign := d.sign(f < 0)
	if math.IsInf(f, 0) {
		return d.pad(sign + "Inf")
	}
	f = math.Abs(f)
	var digits string
	switch d.verb {
	case 'f':
		digits = formatFixed(f, precision, -1)
	case 'e', 'E':
		digits = formatExponent(f, precision)
	default:
		precision = max(precision, 1)
		text, exp := values.Digits(f, -1)
		text, exp = values.RoundDigits(text, exp, precision)
		digits = values.General(false, text, exp, precision, false)
	}
	if d.comma {
		end := len(digits)
		if i := strings.IndexAny(digits, ".e"); i >= 0 {
			end = i
		}
		digits = parted(digits[:end]) + digits[end:]
	}
	if d.verb == 'E' || d.verb == 'G' {
		digits = values.Upper(digits)
	}
	if d.zero && !d.minus {
		digits = strings.Repeat("0", max(0, d.width-len(sign)-len(digits))) + digits
	}
	return d.pad(sign + digits)
}

// formatFixed writes a number of decimals of a number that is not negative, rounded half up from the first
// digit and n more, or with -1 from those that are needed to read it back.
func formatFixed(f float64, decimals, n int) string {
	text, exp := values.Digits(f, n)
	text, exp = values.RoundDigits(text, exp, exp+1+decimals)
	if text == "" {
		text, exp = "0", 0
	}
	whole, frac := values.SplitDecimal(text, exp)
	return withPoint(whole, (frac + strings.Repeat("0", decimals))[:decimals])
}

func withPoint(whole, frac string) string {
	if frac == "" {
		return whole
	}
	return whole + "." + frac
}

func formatExponent(f float64, decimals int) string {
	if f == 0 {
		return withPoint("0", strings.Repeat("0", decimals)) + "e+00"
	}
	text, exp := values.Digits(f, -1)
	text, exp = values.RoundDigits(text, exp, decimals+1)
	text += strings.Repeat("0", max(0, decimals+1-len(text)))
	sign := "+"
	if exp < 0 {
		sign, exp = "-", -exp
	}
	power := strconv.Itoa(exp)
	if len(power) < 2 {
		power = "0" + power
	}
	return withPoint(text[:1], text[1:decimals+1]) + "e" + sign + power
}
