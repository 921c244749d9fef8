package text

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// durationUnits lists the units from the longest down, the order in which they must be
// written.
var durationUnits = []struct {
	name string
	size time.Duration
}{
	{"w", 7 * 24 * time.Hour},
	{"d", 24 * time.Hour},
	{"h", time.Hour},
	{"m", time.Minute},
	{"s", time.Second},
	{"ms", time.Millisecond},
}

// ParseDuration reads a duration as people and other schedulers write it: 90 (seconds),
// 1:30:00, 2-12:00:00 (days first), 1h30m, 2d12h, 1.5h. As in PBS and Slurm, two numbers,
// 1:30, are minutes and seconds; after days, the first number is hours. It refuses negative
// durations and those that time.Duration cannot hold (292 years).
func ParseDuration(s string) (time.Duration, error) {
	switch {
	case isNegative(s):
		return 0, badDuration(s, "it is negative")
	case allDigits(s):
		return addUnits(0, s, "", time.Second, s)
	case strings.ContainsAny(s, ":-"):
		return parseClockDuration(s)
	default:
		return parseUnits(s)
	}
}

// isNegative reports whether a text is a number with a sign rather than a word that begins
// with a dash.
func isNegative(s string) bool {
	return len(s) > 1 && s[0] == '-' && (isDigit(s[1]) || s[1] == '.')
}

func badDuration(s, why string) error {
	return fmt.Errorf("%q is not a duration: %s; write 90 (seconds), 45s, 1h30m, 2d12h, 1:30:00 or 2-12:00:00", s, why)
}

// parseClockDuration reads [[H:]M:]S and D-H[:M[:S]].
func parseClockDuration(s string) (time.Duration, error) {
	fields := []struct {
		size time.Duration
		top  string // the field's maximum unless it is the first
		name string
	}{
		{24 * time.Hour, "", "days"}, {time.Hour, "23", "hours"}, {time.Minute, "59", "minutes"},
		{time.Second, "59", "seconds"},
	}
	days, clock, hasDays := strings.Cut(s, "-")
	var parts []string
	if hasDays {
		parts = append(parts, days)
	} else {
		clock = s
		fields = fields[max(0, 3-strings.Count(s, ":")):]
	}
	parts = append(parts, strings.Split(clock, ":")...)
	if len(parts) > len(fields) || !hasDays && len(parts) > 3 {
		return 0, badDuration(s, "it has too many numbers")
	}
	var d time.Duration
	for i, part := range parts {
		f := fields[i]
		if !allDigits(part) {
			return 0, badDuration(s, fmt.Sprintf("%s are missing or not a whole number", f.name))
		}
		if i > 0 && (len(part) > 2 || fmt.Sprintf("%2s", part) > f.top) {
			return 0, badDuration(s, fmt.Sprintf("%s go up to %s here", f.name, f.top))
		}
		var err error
		if d, err = addUnits(d, part, "", f.size, s); err != nil {
			return 0, err
		}
	}
	return d, nil
}

// parseUnits reads 1w2d3h4m5s and parts of it; any number may have decimals.
func parseUnits(s string) (time.Duration, error) {
	var d time.Duration
	rest, next := strings.ToLower(s), 0
	if rest == "" {
		return 0, badDuration(s, "it is empty")
	}
	for rest != "" {
		var whole, frac, unit string
		whole, rest = cutPrefixOf(rest, isDigit)
		if after, ok := strings.CutPrefix(rest, "."); ok {
			frac, rest = cutPrefixOf(after, isDigit)
			if frac == "" {
				return 0, badDuration(s, "no digit after the point")
			}
		}
		if whole == "" {
			return 0, badDuration(s, "a number is missing")
		}
		unit, rest = cutPrefixOf(rest, func(c byte) bool { return c >= 'a' && c <= 'z' })
		at := unitIndex(unit)
		switch {
		case unit == "":
			return 0, badDuration(s, "the unit after "+whole+" is missing")
		case at < 0:
			return 0, badDuration(s, "the units are w, d, h, m, s and ms")
		case at < next:
			return 0, badDuration(s, "the units go from long to short, each once")
		}
		next = at + 1
		var err error
		if d, err = addUnits(d, whole, frac, durationUnits[at].size, s); err != nil {
			return 0, err
		}
	}
	return d, nil
}

func unitIndex(name string) int {
	for i, u := range durationUnits {
		if u.name == name {
			return i
		}
	}
	return -1
}

// addUnits adds whole.frac times unit to d, exactly, truncated to the nanosecond.
func addUnits(d time.Duration, whole, frac string, unit time.Duration, s string) (time.Duration, error) {
	n, err := strconv.ParseUint(whole, 10, 64)
	hi, lo := bits.Mul64(n, uint64(unit))
	total, carry := bits.Add64(lo, uint64(d), 0)
	if len(frac) > 9 {
		frac = frac[:9] // further digits would not show
	}
	if frac != "" {
		f, _ := strconv.ParseUint(frac, 10, 64)
		scale := uint64(math.Pow10(len(frac)))
		fhi, flo := bits.Mul64(f, uint64(unit))
		part, _ := bits.Div64(fhi, flo, scale)
		var more uint64
		total, more = bits.Add64(total, part, 0)
		carry += more
	}
	if err != nil || hi != 0 || carry != 0 || total > math.MaxInt64 {
		return 0, fmt.Errorf("the duration %q is too long: the most is 292 years", s)
	}
	return time.Duration(total), nil
}

// FormatDuration writes a duration for people: 1h30m, 2d12h, 1.5s, 0s.
// ParseDuration reads it back.
func FormatDuration(d time.Duration) string {
	secs, nanos := int64(d/time.Second), int64(d%time.Second)
	if nanos == 0 {
		return string(AppendDuration(nil, secs))
	}
	text := fmt.Sprintf("%d.%09d", abs(secs%60), abs(nanos))
	text = strings.TrimRight(text, "0") + "s"
	if secs/60 != 0 {
		return string(AppendDuration(nil, secs/60*60)) + text
	}
	if d < 0 {
		return "-" + text
	}
	return text
}

// AppendDuration appends a number of seconds exactly, from the largest unit to the smallest
// without gaps: 1d0h28m20s. It accepts any int64, because any table must be printable.
func AppendDuration(b []byte, seconds int64) []byte {
	left := abs(seconds)
	if seconds < 0 {
		b = append(b, '-')
	}
	if left == 0 {
		return append(b, "0s"...)
	}
	begun := false
	for _, u := range durationUnits[1:5] {
		size := uint64(u.size / time.Second)
		if n := left / size; n > 0 || begun && left > 0 {
			b = append(strconv.AppendUint(b, n, 10), u.name...)
			left -= n * size
			begun = true
		}
	}
	return b
}

// AppendGuess adds to a start that it is a guess because a job is overdue; 0 stands for none.
func AppendGuess(b []byte, overdue uint64) []byte {
	if overdue == 0 {
		return b
	}
	return append(strconv.AppendUint(append(b, ", a guess: job "...), overdue, 10), " is overdue"...)
}

// AppendAbout appends a number of seconds roughly, in at most two units: 17d18h, 22h50m,
// 28m20s. It rounds to hours from a day on, and to minutes from an hour on.
func AppendAbout(b []byte, seconds int64) []byte {
	const minute, hour, day = 60, 3600, 86400
	left, unit := abs(seconds), uint64(1)
	switch {
	case left > math.MaxInt64-hour: // rounding it would overflow
	case (left+minute/2)/minute*minute >= day:
		unit = hour
	case left >= hour:
		unit = minute
	}
	left = (left + unit/2) / unit * unit
	if seconds < 0 {
		return AppendDuration(b, -int64(left))
	}
	return AppendDuration(b, int64(left))
}

// abs returns the absolute value, also of the smallest int64.
func abs(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func allDigits(s string) bool {
	digits, rest := cutPrefixOf(s, isDigit)
	return digits != "" && rest == ""
}

// cutPrefixOf splits s after its leading bytes for which ok returns true.
func cutPrefixOf(s string, ok func(byte) bool) (prefix, rest string) {
	i := 0
	for i < len(s) && ok(s[i]) {
		i++
	}
	return s[:i], s[i:]
}
