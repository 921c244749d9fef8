package directives

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/internal/text"
)

// maxSeconds bounds a duration, as text.ParseDuration does: 292 years.
const maxSeconds = 292 * 365 * 24 * 3600

// clock writes seconds as [H]H:MM:SS.
func clock(seconds int64) string {
	return fmt.Sprintf("%d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
}

// clockSeconds reads PBS's [[HH:]MM:]SS. Fractions of a second are rounded up.
func clockSeconds(s string) (int64, error) {
	whole, decimals, hasDecimals := strings.Cut(s, ".")
	parts := strings.Split(whole, ":")
	if len(parts) > 3 || hasDecimals && !isDigits(decimals) {
		return 0, badClock(s, "[[HH:]MM:]SS")
	}
	total, err := sumClock(parts, []int64{3600, 60, 1}[3-len(parts):])
	if err != nil {
		return 0, badClock(s, "[[HH:]MM:]SS")
	}
	if strings.Trim(decimals, "0") != "" {
		total++
	}
	return total, checkLength(s, total)
}

// SlurmSeconds reads sbatch's M, M:S, H:M:S, D-H, D-H:M and D-H:M:S.
func SlurmSeconds(s string) (int64, error) {
	const form = "M, M:S, H:M:S, D-H, D-H:M or D-H:M:S"
	days, rest, hasDays := strings.Cut(s, "-")
	var parts []string
	var units []int64
	if hasDays {
		parts = append([]string{days}, strings.Split(rest, ":")...)
		units = []int64{24 * 3600, 3600, 60, 1}
	} else {
		parts = strings.Split(s, ":")
		if units = []int64{60, 1}; len(parts) == 3 {
			units = []int64{3600, 60, 1}
		}
	}
	if len(parts) > len(units) {
		return 0, badClock(s, form)
	}
	total, err := sumClock(parts, units)
	if err != nil {
		return 0, badClock(s, form)
	}
	return total, checkLength(s, total)
}

// sumClock adds up the parts of a time by the clock, each so many seconds long.
func sumClock(parts []string, units []int64) (int64, error) {
	var total int64
	for i, part := range parts {
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil || !isDigits(part) {
			return 0, errors.New("not a number")
		}
		total += min(n, maxSeconds+1) * units[i] // at most 4 * 86400 * 10^10
	}
	return total, nil
}

func badClock(s, form string) error { return fmt.Errorf("%q is not a time such as %s", s, form) }

func checkLength(s string, total int64) error {
	if total <= 0 || total > maxSeconds {
		return fmt.Errorf("%q: a time must be longer than 0 and at most 292 years", s)
	}
	return nil
}

// instant writes an instant in a form that does not depend on the time zone.
func instant(t time.Time) string { return string(text.AppendRFC3339(nil, t.Unix())) }

// at returns the instant at which the zone's clocks show a time, as text.Local does.
func (r *reader) at(year int, month time.Month, day, hour, minute, second int) (time.Time, error) {
	t := text.Local(year, month, day, hour, minute, second, r.o.Zone)
	switch {
	case month < 1 || month > 12 || day < 1 || time.Date(year, month, day, 12, 0, 0, 0, time.UTC).Day() != day:
		return t, fmt.Errorf("there is no day %d-%02d-%02d", year, month, day)
	case hour > 23 || minute > 59 || second > 59:
		return t, errors.New("the clock goes from 00:00:00 to 23:59:59")
	case t.Unix() < 0 || year > 9999:
		return t, errors.New("it is outside the years 1970 to 9999")
	}
	return t, nil
}

// pbsBegin reads -a: [[[[CC]YY]MM]DD]hhmm[.SS]. If the date or a part of it is missing, it means the next
// such moment.
func (r *reader) pbsBegin(v string) error {
	date, seconds, hasSeconds := strings.Cut(v, ".")
	if !isDigits(date) || len(date) < 4 || len(date) > 12 || len(date)%2 != 0 ||
		hasSeconds && (!isDigits(seconds) || len(seconds) != 2) {
		return fmt.Errorf("%q is not a time such as 202611301800, 11301800 or 1800: [[CC]YY]MMDDhhmm[.SS]", v)
	}
	pair := func(fromEnd int) int { // the two digits that end fromEnd digits before the end
		n, _ := strconv.Atoi(date[max(0, len(date)-fromEnd-2) : len(date)-fromEnd])
		return n
	}
	second, _ := strconv.Atoi(seconds)
	hour, minute := pair(2), pair(0)
	now := r.o.Now.In(r.o.Zone)
	year, month, day := now.Year(), now.Month(), now.Day()
	step, days := func() {}, 0
	switch len(date) {
	case 12:
		year, month, day = 100*pair(10)+pair(8), time.Month(pair(6)), pair(4)
	case 10:
		if year = 2000 + pair(8); year >= 2069 { // as in touch
			year -= 100
		}
		month, day = time.Month(pair(6)), pair(4)
	case 8:
		month, day = time.Month(pair(6)), pair(4)
		step = func() { year++ }
	case 6:
		day = pair(4)
		step = func() { year, month = nextMonth(year, month) }
	case 4:
		step = func() { days++; year, month, day = now.AddDate(0, 0, days).Date() }
	}
	const tries = 9 // the longest wait is for a February 29th
	t, err := r.at(year, month, day, hour, minute, second)
	for i := 0; i < tries && len(date) < 10 && (err != nil || t.Before(now)); i++ {
		step()
		t, err = r.at(year, month, day, hour, minute, second)
	}
	if err != nil {
		return fmt.Errorf("%q: %w", v, err)
	}
	r.set("begin", instant(t))
	return nil
}

func nextMonth(year int, month time.Month) (int, time.Month) {
	if month == time.December {
		return year + 1, time.January
	}
	return year, month + 1
}
