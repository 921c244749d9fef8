package query

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Dates are counted in milliseconds since noon of 24 November 4714 BC, as SQLite
// does: Julian days, on the Gregorian calendar throughout (Meeus, Astronomical
// Algorithms, chapter 7). All is UTC.
type instant int64

const (
	dayMillis   = 86400000
	epochMillis = 210866760000000 // 1970-01-01
	lastInstant = 464269060799999 // the end of 9999
)

func (t instant) valid() bool { return t >= 0 && t <= lastInstant }

// civil is an instant by the calendar and the clock.
type civil struct {
	year, month, day, hour, minute int
	millis                         int // of the minute
}

func (t instant) civil() civil {
	z := int((int64(t) + dayMillis/2) / dayMillis)
	alpha := int((float64(z)+32044.75)/36524.25) - 52
	a := z + 1 + alpha - (alpha+100)/4 + 25
	b := a + 1524
	c := int((float64(b) - 122.1) / 365.25)
	d := 36525 * (c & 32767) / 100
	e := int(float64(b-d) / 30.6001)
	out := civil{day: b - d - int(30.6001*float64(e)), month: e - 1}
	if e >= 14 {
		out.month = e - 13
	}
	if out.year = c - 4716; out.month <= 2 {
		out.year = c - 4715
	}
	ms := int((int64(t) + dayMillis/2) % dayMillis)
	out.hour, out.minute, out.millis = ms/3600000, ms/60000%60, ms%60000
	return out
}

// instant is the other way; days and months beyond their range lead on.
func (c civil) instant() instant {
	y, m := c.year, c.month
	if m <= 2 {
		y, m = y-1, m+12
	}
	a := (y + 4800) / 100
	b := 38 - a + a/4
	x1 := 36525 * (y + 4716) / 100
	x2 := 306001 * (m + 1) / 10000
	day := float64(x1+x2+c.day+b) - 1524.5
	return instant(int64(day*dayMillis) + int64(c.hour)*3600000 + int64(c.minute)*60000 + int64(c.millis))
}

// dateFunction compiles date, time, datetime, julianday, unixepoch and strftime. Numbers
// are Julian days as in SQLite, but seconds where they are times.
func (s *scope) dateFunction(x *Call, seconds bool) func(*env, []Value) Value {
	now := func(e *env) (instant, bool) {
		if s.c.opt.Now == nil {
			e.fail(&Error{s.c.text, x.pos, "what time it is now is not known here"})
			return 0, false
		}
		return instant(s.c.opt.Now()*1000 + epochMillis), true
	}
	if x.Name == "now" {
		return func(e *env, _ []Value) Value {
			t, _ := now(e)
			return Int(t.seconds())
		}
	}
	show := map[string]string{"date": "%F", "time": "%T", "datetime": "%F %T"}[x.Name]
	return func(e *env, args []Value) Value {
		format := show
		if x.Name == "strftime" {
			format, args = args[0].String(), args[1:]
		}
		t, ok := s.instantOf(e, x, args, seconds, now)
		switch {
		case !ok || e.err != nil:
			return Value{}
		case x.Name == "unixepoch":
			return Int(t.seconds())
		case x.Name == "julianday":
			return Float(float64(t) / dayMillis)
		}
		text, ok := strftime(format, t)
		if !ok {
			return e.fail(&Error{s.c.text, x.pos, fmt.Sprintf("strftime does not know all of %s", quoteText(format))})
		}
		return e.text(text)
	}
}

// instantOf reads a time value and its modifiers; not ok is NULL.
func (s *scope) instantOf(e *env, x *Call, args []Value, seconds bool, now func(*env) (instant, bool)) (instant, bool) {
	if len(args) == 0 {
		return now(e)
	}
	first, mods := args[0], args[1:]
	var t instant
	ok := true
	if text := strings.TrimSpace(first.String()); first.kind == Text && strings.EqualFold(text, "now") {
		t, ok = now(e)
	} else if v, whole := leadingNumber(text); whole {
		f := v.asFloat()
		marked := len(mods) > 0 && (strings.EqualFold(mods[0].String(), "unixepoch") || seconds && strings.EqualFold(mods[0].String(), "auto"))
		if marked {
			mods = mods[1:]
		}
		if marked || seconds {
			t = instant(math.Floor(f*1000+0.5) + epochMillis)
			if f < -210866760000 || f > 253402300799 {
				return 0, false
			}
		} else {
			if f < 0 || f >= 5373484.5 {
				return 0, false
			}
			t = instant(f*dayMillis + 0.5)
		}
	} else {
		t, ok = parseInstant(first.String())
	}
	for _, m := range mods {
		if !ok {
			return 0, false
		}
		var refused bool
		if t, ok, refused = s.modify(t, m.String()); refused {
			e.fail(&Error{s.c.text, x.pos, fmt.Sprintf("the modifier %s is not supported", quoteText(m.String()))})
		}
	}
	return t, ok && t.valid()
}

// parseInstant reads YYYY-MM-DD, HH:MM[:SS[.SSS]] or both, with a zone or without.
func parseInstant(s string) (instant, bool) {
	c := civil{year: 2000, month: 1, day: 1}
	if len(s) >= 10 && s[4] == '-' && s[7] == '-' {
		var ok [3]bool
		c.year, ok[0] = digits(s[:4], 9999)
		c.month, ok[1] = digits(s[5:7], 12)
		c.day, ok[2] = digits(s[8:10], 31)
		if ok != [3]bool{true, true, true} || c.month < 1 || c.day < 1 {
			return 0, false
		}
		s = strings.TrimLeft(s[10:], blanks+"T")
		if s == "" {
			return c.instant(), true
		}
	}
	if len(s) < 5 || s[2] != ':' {
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
		if len(s) > 4 && s[3] == '.' && isDigit(s[4]) {
			for end = 4; end < len(s) && isDigit(s[end]); end++ {
			}
		}
		seconds, ok := digits(s[1:3], 59)
		fraction, _ := strconv.ParseFloat("0"+s[3:end], 64)
		if c.millis = seconds*1000 + int(fraction*1000+0.5); !ok {
			return 0, false
		}
		s = s[end:]
	}
	offset, ok := zoneOffset(strings.TrimLeft(s, blanks))
	return c.instant() - instant(offset*60000), ok
}

// zoneOffset reads nothing, Z, or +HH:MM, in minutes.
func zoneOffset(s string) (int, bool) {
	s = strings.TrimRight(s, blanks)
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
		if !isDigit(s[i]) {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, n <= most
}

// modify applies a modifier; not ok is NULL, refused one that SQLite has and we do
// not.
func (s *scope) modify(t instant, m string) (out instant, ok, refused bool) {
	m = strings.ToLower(m)
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
	case "localtime", "utc":
		switch {
		case s.c.opt.Ahead == nil:
			return 0, false, true
		case m == "utc":
			return s.c.opt.toUTC(t), true, false
		}
		return t + instant(s.c.opt.Ahead(t.seconds())*1000), true, false
	case "auto", "julianday", "unixepoch", "subsec", "subsecond", "ceiling", "floor":
		return 0, false, true
	}
	if day, found := strings.CutPrefix(m, "weekday "); found {
		v, whole := leadingNumber(day)
		n, isInt := wholeFloat(v.asFloat())
		if !whole || !isInt || n < 0 || n > 6 {
			return 0, false, false
		}
		at := (int64(t) + 129600000) / dayMillis % 7
		if at > n {
			at -= 7
		}
		return t + instant((n-at)*dayMillis), true, false
	}
	return shift(t, m)
}

// shift applies +5 days and the like.
func shift(t instant, m string) (out instant, ok, refused bool) {
	end, _ := numberPrefix(m)
	if end == 0 {
		return 0, false, false
	}
	if rest := m[end:]; strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, "-") {
		return 0, false, true
	}
	v, _ := leadingNumber(m[:end])
	f := v.asFloat()
	unit := strings.TrimSuffix(strings.TrimLeft(m[end:], blanks), "s")
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
	out = t + instant(moved)
	return out, out.valid(), false
}

func floorDiv(a, b int) int {
	if a < 0 {
		return -((-a + b - 1) / b)
	}
	return a / b
}

// strftime writes an instant; not ok for a format that is not known.
func strftime(format string, t instant) (string, bool) {
	c := t.civil()
	second := c.millis / 1000
	weekday := int((int64(t) + 129600000) / dayMillis % 7)
	jan1 := civil{year: c.year, month: 1, day: 1}.instant()
	yearDay := int((t - jan1) / dayMillis)
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b.WriteByte(format[i])
			continue
		}
		if i++; i >= len(format) {
			return "", false
		}
		switch format[i] {
		case 'd':
			fmt.Fprintf(&b, "%02d", c.day)
		case 'e':
			fmt.Fprintf(&b, "%2d", c.day)
		case 'f':
			fmt.Fprintf(&b, "%02d.%03d", second, c.millis%1000)
		case 'F':
			fmt.Fprintf(&b, "%s-%02d-%02d", yearText(c.year), c.month, c.day)
		case 'H':
			fmt.Fprintf(&b, "%02d", c.hour)
		case 'j':
			fmt.Fprintf(&b, "%03d", yearDay+1)
		case 'm':
			fmt.Fprintf(&b, "%02d", c.month)
		case 'M':
			fmt.Fprintf(&b, "%02d", c.minute)
		case 'R':
			fmt.Fprintf(&b, "%02d:%02d", c.hour, c.minute)
		case 's':
			fmt.Fprintf(&b, "%d", (int64(t)-epochMillis)/1000)
		case 'S':
			fmt.Fprintf(&b, "%02d", second)
		case 'T':
			fmt.Fprintf(&b, "%02d:%02d:%02d", c.hour, c.minute, second)
		case 'u':
			fmt.Fprintf(&b, "%d", (weekday+6)%7+1)
		case 'w':
			fmt.Fprintf(&b, "%d", weekday)
		case 'W':
			fmt.Fprintf(&b, "%02d", (yearDay+7-(weekday+6)%7)/7)
		case 'Y':
			b.WriteString(yearText(c.year))
		case '%':
			b.WriteByte('%')
		default:
			return "", false
		}
	}
	return b.String(), true
}

func yearText(year int) string {
	if year < 0 {
		return fmt.Sprintf("-%04d", -year)
	}
	return fmt.Sprintf("%04d", year)
}
