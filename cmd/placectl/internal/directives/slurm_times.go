package directives

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/internal/text"
)

// hourOf reads sbatch's words for hours.
func hourOf(word string) (hour int, ok bool) {
	switch word {
	case "midnight":
		return 0, true
	case "elevenses":
		return 11, true
	case "noon":
		return 12, true
	case "fika":
		return 15, true
	case "teatime":
		return 16, true
	}
	return 0, false
}

// deltaUnits are the units in now+N. They may be abbreviated to any beginning.
var deltaUnits = [...]struct {
	name string
	size time.Duration
}{{"seconds", time.Second}, {"minutes", time.Minute}, {"hours", time.Hour}, {"days", 24 * time.Hour},
	{"weeks", 7 * 24 * time.Hour}}

// slurmTime reads the instants of --begin and --deadline: now+1hour, 16:00 and its like (the next such
// moment), YYYY-MM-DD[THH:MM[:SS]], today, tomorrow. A time relative to now stays relative for submit, so
// that the same line always gives the same flag.
func (r *reader) slurmTime(flag, v string) error {
	t, relative, err := r.slurmInstant(strings.ToLower(v))
	if err != nil {
		return fmt.Errorf("%q is not a time: %w; write now+1hour, 16:00, noon or 2026-11-30T18:00", v, err)
	}
	if relative == "" {
		relative = instant(t)
	}
	r.set(flag, relative)
	return nil
}

func (r *reader) slurmInstant(v string) (t time.Time, relative string, err error) {
	now := r.o.Now.In(r.o.Zone)
	if rest, ok := strings.CutPrefix(v, "now"); ok {
		relative, err = slurmDelta(rest)
		return now, relative, err
	}
	hour, named := hourOf(v)
	switch {
	case named:
		t, err = r.next(now, hour, 0, 0)
	case v == "today":
		t, err = r.at(now.Year(), now.Month(), now.Day(), 0, 0, 0)
	case v == "tomorrow":
		year, month, day := now.AddDate(0, 0, 1).Date()
		t, err = r.at(year, month, day, 0, 0, 0)
	case len(v) > 4 && v[4] == '-':
		t, err = r.slurmDate(v)
	default:
		var clock [3]int
		if clock, err = timeOfDay(v); err == nil {
			t, err = r.next(now, clock[0], clock[1], clock[2])
		}
	}
	return t, "", err
}

// next returns when the clocks next show a time of day.
func (r *reader) next(now time.Time, hour, minute, second int) (time.Time, error) {
	t, err := r.at(now.Year(), now.Month(), now.Day(), hour, minute, second)
	if err == nil && t.Before(now) {
		year, month, day := now.AddDate(0, 0, 1).Date()
		t, err = r.at(year, month, day, hour, minute, second)
	}
	return t, err
}

// slurmDelta reads what follows now: nothing, or +N and a unit (seconds by default).
func slurmDelta(v string) (string, error) {
	if v == "" {
		return "now", nil
	}
	rest, ok := strings.CutPrefix(v, "+")
	unit := strings.TrimLeft(rest, "0123456789")
	n, err := strconv.ParseInt(rest[:len(rest)-len(unit)], 10, 32)
	if !ok || err != nil {
		return "", errors.New("after now write +N and a unit, such as now+30minutes")
	}
	for _, u := range deltaUnits {
		if strings.HasPrefix(u.name, unit) {
			if n > maxSeconds/int64(u.size/time.Second) {
				return "", errors.New("more than 292 years")
			}
			return "now+" + text.FormatDuration(time.Duration(n)*u.size), nil
		}
	}
	return "", fmt.Errorf("the units are seconds, minutes, hours, days and weeks, not %s", text.Quoted(unit))
}

// slurmDate reads YYYY-MM-DD, with an optional time of day behind a T.
func (r *reader) slurmDate(v string) (time.Time, error) {
	date, clock, hasClock := strings.Cut(v, "t")
	var fields [3]int
	parts := strings.Split(date, "-")
	if len(parts) != 3 {
		return time.Time{}, errors.New("a date is YYYY-MM-DD")
	}
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || !isDigits(part) || len(part) > 4 {
			return time.Time{}, errors.New("a date is YYYY-MM-DD")
		}
		fields[i] = n
	}
	var hms [3]int
	if hasClock {
		var err error
		if hms, err = timeOfDay(clock); err != nil {
			return time.Time{}, err
		}
	}
	return r.at(fields[0], time.Month(fields[1]), fields[2], hms[0], hms[1], hms[2])
}

// timeOfDay reads HH:MM[:SS], with an optional am or pm.
func timeOfDay(v string) (hms [3]int, err error) {
	wrong := errors.New("a time of day is HH:MM or HH:MM:SS")
	clock, half := v, ""
	if n := len(v) - 2; n > 0 && (v[n:] == "am" || v[n:] == "pm") {
		clock, half = strings.TrimSpace(v[:n]), v[n:]
	}
	parts := strings.Split(clock, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return hms, wrong
	}
	for i, part := range parts {
		if hms[i], err = strconv.Atoi(part); err != nil || !isDigits(part) || len(part) > 2 {
			return hms, wrong
		}
	}
	if half != "" && (hms[0] < 1 || hms[0] > 12) {
		return hms, errors.New("am and pm go with hours from 1 to 12")
	}
	switch {
	case half == "am" && hms[0] == 12:
		hms[0] = 0
	case half == "pm" && hms[0] < 12:
		hms[0] += 12
	}
	return hms, nil
}

// SlurmLimit reads a time limit of Slurm.
func SlurmLimit(s string) (seconds int64, err error) { return SlurmSeconds(s) }

// SlurmClock writes a time limit given in seconds.
func SlurmClock(seconds int64) string {
	return fmt.Sprintf("%d-%02d:%02d:%02d", seconds/86400, seconds/3600%24, seconds/60%60, seconds%60)
}
