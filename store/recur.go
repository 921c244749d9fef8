package store

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/teambition/rrule-go"
)

// A standing reservation repeats by a recurrence rule of RFC 5545, which speaks
// of the clock on the wall: "daily" is every day at the same local time, whether
// that is 23, 24 or 25 hours later. Three things keep this apart from clock
// changes and from rules without an end:
//
// Rules are worked out in wall time, as if there were no zones (a count of
// seconds that reads in UTC what the clock shows), and each result is turned into
// an instant by itself. A wall time that a clock change skips is read with the
// offset from before the change, as section 3.3.5 of the RFC has it: 02:30
// becomes 03:30. One that comes twice means the first of the two. So a daily
// reservation is never left out, and what repeats within the hour passes over
// that hour of autumn once. Skipped times may come after those that follow them;
// they are put in order, and of two that fall together one remains.
//
// The library begins at DTSTART whatever is asked for. Each search therefore has
// its own DTSTART, a whole number of intervals after the first and right before
// the instant in question; what a rule takes from its first start (the weekday of
// a weekly one) has been written into it before.
//
// The library gives up in the year 9999 only. Because the calendar is the same
// every 400 years, searches are moved into the tenth millennium, at least 200
// years before that end.

// Repeat is how a standing reservation says that it repeats.
type Repeat struct {
	Rule string // daily, weekly, or an RRULE such as FREQ=WEEKLY;BYDAY=MO,FR
	Zone string // whose clocks count: an IANA name, "" for UTC
}

// Limits of a rule. One beyond them is refused.
const (
	maxRepeatText = 1024      // bytes of a rule
	maxRepeats    = 10_000    // its COUNT
	maxInterval   = 1_000_000 // its INTERVAL
	maxDayTimes   = 288       // BYHOUR by BYMINUTE: every five minutes
	maxWeek       = 51        // the library takes some days of the weeks 52 and 53 for others; the last is -1
)

// lastRepeat is the end of the year 9999; nothing repeats after it.
const lastRepeat = 253402300799

// Recurrence is a rule that was understood, with its first start.
type Recurrence struct {
	rule  rrule.ROption // as written, without DTSTART
	full  rrule.ROption // the same with what it takes from the first start
	zone  *time.Location
	start int64 // what the rule does not say is taken from it
	first int64 // the first occurrence: the start, or where the rule does not name that the next instant that it does
	last  int64 // nothing occurs after it, by COUNT or UNTIL
}

// ParseRepeat reads a rule: daily, weekly, or the text of an RRULE, with or
// without "RRULE:" in front. It begins at start, in Unix seconds: its first
// occurrence, and the first of its COUNT, is the first instant from there on that
// the rule names. It has always to be parsed with that start: a weekly rule takes
// its weekday from there.
//
// An UNTIL without a zone is local; one without a time is the whole of that day.
// A rule is refused when it could occur twice in a minute, or would not occur
// again within two hundred years. What is wrong with the text is a
// *placer.SyntaxError, another error is an ErrInvalid.
func ParseRepeat(rule, zone string, start int64) (*Recurrence, error) {
	if start < 0 || start > lastRepeat {
		return nil, fmt.Errorf("%w start of a repetition: it lies outside the years 1970 to 9999", ErrInvalid)
	}
	if zone == "Local" { // means another zone wherever the file is opened
		return nil, fmt.Errorf("%w time zone Local: name the one that is meant, such as Europe/Berlin", ErrInvalid)
	}
	loc, err := time.LoadLocation(zone)
	if err != nil {
		return nil, fmt.Errorf("%w time zone %q (%v): use a name such as Europe/Berlin or UTC", ErrInvalid, zone, err)
	}
	p := repeatParser{text: rule, zone: loc}
	if err := p.parse(); err != nil {
		return nil, err
	}
	r := &Recurrence{rule: p.rule, zone: loc, start: start, last: lastRepeat}
	r.fill()
	if err := r.bound(&p); err != nil {
		return nil, err
	}
	return r, nil
}

// String is the rule in normal form, to be stored: ParseRepeat reads it back.
func (r *Recurrence) String() string {
	switch text := r.rule.RRuleString(); text {
	case "FREQ=DAILY":
		return "daily"
	case "FREQ=WEEKLY":
		return "weekly"
	default:
		return text
	}
}

// Repeat is the rule in normal form and its zone.
func (r *Recurrence) Repeat() Repeat {
	zone := r.zone.String()
	if zone == "UTC" {
		zone = ""
	}
	return Repeat{Rule: r.String(), Zone: zone}
}

// After is the first occurrence strictly after t, in Unix seconds; false when
// there is none, or none within two hundred years. What it costs depends on the
// rule, not on how long ago it began.
func (r *Recurrence) After(t int64) (int64, bool) {
	if t < r.first {
		return r.first, true
	}
	if t >= r.last {
		return 0, false
	}
	if at, ok := first(r.after(t)); ok && at <= r.last {
		return at, true
	}
	return 0, false
}

func first(times iter.Seq[int64]) (int64, bool) {
	for t := range times {
		return t, true
	}
	return 0, false
}

// fill writes into the rule what it takes from its first start.
func (r *Recurrence) fill() {
	start := time.Unix(r.start, 0).In(r.zone)
	r.full = r.rule
	o := &r.full
	o.Count, o.Until = 0, time.Time{} // they are in last
	o.Interval = max(o.Interval, 1)
	o.Byweekday = plainOrNumbered(o.Byweekday, maxNumber(o))
	switch {
	case len(o.Bymonthday)+len(o.Byyearday)+len(o.Byweekday) > 0 || o.Freq > rrule.WEEKLY:
	case o.Freq == rrule.WEEKLY || len(o.Byweekno) > 0:
		o.Byweekday = []rrule.Weekday{weekdays[mondayFirst(start)]}
	default:
		o.Bymonthday = []int{start.Day()}
		if o.Freq == rrule.YEARLY && len(o.Bymonth) == 0 {
			o.Bymonth = []int{int(start.Month())}
		}
	}
	if len(o.Byhour) == 0 && o.Freq < rrule.HOURLY {
		o.Byhour = []int{start.Hour()}
	}
	if len(o.Byminute) == 0 && o.Freq < rrule.MINUTELY {
		o.Byminute = []int{start.Minute()}
	}
	if len(o.Bysecond) == 0 {
		o.Bysecond = []int{start.Second()}
	}
}

// maxNumber is up to where days are numbered: in a month, or in a year.
func maxNumber(o *rrule.ROption) int {
	if o.Freq == rrule.MONTHLY || len(o.Bymonth) > 0 {
		return 5
	}
	return 53
}

// plainOrNumbered writes MO among numbered days as 1MO, 2MO, and so on: the
// library takes only days that are in both lists, the RFC means either.
func plainOrNumbered(days []rrule.Weekday, highest int) []rrule.Weekday {
	numbered := func(d rrule.Weekday) bool { return d.N() != 0 }
	if !slices.ContainsFunc(days, numbered) {
		return days
	}
	var out []rrule.Weekday
	for _, d := range days {
		if numbered(d) {
			out = append(out, d)
			continue
		}
		for n := 1; n <= highest; n++ {
			out = append(out, d.Nth(n))
		}
	}
	return out
}

// bound finds the last occurrence, and refuses a rule that never occurs again.
func (r *Recurrence) bound(p *repeatParser) error {
	if _, ok := first(r.daily().walls(wallOf(r.start, r.zone))); !ok {
		return p.fail("FREQ", "it never occurs again: no day is as it asks for")
	}
	if !r.meets() {
		return p.fail("INTERVAL", "it never occurs again: INTERVAL steps over every BYHOUR and BYMINUTE")
	}
	ok := true
	if r.first = r.start; !r.names(r.start) {
		r.first, ok = first(r.after(r.start - 1))
	}
	if ok {
		_, ok = first(r.after(r.first))
	}
	if !ok {
		return p.fail("FREQ", "it never occurs again after its start, %s", stamp(r.start))
	}
	switch {
	case !r.rule.Until.IsZero():
		r.last = min(r.rule.Until.Unix(), lastRepeat)
	case r.rule.Count > 0:
		r.last = r.nth(r.rule.Count)
	}
	if r.last < r.first {
		return p.fail("UNTIL", "UNTIL lies before the first start, %s", stamp(r.first))
	}
	return nil
}

// names reports whether an instant is one that clocks show when the rule means. That
// it comes second where they show the same twice does not matter here.
func (r *Recurrence) names(at int64) bool {
	want := wallOf(at, r.zone)
	for wall := range r.walls(want) {
		if wall >= want {
			return wall == want
		}
	}
	return false
}

// daily is the rule with an hourly or minutely one's steps taken out, whose days
// are found much faster.
func (r *Recurrence) daily() *Recurrence {
	if r.full.Freq < rrule.HOURLY {
		return r
	}
	days := *r
	o := &days.full
	o.Freq, o.Interval, o.Byhour, o.Byminute = rrule.DAILY, 1, []int{0}, []int{0}
	return &days
}

// nth is the nth occurrence, or the last that there is.
func (r *Recurrence) nth(n int) int64 {
	at := r.first
	for more := true; more && n > 1; {
		more = false // a search may end, two hundred years later, before the rule does
		for at = range r.after(at) {
			more = true
			if n--; n == 1 {
				break
			}
		}
	}
	return at
}

// meets reports whether the steps of an hourly or a minutely rule ever come upon
// its hours and minutes. The library would look for ever.
func (r *Recurrence) meets() bool {
	o := &r.full
	if o.Freq < rrule.HOURLY {
		return true
	}
	start := time.Unix(r.start, 0).In(r.zone)
	at, unit := start.Hour()*60+start.Minute(), 1
	if o.Freq == rrule.HOURLY {
		at, unit = start.Hour()*60, 60
	}
	step, rest := o.Interval*unit, minutesOfDay
	for rest != 0 { // their greatest common divisor is what the steps come to in the end
		step, rest = rest, step%rest
	}
	for m := at % step; m < minutesOfDay; m += step {
		if (len(o.Byhour) == 0 || slices.Contains(o.Byhour, m/60)) &&
			(unit == 60 || len(o.Byminute) == 0 || slices.Contains(o.Byminute, m%60)) {
			return true
		}
	}
	return false
}

// after goes through the instants of the rule after t, each once and in order,
// for at least two hundred years. COUNT and UNTIL play no part.
func (r *Recurrence) after(t int64) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		last := t
		var held []int64 // in order: of skipped times, which others may still come before
		for wall := range r.walls(r.searchFrom(t)) {
			for len(held) > 0 && wallOf(held[0], r.zone) < wall {
				if last = held[0]; !yield(last) {
					return
				}
				held = held[1:]
			}
			at := instantOf(wall, r.zone)
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

const (
	minutesOfDay = 24 * 60
	secondsOfDay = minutesOfDay * 60
	// calendarCycle is the seconds of 400 years, after which the days of the week
	// and the leap years come again.
	calendarCycle = 146097 * secondsOfDay
	// latestSearch is the last year in which a search begins.
	latestSearch = 9999 - 200
)

// walls goes through the wall times of the rule from the beginning of the
// interval that from is in.
func (r *Recurrence) walls(from int64) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		begin := r.interval(from)
		shift := int64(max(0, latestSearch-begin.Year())/400) * calendarCycle
		o := r.full
		o.Dtstart = time.Unix(begin.Unix()+shift, 0).UTC()
		rule, err := rrule.NewRRule(o)
		if err != nil {
			return // what it checks, the parser has checked
		}
		for next := rule.Iterator(); ; {
			at, ok := next()
			if !ok || !yield(at.Unix()-shift) {
				return
			}
		}
	}
}

// searchFrom is a wall time before which none stands for an instant after t.
func (r *Recurrence) searchFrom(t int64) int64 {
	wall := wallOf(t, r.zone)
	if change, _ := time.Unix(t, 0).In(r.zone).ZoneBounds(); !change.IsZero() && t-change.Unix() < secondsOfDay {
		wall -= secondsOfDay // a skipped time may stand for one that is yet to come
	}
	return max(wall, wallOf(r.start, r.zone))
}

// interval is the beginning, on the wall, of the year, month, week, day, hour or
// minute that the rule looks at for a wall time, INTERVAL considered.
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

// mondayFirst is the day of the week, 0 for Monday.
func mondayFirst(t time.Time) int { return (int(t.Weekday()) + 6) % 7 }

// wallOf is what clocks show at an instant, as the Unix seconds at which those of
// UTC show the same.
func wallOf(at int64, zone *time.Location) int64 {
	_, offset := time.Unix(at, 0).In(zone).Zone()
	return at + int64(offset)
}

// instantOf is the first instant at which clocks show a wall time; where a change
// skips it, the instant at which they would without the change.
func instantOf(wall int64, zone *time.Location) int64 {
	year, month, day := time.Unix(wall, 0).UTC().Date()
	hour, minute, second := time.Unix(wall, 0).UTC().Clock()
	t := time.Date(year, month, day, hour, minute, second, 0, zone)
	_, offset := t.Zone()
	switch at := t.Unix(); {
	case at+int64(offset) < wall: // skipped, and read with the offset from after the change
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
