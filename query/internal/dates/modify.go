package dates

import (
	"math"
	"strings"

	"github.com/placectl/placectl/query/values"
)

// units are the units of a shift: how many milliseconds one has, and how many stay within the supported
// years. Whole months and years follow the calendar; only the fraction of a shift counts 30 and 365 days.
var units = map[string]struct{ millis, most float64 }{
	"second": {1000, 4.6427e14},
	"minute": {60000, 7.7379e12},
	"hour":   {3600000, 1.2897e11},
	"day":    {dayMillis, 5373485},
	"month":  {30 * dayMillis, 176546},
	"year":   {365 * dayMillis, 14713},
}

// shift applies a modifier such as +5 days. The result may lie beyond the supported years: a later
// modifier may lead back.
func shift(t Instant, m string, beyond int) (out Instant, ok, refused bool) {
	if m == "" || m[0] != '+' && m[0] != '-' && !values.IsDigit(m[0]) {
		return 0, false, false
	}
	end := strings.IndexAny(m, values.Blanks+":")
	if end < 0 {
		end = len(m)
	}
	v, whole := values.LeadingNumber(m[:end])
	if rest, _ := values.NumberPrefix(m); end < len(m) && m[end] == ':' || rest < len(m) && m[rest] == '-' {
		return 0, false, true
	}
	f := v.AsFloat()
	name := strings.TrimSuffix(strings.TrimLeft(m[end:], values.Blanks), "s")
	unit := units[name]
	if !whole || math.Abs(f) >= unit.most {
		return 0, false, false
	}
	if months := int(f); name == "month" || name == "year" {
		if name == "year" {
			months *= 12
		}
		f -= math.Trunc(f)
		c := (t - Instant(beyond*dayMillis)).civil()
		c.day += beyond
		all := c.year*12 + c.month - 1 + months
		c.year, c.month = floorDiv(all, 12), all-floorDiv(all, 12)*12+1
		if !t.Valid() || c.year < -4713 || c.year > 9999 {
			return 0, false, false
		}
		t = c.instant()
	}
	return t + Instant(f*unit.millis+math.Copysign(0.5, f)), true, false
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
// refused marks a modifier of SQLite's that we lack. Months are counted from the one that was written, of
// whose end the instant is beyond by some days.
func (t Instant) Modify(m string, beyond int) (out Instant, ok, refused bool) {
	switch m {
	case "start of day", "start of month", "start of year":
		c := t.civil()
		if m != "start of day" {
			c = (t - Instant(beyond*dayMillis)).civil()
			c.day = 1
		}
		if m == "start of year" {
			c.month = 1
		}
		c.hour, c.minute, c.millis = 0, 0, 0
		return c.instant(), t.Valid(), false
	case "end of day", "end of month", "end of year":
		return 0, false, true
	}
	if day, found := strings.CutPrefix(m, "weekday "); found {
		v, whole := values.LeadingNumber(day)
		n, isInt := values.WholeFloat(v.AsFloat())
		if !whole || !isInt || n < 0 || n > 6 {
			return 0, false, whole && isInt && -6 <= n && n < 0
		}
		at := (int64(t) + 129600000) / dayMillis % 7
		if at > n {
			at -= 7
		}
		return t + Instant((n-at)*dayMillis), t.Valid(), false
	}
	return shift(t, m, beyond)
}
