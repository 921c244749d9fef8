// Package text reads and writes what people and programs spell in many ways: times, durations,
// sizes, the words of a shell line, and text that a terminal must show safely. Flags,
// settings, queries, input files, answers and messages all use it, so that what one of them
// writes another can read.
//
// It deals with text alone: no clock, zone or environment except those passed to it, and no
// verbs, flags or stores.
package text

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/placer/recur"
)

// lastEpoch is the end of the year 9999, the last that RFC 3339 can write.
const lastEpoch = 253402300799

// ParseTime reads an instant as people write it, relative to now and, if no zone is given, in
// loc. It accepts RFC 3339, 2026-11-20 10:00[:30] (a T may replace the blank), 2026-11-20,
// 10:00 (today, even if past), today, tomorrow, yesterday, tomorrow 08:00, tonight (20:00),
// friday 18:00 (the next one; today only if that is yet to come), last friday, last week, last month and 2026-11
// (as they begin), now, now+2h, now-30m, the same without now (-7d) and @ with Unix seconds. Local says what it takes
// a local time for that a clock change skips or repeats.
func ParseTime(s string, now time.Time, loc *time.Location) (time.Time, error) {
	return (&timeParser{text: s, rest: strings.ToLower(strings.TrimSpace(s)), loc: loc}).instant(now)
}

// ParseTimeToCome is ParseTime for what is yet to come, such as the start of a job: a time of day that is
// past means tomorrow, and tonight after 20:00 means now.
func ParseTimeToCome(s string, now time.Time, loc *time.Location) (time.Time, error) {
	return (&timeParser{text: s, rest: strings.ToLower(strings.TrimSpace(s)), loc: loc, toCome: true}).instant(now)
}

// Local returns the first instant at which clocks in loc show a time. If a clock change skips it, that is the
// instant at which they would show it without the change.
func Local(year int, month time.Month, day, hour, minute, second int, loc *time.Location) time.Time {
	wall := time.Date(year, month, day, hour, minute, second, 0, time.UTC)
	return time.Unix(recur.InstantOf(wall.Unix(), loc), 0).In(loc)
}

func (p *timeParser) instant(now time.Time) (time.Time, error) {
	t, err := p.parse(now.In(p.loc))
	if err != nil {
		return time.Time{}, err
	}
	if t.Unix() < 0 || t.Unix() > lastEpoch {
		return time.Time{}, p.bad("it is outside the years 1970 to 9999")
	}
	return t, nil
}

// timeParser reads from the beginning of rest.
type timeParser struct {
	text string // as it was given, for messages
	rest string
	loc  *time.Location

	toCome bool // a time of day that is past is tomorrow's
}

func (p *timeParser) bad(why string) error {
	return fmt.Errorf("%q is not a time: %s; write 2026-11-20 10:00, 10:00, tomorrow, tomorrow 08:00, friday 18:00, "+
		"2026-11, now+2h, @1795167000 or RFC 3339", p.text, why)
}

func (p *timeParser) skip(prefix string) bool {
	rest, ok := strings.CutPrefix(p.rest, prefix)
	if ok {
		p.rest = rest
	}
	return ok
}

func (p *timeParser) parse(now time.Time) (time.Time, error) {
	switch {
	case p.rest == "":
		return time.Time{}, p.bad("it is empty")
	case p.skip("@"):
		return p.epoch()
	case p.skip("now"), p.rest[0] == '-', p.rest[0] == '+':
		return p.fromNow(now)
	case p.skip("today"):
		return p.dayAndClock(now)
	case p.skip("tomorrow"):
		return p.dayAndClock(daysFrom(now, 1, p.loc))
	case p.skip("yesterday"):
		return p.dayAndClock(daysFrom(now, -1, p.loc))
	case p.skip("tonight"):
		return p.tonight(now)
	case p.skip("last "):
		if d, ok := p.weekday(); ok {
			back := (int(now.Weekday()-d)+6)%7 + 1
			return p.dayAndClock(daysFrom(now, -back, p.loc))
		}
		monday := daysFrom(now, -7-(int(now.Weekday())+6)%7, p.loc)
		switch {
		case p.skip("week"):
			return p.dayAndClock(monday)
		case p.skip("month"):
			return p.dayAndClock(time.Date(now.Year(), now.Month()-1, 1, 12, 0, 0, 0, p.loc))
		}
		return time.Time{}, p.bad("after last comes a day of the week, week or month")
	case len(p.rest) > 4 && allDigits(p.rest[:4]) && p.rest[4] == '-':
		return p.date()
	case isDigit(p.rest[0]) && strings.Contains(p.rest, ":"):
		again := *p
		t, err := p.clockOn(now)
		if err == nil && p.toCome && t.Before(now) {
			return again.clockOn(daysFrom(now, 1, again.loc))
		}
		return t, err
	}
	if d, ok := p.weekday(); ok {
		return p.next(d, now)
	}
	return time.Time{}, p.bad("its form is unknown")
}

// tonight reads what follows tonight, which begins at 20:00.
func (p *timeParser) tonight(now time.Time) (time.Time, error) {
	alone := p.rest == ""
	if alone {
		p.rest = " 20:00"
	}
	t, err := p.dayAndClock(now)
	if alone && p.toCome && t.Before(now) {
		return now, err
	}
	return t, err
}

// daysFrom returns noon of the day that is n days from another.
func daysFrom(day time.Time, n int, loc *time.Location) time.Time {
	return time.Date(day.Year(), day.Month(), day.Day()+n, 12, 0, 0, 0, loc)
}

// weekday reads a day of the week, in full or as its first three letters.
func (p *timeParser) weekday() (time.Weekday, bool) {
	for d := time.Sunday; d <= time.Saturday; d++ {
		name := strings.ToLower(d.String())
		for _, form := range []string{name, name[:3]} {
			if rest, ok := strings.CutPrefix(p.rest, form); ok && (rest == "" || rest[0] == ' ') {
				p.rest = rest
				return d, true
			}
		}
	}
	return 0, false
}

// next returns the next time on a day of the week, with the clock that follows. It is today
// only if that is yet to come.
func (p *timeParser) next(d time.Weekday, now time.Time) (time.Time, error) {
	ahead := (int(d-now.Weekday()) + 7) % 7
	again := *p
	t, err := p.dayAndClock(daysFrom(now, ahead, p.loc))
	if err == nil && !t.After(now) {
		return again.dayAndClock(daysFrom(now, ahead+7, again.loc))
	}
	return t, err
}

func (p *timeParser) epoch() (time.Time, error) {
	n, err := strconv.ParseInt(p.rest, 10, 64)
	if err != nil || !allDigits(p.rest) || n > lastEpoch {
		return time.Time{}, p.bad("after @ come Unix seconds")
	}
	return time.Unix(n, 0).In(p.loc), nil
}

func (p *timeParser) fromNow(now time.Time) (time.Time, error) {
	if p.rest == "" {
		return now, nil
	}
	sign, ago := p.skip("+"), p.skip("-")
	if sign == ago {
		return time.Time{}, p.bad("after now comes +DURATION or -DURATION")
	}
	d, err := ParseDuration(p.rest)
	if err != nil {
		return time.Time{}, err
	}
	if ago {
		d = -d
	}
	return now.Add(d), nil
}

// dayAndClock reads what follows a day: nothing, or a blank and a time of day.
func (p *timeParser) dayAndClock(day time.Time) (time.Time, error) {
	if p.rest == "" {
		return startOfDay(day, p.loc), nil
	}
	if !p.skip(" ") {
		return time.Time{}, p.bad("after the day comes a blank and a time such as 08:00")
	}
	return p.clockOn(day)
}

// date reads 2026-11-20, and a clock and a zone if they follow.
func (p *timeParser) date() (time.Time, error) {
	year, _ := strconv.Atoi(p.rest[:4])
	p.rest = p.rest[5:]
	month, ok1 := p.twoDigits()
	if ok1 && p.rest == "" && 1 <= month && month <= 12 { // the month begins
		p.rest = "-01"
	}
	dash := p.skip("-")
	day, ok2 := p.twoDigits()
	noon := time.Date(year, time.Month(month), day, 12, 0, 0, 0, p.loc)
	switch {
	case !ok1 || !dash || !ok2:
		return time.Time{}, p.bad("a date is YEAR-MM-DD")
	case month < 1 || month > 12:
		return time.Time{}, p.bad("months go from 01 to 12")
	case day < 1 || noon.Day() != day:
		return time.Time{}, p.bad(fmt.Sprintf("%s %d has no day %d", time.Month(month), year, day))
	}
	if p.skip("t") {
		p.rest = " " + p.rest
	}
	return p.dayAndClock(noon)
}

// clockOn reads a time of day, with a zone if one follows, to the end.
func (p *timeParser) clockOn(day time.Time) (time.Time, error) {
	hour, minute, second, err := p.clock()
	if err != nil {
		return time.Time{}, err
	}
	if err := p.zone(); err != nil {
		return time.Time{}, err
	}
	return Local(day.Year(), day.Month(), day.Day(), hour, minute, second, p.loc), nil
}

// clock reads 10:00 or 10:00:30; it reads decimals of a second and drops them.
func (p *timeParser) clock() (hour, minute, second int, err error) {
	const form = "a time of day is HH:MM or HH:MM:SS"
	var ok bool
	if len(p.rest) > 1 && p.rest[1] == ':' {
		p.rest = "0" + p.rest
	}
	if hour, ok = p.twoDigits(); !ok || !p.skip(":") {
		return 0, 0, 0, p.bad(form)
	}
	if minute, ok = p.twoDigits(); !ok {
		return 0, 0, 0, p.bad(form)
	}
	if p.skip(":") {
		if second, ok = p.twoDigits(); !ok {
			return 0, 0, 0, p.bad(form)
		}
		if p.skip(".") {
			var decimals string
			if decimals, p.rest = cutPrefixOf(p.rest, isDigit); decimals == "" {
				return 0, 0, 0, p.bad("no digit after the point")
			}
		}
	}
	if hour > 23 || minute > 59 || second > 59 {
		return 0, 0, 0, p.bad("the clock goes from 00:00:00 to 23:59:59")
	}
	return hour, minute, second, nil
}

// zone reads nothing, Z or +01:00, and sets loc to it.
func (p *timeParser) zone() error {
	if p.rest == "" {
		return nil
	}
	if p.rest == "z" {
		p.loc = time.UTC
		return nil
	}
	east, west := p.skip("+"), p.skip("-")
	hours, ok1 := p.twoDigits()
	colon := p.skip(":")
	minutes, ok2 := p.twoDigits()
	if east == west || !ok1 || !colon || !ok2 || p.rest != "" || hours > 23 || minutes > 59 {
		return p.bad("after the time of day comes nothing, Z, or a zone such as +01:00")
	}
	offset := hours*3600 + minutes*60
	if west {
		offset = -offset
	}
	p.loc = time.FixedZone("", offset)
	return nil
}

func (p *timeParser) twoDigits() (int, bool) {
	if len(p.rest) < 2 || !allDigits(p.rest[:2]) {
		return 0, false
	}
	n := int(p.rest[0]-'0')*10 + int(p.rest[1]-'0')
	p.rest = p.rest[2:]
	return n, true
}

// startOfDay returns midnight, or the first instant after it if a clock change skips midnight.
func startOfDay(day time.Time, loc *time.Location) time.Time {
	return Local(day.Year(), day.Month(), day.Day(), 0, 0, 0, loc)
}

// AppendLocal appends an instant, in Unix seconds, for people: local, to the second.
func AppendLocal(b []byte, at int64, loc *time.Location) []byte {
	t := time.Unix(at, 0).In(loc)
	b = t.AppendFormat(b, time.RFC3339) // this format has a path of its own, twice as fast
	if zone := len("+01:00"); b[len(b)-1] != 'Z' {
		b = b[:len(b)-zone]
	} else {
		b = b[:len(b)-1]
	}
	b[len(b)-len("T15:04:05")] = ' '
	return b
}

// BriefTime returns an instant for people who look at it at another: as much as is needed to
// recognize it. 10:00 is today, Fri 10:00 is within six days before or after, Nov 20 10:00 is
// within half a year, and otherwise it is a date.
func BriefTime(t, now time.Time, loc *time.Location) string {
	t, now = t.In(loc), now.In(loc)
	noon := func(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), t.Day(), 12, 0, 0, 0, time.UTC) }
	switch days := int(noon(t).Sub(noon(now)).Abs().Hours() / 24); {
	case days == 0:
		return t.Format("15:04")
	case days <= 6:
		return t.Format("Mon 15:04")
	case days <= 182:
		return t.Format("Jan _2 15:04")
	}
	return t.Format(time.DateOnly)
}

// AppendRFC3339 appends an instant for programs.
func AppendRFC3339(b []byte, at int64) []byte {
	return time.Unix(at, 0).UTC().AppendFormat(b, time.RFC3339)
}
