package recur

import (
	"iter"
	"slices"
	"time"

	"github.com/teambition/rrule-go"
)

// A rule speaks of the clock on the wall: "daily" is every day at the same local time, whether
// that is 23, 24 or 25 hours later. Three things protect this from clock changes and from
// rules without an end:
//
// Rules are computed in wall time, as if there were no zones: a count of seconds that in UTC
// reads as the clock does. Each result is then converted to an instant. A wall time that a
// clock change skips is read with the offset from before the change, as in section 3.3.5 of
// the RFC: 02:30 becomes 03:30. A wall time that comes twice means the first of the two. So a
// daily reservation is never left out, and a rule that repeats within the hour passes over the
// repeated hour of autumn once. Skipped times may come after those that follow them. They are
// sorted, and duplicates are dropped.
//
// The library always begins at DTSTART. So each search has its own DTSTART, a whole number of
// intervals after the first and just before the instant in question. The parts that a rule
// takes from its first start, such as the weekday of a weekly rule, are written into it first.
//
// The library stops in the year 9999. The calendar repeats every 400 years, so searches are
// moved to at least 200 years before that end.

// lastRepeat is the end of the year 9999; nothing repeats after it.
const lastRepeat = 253402300799

const (
	minutesOfDay = 24 * 60
	secondsOfDay = minutesOfDay * 60
	// calendarCycle is the seconds of 400 years, after which weekdays and leap years repeat.
	calendarCycle = 146097 * secondsOfDay
	// latestSearch is the last year in which a search begins.
	latestSearch = 9999 - 200
)

func first(times iter.Seq[int64]) (int64, bool) {
	for t := range times {
		return t, true
	}
	return 0, false
}

// after yields the instants of the rule after t, each once and in order, for at least two
// hundred years. It ignores COUNT and UNTIL.
func (r *Recurrence) after(t int64) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		last := t
		var held []int64 // skipped times, sorted: others may still come before them
		for wall := range r.walls(r.searchFrom(t)) {
			for len(held) > 0 && wallOf(held[0], r.zone) < wall {
				if last = held[0]; !yield(last) {
					return
				}
				held = held[1:]
			}
			at := InstantOf(wall, r.zone)
			if at > lastRepeat {
				break
			}
			if at <= last {
				continue
			}
			if len(held) == 0 && wallOf(at, r.zone) == wall {
				if last = at; !yield(at) {
					return
				}
			} else if i, twice := slices.BinarySearch(held, at); !twice {
				held = slices.Insert(held, i, at)
			}
		}
		for _, at := range held {
			if !yield(at) {
				return
			}
		}
	}
}

// walls yields the wall times of the rule from the beginning of the interval that contains
// from.
func (r *Recurrence) walls(from int64) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		begin := r.interval(from)
		shift := int64(max(0, latestSearch-begin.Year())/400) * calendarCycle
		o := r.full
		o.Dtstart = time.Unix(begin.Unix()+shift, 0).UTC()
		rule, err := rrule.NewRRule(o)
		if err != nil {
			return // the parser has already validated the rule
		}
		for next := rule.Iterator(); ; {
			at, ok := next()
			if !ok || !yield(at.Unix()-shift) {
				return
			}
		}
	}
}

// searchFrom returns a wall time before which no wall time means an instant after t.
func (r *Recurrence) searchFrom(t int64) int64 {
	wall := wallOf(t, r.zone)
	if change, _ := time.Unix(t, 0).In(r.zone).ZoneBounds(); !change.IsZero() && t-change.Unix() < secondsOfDay {
		wall -= secondsOfDay // a skipped time may mean a later one
	}
	return max(wall, wallOf(r.start, r.zone))
}

// interval returns the beginning, in wall time, of the rule's interval that contains a wall
// time: INTERVAL years, months, weeks, days, hours or minutes.
func (r *Recurrence) interval(wall int64) time.Time {
	start := time.Unix(wallOf(r.start, r.zone), 0).UTC()
	at := time.Unix(wall, 0).UTC()
	year, month, day := start.Date()
	n := r.full.Interval
	step := int64(secondsOfDay)
	switch r.full.Freq {
	case rrule.YEARLY:
		return time.Date(year+(at.Year()-year)/n*n, 1, 1, 0, 0, 0, 0, time.UTC)
	case rrule.MONTHLY:
		months := (at.Year()-year)*12 + int(at.Month()-month)
		return time.Date(year, month+time.Month(months/n*n), 1, 0, 0, 0, 0, time.UTC)
	case rrule.WEEKLY:
		step *= 7
		day -= (mondayFirst(start) - r.full.Wkst.Day() + 7) % 7
	case rrule.HOURLY:
		step = 3600
	case rrule.MINUTELY:
		step = 60
	}
	base := time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix()
	if step < secondsOfDay {
		base = start.Truncate(time.Duration(step) * time.Second).Unix()
	}
	step *= int64(n)
	return time.Unix(base+(wall-base)/step*step, 0).UTC()
}

// mondayFirst returns the day of the week, 0 for Monday.
func mondayFirst(t time.Time) int { return (int(t.Weekday()) + 6) % 7 }

// wallOf returns the wall time at an instant, as the Unix seconds at which UTC clocks show the
// same.
func wallOf(at int64, zone *time.Location) int64 {
	_, offset := time.Unix(at, 0).In(zone).Zone()
	return at + int64(offset)
}

// InstantOf returns the first instant at which clocks show a wall time, which is given as the Unix
// seconds at which UTC clocks show it. If a clock change skips it, that is the instant at which
// they would show it without the change.
func InstantOf(wall int64, zone *time.Location) int64 {
	year, month, day := time.Unix(wall, 0).UTC().Date()
	hour, minute, second := time.Unix(wall, 0).UTC().Clock()
	t := time.Date(year, month, day, hour, minute, second, 0, zone)
	_, offset := t.Zone()
	switch at := t.Unix(); {
	case at+int64(offset) < wall: // skipped, and read with the offset after the change
		return wall - int64(offset)
	case at+int64(offset) == wall:
		if change, _ := t.ZoneBounds(); !change.IsZero() {
			_, before := change.Add(-time.Second).Zone()
			if first := wall - int64(before); first < change.Unix() {
				return first
			}
		}
	}
	return t.Unix()
}
