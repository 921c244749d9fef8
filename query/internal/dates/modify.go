package dates

import (
	"math"
	"strings"

	"github.com/placectl/placectl/query/values"
)

// shift applies a modifier such as +5 days.
func shift(t Instant, m string) (out Instant, ok, refused bool) {
	end, _ := values.NumberPrefix(m)
	if end == 0 {
		return 0, false, false
	}
	if rest := m[end:]; strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, "-") {
		return 0, false, true
	}
	v, _ := values.LeadingNumber(m[:end])
	f := v.AsFloat()
	unit := strings.TrimSuffix(strings.TrimLeft(m[end:], values.Blanks), "s")
	size := map[string]float64{"second": 1000, "minute": 60000, "hour": 3600000, "day": dayMillis}[unit]
	if math.Abs(f) > 1e12 {
		return 0, false, false
	}
	switch {
	case size != 0:
	case unit == "month" || unit == "year":
		months := int(f)
		size = 30 * dayMillis
		if unit == "year" {
			months, size = 12*int(f), 365*dayMillis
		}
		if months < -120000 || months > 120000 {
			return 0, false, false
		}
		f -= math.Trunc(f)
		c := t.civil()
		all := c.year*12 + c.month - 1 + months
		c.year, c.month = floorDiv(all, 12), all-floorDiv(all, 12)*12+1
		if c.year < 0 || c.year > 9999 {
			return 0, false, false
		}
		if t = c.instant(); f == 0 {
			return t, true, false
		}
	default:
		return 0, false, false
	}
	moved := f*size + math.Copysign(0.5, f)
	out = t + Instant(moved)
	return out, out.Valid(), false
}

func floorDiv(a, b int) int {
	if a < 0 {
		return -((-a + b - 1) / b)
	}
	return a / b
}

// CutTo returns the beginning of the instant's day, month and so on, or -1 for an unknown
// part.
func (t Instant) CutTo(part string) Instant {
	c := t.civil()
	switch c.millis -= c.millis % 1000; part {
	case "second":
		return c.instant()
	case "minute":
		c.millis = 0
		return c.instant()
	}
	c.minute, c.millis = 0, 0
	switch part {
	case "hour":
		return c.instant()
	case "day":
		c.hour = 0
	case "week":
		c.hour = 0
		day := c.instant()
		return day - Instant((int64(day)+dayMillis/2)/dayMillis%7*dayMillis)
	case "month":
		c.hour, c.day = 0, 1
	case "quarter":
		c.hour, c.day, c.month = 0, 1, (c.month-1)/3*3+1
	case "year":
		c.hour, c.day, c.month = 0, 1, 1
	default:
		return -1
	}
	return c.instant()
}

// Modify applies a modifier that needs no zone, in lower case. If ok is false the result is NULL;
// refused marks a modifier of SQLite's that we lack.
func (t Instant) Modify(m string) (out Instant, ok, refused bool) {
	switch m {
	case "start of day", "start of month", "start of year":
		c := t.civil()
		c.hour, c.minute, c.millis = 0, 0, 0
		if m != "start of day" {
			c.day = 1
		}
		if m == "start of year" {
			c.month = 1
		}
		return c.instant(), true, false
	}
	if day, found := strings.CutPrefix(m, "weekday "); found {
		v, whole := values.LeadingNumber(day)
		n, isInt := values.WholeFloat(v.AsFloat())
		if !whole || !isInt || n < 0 || n > 6 {
			return 0, false, false
		}
		at := (int64(t) + 129600000) / dayMillis % 7
		if at > n {
			at -= 7
		}
		return t + Instant((n-at)*dayMillis), true, false
	}
	return shift(t, m)
}
