package oracle

import (
	"fmt"
	"strings"

	"github.com/placectl/placectl/query/values"
)

// Call makes a SELECT of one function of odd arguments: formats, dates and their modifiers, positions.
// SQLite's answers for years before 1 and for a time with a zone but no date are left out: its modifiers
// forget the zone there.
func (g *Generator) Call() string {
	call := ""
	switch g.IntN(6) {
	case 0:
		call = g.pick("printf", "format") + "(" + values.String(g.format()).Literal()
		for range g.IntN(4) {
			call += ", " + g.odd()
		}
		call += ")"
	case 1:
		call = g.pick("date", "time", "datetime", "unixepoch", "julianday") + "(" + g.date()
		for range g.IntN(4) {
			call += ", " + g.modifier()
		}
		call += ")"
	case 2:
		call = "strftime('" + g.pick("%Y-%j %H", "%f|%s|%w", "%G-%V-%u", "%W %U", "%e %k %l %p", "%R %T %F", "%J",
			"%I%M%P%g", "100%%", "%m/%d") + "', " + g.date() + g.pick("", ", "+g.modifier()) + ")"
	case 3:
		call = "substr(" + g.odd() + ", " + g.odd() + g.pick("", ", "+g.odd(), ", 2") + ")"
	case 4:
		call = g.pick("quote", "hex", "typeof", "length", "abs", "round", "floor", "ceil", "sign", "json_array", "trim",
			"upper", "lower") + "(" + g.odd() + ")"
	default:
		call = g.odd() + g.pick(" + ", " - ", " * ", " / ", " % ", " || ", " & ", " << ", " >> ", " = ", " < ", " IS ",
			" LIKE ", " GLOB ") + g.odd()
	}
	return "SELECT typeof(x), x FROM (SELECT " + call + " AS x)"
}

// odd makes an argument.
func (g *Generator) odd() string {
	return g.pick("NULL", "0", "1", "-1", "3", "-5", "2.5", "-0.5", "1e15", "1e17", "123456789.987654321", "9e999",
		"-9e999", "1e-5", "1e-300",
		"9223372036854775807", "(-9223372036854775807 - 1)", "9223372036854775808", "9007199254740993",
		"4503599627370497.5", "999999.5", "2147483648", "-2147483649", "4294967296",
		"''", "'a'", "'Ä'", "'日本語'", "' x '", "'1'", "'1.5'", "' 12 '", "'12x'", "'1e3'", "'0x10'", "'inf'", "'.5'",
		"'5.'", "'it''s'", "'a%b_c'", "'[a-z]*'", "'%'", "'*'", "'-9223372036854775809'", "'1e400'",
		fmt.Sprint(g.Int64()-g.Int64()), fmt.Sprintf("%g", g.NormFloat64()), fmt.Sprintf("%.12g", g.NormFloat64()*1e10))
}

// format makes a format of printf.
func (g *Generator) format() string {
	var b strings.Builder
	for range 1 + g.IntN(3) {
		b.WriteString(g.pick("", "x", " ", "%%") + "%")
		for range g.IntN(3) {
			b.WriteString(g.pick("-", "+", " ", "0", ",", "!"))
		}
		b.WriteString(g.pick("", "", "1", "5", "12", "*", "30", "007") + g.pick("", "", ".", ".0", ".1", ".3", ".10",
			".15", ".*") + g.pick("", "", "l", "ll"))
		b.WriteString(g.pick("d", "i", "u", "f", "e", "E", "g", "G", "x", "X", "o", "s", "z", "c", "q", "Q", "w", "%",
			"d", "f", "s", "k"))
	}
	return b.String()
}

// date makes an instant as date functions take it.
func (g *Generator) date() string {
	day := fmt.Sprintf("%s-%02d-%02d", g.pick("2024", "2023", "1970", "9998", "2000", "1900", "0001",
		fmt.Sprintf("%04d", 1+g.IntN(9998))), 1+g.IntN(12), 1+g.IntN(28))
	clock := fmt.Sprintf("%02d:%02d", g.IntN(25), g.IntN(60)) + g.pick("", ":00", ":07", ":59", ":59.5", ":59.9995",
		":01.123456789", ":60", ":1")
	switch g.IntN(6) {
	case 0:
		return "'" + day + "'"
	case 1:
		return "'" + clock + "'"
	case 2:
		return g.pick("2460000", "2460000.5", "1700000000", "5373484.4999999", "5373484.5", "-1", "2440587.5",
			"'2460000'", "' 2460000 '", "'1e3'", "'+5000000'", "1e10")
	case 3:
		return g.pick("'2024-1-1'", "'20240101'", "'2024-02-30'", "'2023-02-29'", "'2023-04-31'", "'2024-04-31 10:00'",
			"'+2024-01-01'", "'2024-01-01 '", "' 2024-01-01'", "'24:00'", "'24:00:01'", "'2024-00-10'", "'2024-13-01'",
			"NULL", "''", "'x'")
	}
	return "'" + day + g.pick(" ", "T", "  ", "t", "") + clock + g.pick("", "", "Z", " z", "+02:00", "-05:30", "+14:00",
		"+15:00", "+1:00", "x", " ") + "'"
}

// modifier makes a modifier of a date.
func (g *Generator) modifier() string {
	if g.chance(30) {
		return "'" + g.pick("start of month", "start of year", "Start Of Month", "start of week", " start of year",
			"weekday 0", "weekday 3", "weekday 6", "weekday 7", "weekday 1.0", "weekday 1.5", "weekday x", "") + "'"
	}
	n := g.pick("1", "+1", "-1", "0", "12", "-13", "1.5", "-1.5", "+0.5", "100", "-100", "146097", "1e3", "1e10",
		"99999999999", ".5", "-.5", "+30", "31", "0.001", "0.0004", "373", "x", fmt.Sprint(g.IntN(4000)-2000))
	return "'" + n + g.pick(" ", " ", "", "  ") + g.pick("second", "seconds", "minute", "minutes", "hour", "hours",
		"day", "days", "month", "months", "year", "years", "DAY", "week", "dayss", "day ", "s") + "'"
}
