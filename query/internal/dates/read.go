package dates

import (
	"strconv"
	"strings"

	"github.com/placectl/placectl/query/values"
)

// Beyond returns by how many days a text without a zone names a day after the end of its month:
// 3 for 2023-02-31.
func Beyond(s string) int {
	s = strings.TrimPrefix(s, "-")
	if len(s) < 10 || s[4] != '-' || strings.ContainsAny(s[10:], "+-") {
		return 0
	}
	day, _ := digits(s[8:10], 31)
	t, ok := Parse(s[:10])
	if got := t.civil().day; ok && got != day {
		return got
	}
	return 0
}

// Parse reads [-]YYYY-MM-DD, HH:MM[:SS[.SSS]] or both, with or without a zone.
func Parse(s string) (Instant, bool) {
	c := civil{year: 2000, month: 1, day: 1}
	s, before := strings.CutPrefix(s, "-")
	if len(s) >= 10 && s[4] == '-' && s[7] == '-' {
		var ok [3]bool
		c.year, ok[0] = digits(s[:4], 9999)
		c.month, ok[1] = digits(s[5:7], 12)
		c.day, ok[2] = digits(s[8:10], 31)
		if ok != [3]bool{true, true, true} || c.month < 1 || c.day < 1 {
			return 0, false
		}
		if before {
			c.year, before = -c.year, false
		}
		s = strings.TrimLeft(s[10:], values.Blanks+"T")
		if s == "" {
			return c.instant(), true
		}
	}
	if len(s) < 5 || s[2] != ':' || before {
		return 0, false
	}
	var ok1, ok2 bool
	c.hour, ok1 = digits(s[:2], 24)
	c.minute, ok2 = digits(s[3:5], 59)
	if s = s[5:]; !ok1 || !ok2 {
		return 0, false
	}
	if strings.HasPrefix(s, ":") {
		if len(s) < 3 {
			return 0, false
		}
		end := 3
		if len(s) > 4 && s[3] == '.' && values.IsDigit(s[4]) {
			for end = 4; end < len(s) && values.IsDigit(s[end]); end++ {
			}
		}
		seconds, ok := digits(s[1:3], 59)
		fraction, _ := strconv.ParseFloat("0"+s[3:end], 64)
		if c.millis = int((float64(seconds)+min(fraction, 0.999))*1000 + 0.5); !ok || c.hour == 24 && fraction > 0 {
			return 0, false
		}
		s = s[end:]
	}
	if c.hour == 24 && c.minute+c.millis > 0 {
		return 0, false
	}
	offset, ok := zoneOffset(strings.TrimLeft(s, values.Blanks))
	return c.instant() - Instant(offset*60000), ok
}

// zoneOffset reads "", Z or +HH:MM, and returns minutes.
func zoneOffset(s string) (int, bool) {
	s = strings.TrimRight(s, values.Blanks)
	if s == "" || s == "Z" || s == "z" {
		return 0, true
	}
	if len(s) != 6 || s[3] != ':' || s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	h, ok1 := digits(s[1:3], 14)
	m, ok2 := digits(s[4:], 59)
	if s[0] == '-' {
		h, m = -h, -m
	}
	return h*60 + m, ok1 && ok2
}

func digits(s string, most int) (int, bool) {
	n := 0
	for i := 0; i < len(s); i++ {
		if !values.IsDigit(s[i]) {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, n <= most
}
