package slurm

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/internal/text"
)

// layouts are the formats of --starttime and --endtime.
var layouts = []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02", "2006-01-02 15:04:05",
	"01/02/06-15:04:05", "01/02/06-15:04", "01/02/06", "0102-15:04", "0102",
	"01/02-15:04:05", "01/02-15:04", "01/02", "01.02.06", "01.02"}

// instant parses an instant: one of the layouts, a time of today, a word, or now with a difference, such
// as now-2days. Its zone is that of now.
func instant(word string, now time.Time) (time.Time, error) {
	low := strings.ToLower(word)
	today := func(hour, minute, second int) time.Time {
		return text.Local(now.Year(), now.Month(), now.Day(), hour, minute, second, now.Location())
	}
	if rest, ok := strings.CutPrefix(low, "now"); ok {
		return moved(now, rest)
	}
	switch low {
	case "today", "midnight":
		return today(0, 0, 0), nil
	case "tomorrow":
		return today(24, 0, 0), nil
	case "noon":
		return today(12, 0, 0), nil
	case "teatime":
		return today(16, 0, 0), nil
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, word); err == nil {
			if t.Year() == 0 {
				t = t.AddDate(now.Year(), 0, 0)
			}
			return text.Local(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), now.Location()), nil
		}
	}
	for _, layout := range []string{"15:04:05", "15:04"} {
		if t, err := time.Parse(layout, word); err == nil {
			return today(t.Hour(), t.Minute(), t.Second()), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time", word)
}

// units are the units in now+N. They may be abbreviated to any beginning.
var units = [...]struct {
	name string
	size time.Duration
}{{"seconds", time.Second}, {"minutes", time.Minute}, {"hours", time.Hour}, {"days", 24 * time.Hour},
	{"weeks", 7 * 24 * time.Hour}}

// moved returns an instant shifted by a difference such as -2days.
func moved(now time.Time, by string) (time.Time, error) {
	if by == "" {
		return now, nil
	}
	sign := time.Duration(1)
	switch by[0] {
	case '-':
		sign = -1
	case '+':
	default:
		return now, fmt.Errorf("%q is no difference", by)
	}
	digits := by[1 : 1+len(by[1:])-len(strings.TrimLeft(by[1:], "0123456789"))]
	n, err := strconv.Atoi(digits)
	if err != nil || n > 1_000_000 {
		return now, fmt.Errorf("%q is no difference", by)
	}
	unit := by[1+len(digits):]
	for _, u := range units {
		if strings.HasPrefix(u.name, unit) { // without a unit these are seconds
			return now.Add(sign * time.Duration(n) * u.size), nil
		}
	}
	return now, fmt.Errorf("%q is no unit", unit)
}
