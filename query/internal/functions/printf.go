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
	minus, zero, comma, alt, bang bool

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
		if why := d.lacking(v); why != "" {
			return e.Fail(fmt.Errorf("%w: printf: %s", fault.ErrQuery, why))
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
		case '#':
			d.alt = true
		case '!':
			d.bang = true
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
	return d, s[i+1:], strings.IndexByte("diufeEgGxXoszcqQw%"+lacks, d.verb) >= 0
}

// lacks are SQLite's directives that we lack.
const lacks = "rpnjJ"

// lacking returns why a value cannot be written as SQLite does, "" if it can.
func (d *directive) lacking(v values.Value) string {
	float := strings.IndexByte("feEgG", d.verb) >= 0
	switch {
	case strings.IndexByte(lacks, d.verb) >= 0:
		return fmt.Sprintf("%%%c is not supported", d.verb)
	case d.alt && (float || d.verb == 'q' || d.verb == 'Q'):
		return fmt.Sprintf("# is not supported with %%%c", d.verb)
	case float && d.bang && d.precision > 15:
		return "with ! no more than 15 digits are supported"
	case float && d.zero && math.IsInf(v.AsFloat(), 0):
		return "infinity cannot be filled with zeros"
	}
	return ""
}

func (d *directive) format(v values.Value) string {
	switch d.verb {
	case 'd', 'i':
		n := v.AsInt()
		return d.integer(values.Magnitude(n), d.sign(n < 0))
	case 'u':
		return d.integer(uint64(v.AsInt()), "")
	case 'x', 'X', 'o':
		return d.unsigned(uint64(v.AsInt()))
	case 'f', 'e', 'E', 'g', 'G':
		return d.float(v.AsFloat())
	case 'c':
		d.bang = true // counts as one character, however many bytes it has
		r, n := utf8.DecodeRuneInString(v.String())
		if n == 0 {
			r = 0
		}
		return d.pad(strings.Repeat(string(r), max(d.precision, 1)))
	}
	s := v.String()
	switch {
	case d.verb == 'Q' && v.Kind() == values.Null:
		s = "NULL"
	case v.Kind() == values.Null && d.verb != 's' && d.verb != 'z':
		s = "(NULL)"
	}
	if d.precision >= 0 {
		s = cutText(s, d.precision, d.bang)
	}
	switch d.verb {
	case 'q':
		s = strings.ReplaceAll(s, "'", "''")
	case 'Q':
		if v.Kind() != values.Null {
			s = values.Quote(s)
		}
	case 'w':
		s = strings.ReplaceAll(s, `"`, `""`)
	}
	return d.pad(s)
}

// cutText keeps n bytes, or with ! n characters.
func cutText(s string, n int, characters bool) string {
	if !characters {
		return s[:min(n, len(s))]
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// pad fills up to the width. As in SQLite it counts bytes, or with ! characters.
func (d *directive) pad(s string) string {
	missing := d.width - len(s)
	if d.bang {
		missing = d.width - utf8.RuneCountInString(s)
	}
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
	base, prefix := 16, "0x"
	if d.verb == 'o' {
		base, prefix = 8, "0"
	}
	digits := strconv.FormatUint(n, base)
	if d.verb == 'X' {
		digits, prefix = values.Upper(digits), "0X"
	}
	if digits = d.whole(digits, ""); d.alt && n != 0 {
		digits = prefix + digits
	}
	return d.pad(digits)
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
		digits = formatFixedDigits(f, precision, d.digits())
	case 'e', 'E':
		digits = formatExponent(f, precision)
	default:
		precision = max(precision, 1)
		digits = values.FormatGeneral(f, min(precision, d.digits()), precision, d.bang)
	}
	if d.bang && d.verb != 'g' && d.verb != 'G' {
		digits = trimZeros(digits)
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

// trimZeros drops zeros at the end, but leaves one digit after the point.
func trimZeros(digits string) string {
	head, power, _ := strings.Cut(digits, "e")
	whole, frac, _ := strings.Cut(head, ".")
	if frac = strings.TrimRight(frac, "0"); frac == "" {
		frac = "0"
	}
	head = whole + "." + frac
	if power != "" {
		return head + "e" + power
	}
	return head
}

// digits returns the number of significant digits: 16, or with ! 26.
func (d *directive) digits() int {
	if d.bang {
		return 26
	}
	return 16
}

// formatFixed is %!.*f.
func formatFixed(f float64, decimals int) string {
	sign := ""
	if f < 0 {
		sign = "-"
	}
	return sign + formatFixedDigits(math.Abs(f), decimals, 26)
}

// formatFixedDigits writes a number of decimals, and zeros after the last significant digit.
func formatFixedDigits(f float64, decimals, counting int) string {
	if f == 0 {
		return withPoint("0", strings.Repeat("0", decimals))
	}
	text, exp := values.Decimal(f, math.MaxInt)
	text, power := values.RoundDigits(text, exp, min(exp+1+decimals, counting))
	if text == "" {
		return withPoint("0", strings.Repeat("0", decimals))
	}
	whole, frac := values.SplitDecimal(text, power)
	if len(frac) < decimals {
		frac += strings.Repeat("0", decimals-len(frac))
	}
	return withPoint(whole, frac[:decimals])
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
	text, exp := values.Decimal(f, math.MaxInt)
	text, exp = values.RoundDigits(text, exp, min(decimals+1, 16))
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
