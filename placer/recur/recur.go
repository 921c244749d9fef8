// Package recur reads recurrence rules of RFC 5545, by which standing reservations repeat,
// and computes their occurrences. It is pure, except that it looks up the data of time
// zones. It knows nothing about reservations or the present: an instant is always an argument.
//
// # Invariants
//
//   - Occurrences strictly increase. After gives the same ones wherever you begin.
//   - The cost of one depends on the rule, not on how long ago it began.
//   - Parse reads back what Repeat writes, as the same rule.
//
// # Caveats
//
// A rule occurs once a minute at most, and not after the year 9999. The zones are those of the
// system, or of time/tzdata where a program has that: With other data the same rule may mean
// other instants.
package recur

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/teambition/rrule-go"
)

// ErrInvalid matches errors about the start or the zone of a rule, not about its text.
var ErrInvalid = errors.New("invalid")

// Repeat is a rule as written. The zero value does not repeat.
type Repeat struct {
	Rule string // daily, weekly, or an RRULE such as FREQ=WEEKLY;BYDAY=MO,FR
	Zone string // an IANA name of the zone whose clocks count; "" for UTC
}

// Recurrence is a parsed rule with its first start.
type Recurrence struct {
	rule  rrule.ROption // as written, without DTSTART
	full  rrule.ROption // the same, with the parts taken from the first start
	zone  *time.Location
	start int64 // it supplies what the rule leaves open
	first int64 // the first occurrence: the start, or the next instant that fits the rule
	last  int64 // nothing occurs after it, by COUNT or UNTIL
}

// Parse reads a rule: daily, weekly, or the text of an RRULE, with or without "RRULE:" in front. It
// begins at start, in Unix seconds: its first occurrence, and the first of its COUNT, is the first
// matching instant from there on. Always parse a rule with the same start: a weekly rule takes its
// weekday from there.
//
// An UNTIL without a zone is local; one without a time is the whole of that day. Parse refuses a
// rule that could occur twice in a minute, or would not occur again within two hundred years. An
// error in the text is a *syntax.Error; any other error matches ErrInvalid.
func Parse(rule, zone string, start int64) (*Recurrence, error) {
	if start < 0 || start > lastRepeat {
		return nil, fmt.Errorf("%w start of a repetition: it is outside the years 1970 to 9999", ErrInvalid)
	}
	if zone == "Local" { // it would mean another zone wherever the file is opened
		return nil, fmt.Errorf("%w time zone Local: name the zone, such as Europe/Berlin", ErrInvalid)
	}
	loc, err := time.LoadLocation(zone)
	if err != nil {
		return nil, fmt.Errorf("%w time zone %q (%v): use a name such as Europe/Berlin or UTC", ErrInvalid, zone, err)
	}
	p := parser{text: rule, zone: loc}
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

// String returns the rule in normal form, for storing. Parse reads it.
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

// Repeat returns the rule in normal form and its zone.
func (r *Recurrence) Repeat() Repeat {
	zone := r.zone.String()
	if zone == "UTC" {
		zone = ""
	}
	return Repeat{Rule: r.String(), Zone: zone}
}

// After returns the first occurrence strictly after t, in Unix seconds, or false if there is
// none, or none within two hundred years. Its cost depends on the rule, not on how long ago it
// began.
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

// maxNumber returns the largest number of a day, in a month or a year.
func maxNumber(o *rrule.ROption) int {
	if o.Freq == rrule.MONTHLY || len(o.Bymonth) > 0 {
		return 5
	}
	return 53
}

// plainOrNumbered writes MO among numbered days as 1MO, 2MO and so on: the library takes only days in
// both lists, and the RFC means either.
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
func (r *Recurrence) bound(p *parser) error {
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

// names reports whether the rule means the wall time of an instant. It ignores that the
// instant may be the second of two with the same wall time.
func (r *Recurrence) names(at int64) bool {
	want := wallOf(at, r.zone)
	for wall := range r.walls(want) {
		if wall >= want {
			return wall == want
		}
	}
	return false
}

// daily returns an hourly or minutely rule without its steps. Its days are found much faster.
func (r *Recurrence) daily() *Recurrence {
	if r.full.Freq < rrule.HOURLY {
		return r
	}
	days := *r
	o := &days.full
	o.Freq, o.Interval, o.Byhour, o.Byminute = rrule.DAILY, 1, []int{0}, []int{0}
	return &days
}

// nth returns the nth occurrence, or the last.
func (r *Recurrence) nth(n int) int64 {
	at := r.first
	for more := true; more && n > 1; {
		more = false // a search may end two hundred years later, before the rule does
		for at = range r.after(at) {
			more = true
			if n--; n == 1 {
				break
			}
		}
	}
	return at
}

// meets reports whether the steps of an hourly or minutely rule ever reach its hours and minutes. The
// library would search for ever.
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
	for rest != 0 { // the steps reach all multiples of their greatest common divisor
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

// stamp formats an instant as messages show it.
func stamp(t int64) string { return time.Unix(t, 0).UTC().Format(time.RFC3339) }
