package store

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/teambition/rrule-go"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
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
	maxDayNumber  = 53        // 53MO
)

// lastRepeat is the end of the year 9999; nothing repeats after it.
const lastRepeat = 253402300799

// Recurrence is a rule that was understood, with its first start.
type Recurrence struct {
	rule  rrule.ROption // as written, without DTSTART
	full  rrule.ROption // the same with what it takes from the first start
	zone  *time.Location
	start int64
	last  int64 // nothing occurs after it, by COUNT or UNTIL
}

// ParseRepeat reads a rule: daily, weekly, or the text of an RRULE, with or
// without "RRULE:" in front. It begins at start, in Unix seconds, which is its
// first occurrence and one of its COUNT even if the rule alone would not name it.
// It has always to be parsed with that first start: a weekly rule takes its
// weekday from there.
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
	return r, r.bound(&p)
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
	if t < r.start {
		return r.start, true
	}
	if t >= r.last {
		return 0, false
	}
	for at := range r.after(t) {
		if at <= r.last {
			return at, true
		}
		break
	}
	return 0, false
}

// fill writes into the rule what it takes from its first start.
func (r *Recurrence) fill() {
	first := time.Unix(r.start, 0).In(r.zone)
	r.full = r.rule
	o := &r.full
	o.Count, o.Until = 0, time.Time{} // they are in last
	o.Interval = max(o.Interval, 1)
	o.Byweekday = plainOrNumbered(o.Byweekday)
	switch {
	case len(o.Bymonthday)+len(o.Byyearday)+len(o.Byweekday) > 0 || o.Freq > rrule.WEEKLY:
	case o.Freq == rrule.WEEKLY || len(o.Byweekno) > 0:
		o.Byweekday = []rrule.Weekday{weekdays[mondayFirst(first)]}
	default:
		o.Bymonthday = []int{first.Day()}
		if o.Freq == rrule.YEARLY && len(o.Bymonth) == 0 {
			o.Bymonth = []int{int(first.Month())}
		}
	}
	if len(o.Byhour) == 0 && o.Freq < rrule.HOURLY {
		o.Byhour = []int{first.Hour()}
	}
	if len(o.Byminute) == 0 && o.Freq < rrule.MINUTELY {
		o.Byminute = []int{first.Minute()}
	}
	if len(o.Bysecond) == 0 {
		o.Bysecond = []int{first.Second()}
	}
}

// plainOrNumbered writes MO among numbered days as 1MO to 53MO: the library
// takes only days that are in both lists, the RFC means either.
func plainOrNumbered(days []rrule.Weekday) []rrule.Weekday {
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
		for n := 1; n <= maxDayNumber; n++ {
			out = append(out, d.Nth(n))
		}
	}
	return out
}

// bound finds the last occurrence, and refuses a rule that never occurs again.
func (r *Recurrence) bound(p *repeatParser) error {
	if !r.meets() {
		return p.fail("INTERVAL", "it never occurs again: INTERVAL steps over every BYHOUR and BYMINUTE")
	}
	next := r.start
	for next = range r.after(r.start) {
		break
	}
	if next == r.start {
		return p.fail("FREQ", "it never occurs again after its first start, %s: no day is as it asks for", stamp(r.start))
	}
	switch {
	case !r.rule.Until.IsZero():
		r.last = min(r.rule.Until.Unix(), lastRepeat)
	case r.rule.Count > 0:
		r.last = r.nth(r.rule.Count)
	}
	if r.last < r.start {
		return p.fail("UNTIL", "UNTIL lies before the first start, %s", stamp(r.start))
	}
	return nil
}

// nth is the nth occurrence, or the last that there is.
func (r *Recurrence) nth(n int) int64 {
	at := r.start
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
	first := time.Unix(r.start, 0).In(r.zone)
	at, unit := first.Hour()*60+first.Minute(), 1
	if o.Freq == rrule.HOURLY {
		at, unit = first.Hour()*60, 60
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
	first := time.Unix(wallOf(r.start, r.zone), 0).UTC()
	at := time.Unix(wall, 0).UTC()
	year, month, day := first.Date()
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
		day -= (mondayFirst(first) - r.full.Wkst.Day() + 7) % 7
	case rrule.HOURLY:
		step = 3600
	case rrule.MINUTELY:
		step = 60
	}
	base := time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix()
	if step < secondsOfDay {
		base = first.Unix() / step * step
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

var weekdays = []rrule.Weekday{rrule.MO, rrule.TU, rrule.WE, rrule.TH, rrule.FR, rrule.SA, rrule.SU}

// repeatLists are the parts of a rule that are lists of numbers: their bounds,
// and whether numbers may count from the end.
var repeatLists = []struct {
	key      string
	low      int
	high     int
	backward bool
	list     func(*rrule.ROption) *[]int
}{
	{"BYMONTH", 1, 12, false, func(o *rrule.ROption) *[]int { return &o.Bymonth }},
	{"BYWEEKNO", 1, 53, true, func(o *rrule.ROption) *[]int { return &o.Byweekno }},
	{"BYYEARDAY", 1, 366, true, func(o *rrule.ROption) *[]int { return &o.Byyearday }},
	{"BYMONTHDAY", 1, 31, true, func(o *rrule.ROption) *[]int { return &o.Bymonthday }},
	{"BYHOUR", 0, 23, false, func(o *rrule.ROption) *[]int { return &o.Byhour }},
	{"BYMINUTE", 0, 59, false, func(o *rrule.ROption) *[]int { return &o.Byminute }},
	{"BYSECOND", 0, 59, false, func(o *rrule.ROption) *[]int { return &o.Bysecond }},
	{"BYSETPOS", 1, 366, true, func(o *rrule.ROption) *[]int { return &o.Bysetpos }},
}

// repeatParser reads a rule. The library has a parser, too; it lets pass what
// contradicts itself and does not say where it stopped.
type repeatParser struct {
	text string
	zone *time.Location
	at   map[string]int // where each part is
	rule rrule.ROption
}

func (p *repeatParser) failAt(at int, format string, args ...any) error {
	return &placer.SyntaxError{What: "repetition", Input: p.text, Offset: at, Msg: fmt.Sprintf(format, args...)}
}

// fail is about a part, or about the whole rule where that part is not given.
func (p *repeatParser) fail(key, format string, args ...any) error {
	return p.failAt(p.at[key], format, args...)
}

const repeatExample = "expected daily, weekly, or an RRULE such as FREQ=WEEKLY;BYDAY=MO,FR"

func (p *repeatParser) parse() error {
	if len(p.text) > maxRepeatText {
		return p.failAt(maxRepeatText, "longer than %d bytes", maxRepeatText)
	}
	body := strings.TrimLeft(p.text, " ")
	at := len(p.text) - len(body)
	body = strings.TrimRight(body, " ")
	const prefix = "RRULE:"
	if len(body) >= len(prefix) && strings.EqualFold(body[:len(prefix)], prefix) {
		body, at = body[len(prefix):], at+len(prefix)
	}
	p.at = make(map[string]int)
	if !strings.ContainsAny(body, "=;") {
		return p.word(at, body)
	}
	for part := range strings.SplitSeq(body, ";") {
		if err := p.part(at, part); err != nil {
			return err
		}
		at += len(part) + 1
	}
	return p.check()
}

// word reads a rule of one word.
func (p *repeatParser) word(at int, word string) error {
	switch strings.ToLower(word) {
	case "daily":
		p.rule.Freq = rrule.DAILY
		return nil
	case "weekly":
		p.rule.Freq = rrule.WEEKLY
		return nil
	}
	if _, err := rrule.StrToFreq(strings.ToUpper(word)); err == nil {
		return p.failAt(at, "%s is written FREQ=%s; the words for a rule are daily and weekly", word, strings.ToUpper(word))
	}
	return p.failAt(at, "%s%s", repeatExample, index.DidYouMean(word, []string{"daily", "weekly"}))
}

// part reads KEY=VALUE.
func (p *repeatParser) part(at int, part string) error {
	name, value, ok := strings.Cut(part, "=")
	key := strings.ToUpper(name)
	valueAt := at + len(name) + 1
	switch _, twice := p.at[key]; {
	case !ok || name == "":
		return p.failAt(at, "expected a part such as FREQ=WEEKLY or BYDAY=MO,FR; parts are joined by semicolons")
	case twice:
		return p.failAt(at, "%s is given twice", key)
	}
	p.at[key] = at
	value = strings.ToUpper(value)
	var err error
	switch o := &p.rule; key {
	case "FREQ":
		o.Freq, err = p.freq(valueAt, value)
	case "INTERVAL":
		if o.Interval, err = p.number(valueAt, key, value, 1, maxInterval); o.Interval == 1 {
			o.Interval = 0 // goes without saying
		}
	case "COUNT":
		o.Count, err = p.number(valueAt, key, value, 1, maxRepeats)
	case "UNTIL":
		o.Until, err = p.until(valueAt, value)
	case "WKST":
		o.Wkst, err = p.weekday(valueAt, value)
		if err == nil && o.Wkst.N() != 0 {
			err = p.failAt(valueAt, "WKST is a day such as MO, without a number")
		}
	case "BYDAY":
		o.Byweekday, err = p.days(valueAt, value)
	default:
		err = p.list(at, valueAt, key, value)
	}
	return err
}

func (p *repeatParser) freq(at int, value string) (rrule.Frequency, error) {
	f, err := rrule.StrToFreq(value)
	switch {
	case err != nil:
		var all []string
		for f := rrule.YEARLY; f < rrule.SECONDLY; f++ {
			all = append(all, f.String())
		}
		return 0, p.failAt(at, "no FREQ %q: use one of %s%s", value, strings.Join(all, ", "), index.DidYouMean(value, all))
	case f == rrule.SECONDLY:
		return 0, p.failAt(at, "a rule repeats once a minute at most: write MINUTELY, or less often")
	}
	return f, nil
}

// number reads a whole number without a sign.
func (p *repeatParser) number(at int, key, s string, low, high int) (int, error) {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil || int(n) < low || int(n) > high {
		return 0, p.failAt(at, "%s takes whole numbers from %d to %d, not %q", key, low, high, s)
	}
	return int(n), nil
}

// signed reads a number that may count from the end.
func (p *repeatParser) signed(at int, key, s string, low, high int) (int, error) {
	digits := s
	if s != "" && (s[0] == '-' || s[0] == '+') {
		digits = s[1:]
	}
	n, err := p.number(at, key, digits, low, high)
	if err != nil {
		return 0, p.failAt(at, "%s takes whole numbers from %d to %d, or from -%d to -%d to count from the end, not %q", key, low, high, high, low, s)
	}
	if s[0] == '-' {
		n = -n
	}
	return n, nil
}

// list reads a part that is a list of numbers.
func (p *repeatParser) list(at, valueAt int, key, value string) error {
	known := []string{"FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST", "BYDAY"}
	for _, l := range repeatLists {
		if known = append(known, l.key); l.key != key {
			continue
		}
		to := l.list(&p.rule)
		for word := range strings.SplitSeq(value, ",") {
			read := p.number
			if l.backward {
				read = p.signed
			}
			n, err := read(valueAt, key, word, l.low, l.high)
			if err != nil {
				return err
			}
			*to = append(*to, n)
			valueAt += len(word) + 1
		}
		slices.Sort(*to)
		*to = slices.Compact(*to)
		return nil
	}
	if key == "DTSTART" {
		return p.failAt(at, "DTSTART is no part of the rule: it is the start of the first reservation")
	}
	return p.failAt(at, "a rule has no part %q%s", key, index.DidYouMean(key, known))
}

// days reads BYDAY.
func (p *repeatParser) days(at int, value string) ([]rrule.Weekday, error) {
	var days []rrule.Weekday
	for word := range strings.SplitSeq(value, ",") {
		d, err := p.weekday(at, word)
		if err != nil {
			return nil, err
		}
		days = append(days, d)
		at += len(word) + 1
	}
	slices.SortFunc(days, func(a, b rrule.Weekday) int {
		return cmp.Or(cmp.Compare(a.N(), b.N()), cmp.Compare(a.Day(), b.Day()))
	})
	return slices.Compact(days), nil
}

// weekday reads a day such as MO, or 2MO and -1MO for the second and the last.
func (p *repeatParser) weekday(at int, s string) (rrule.Weekday, error) {
	for _, d := range weekdays {
		number, ok := strings.CutSuffix(s, d.String())
		if !ok {
			continue
		}
		if number == "" {
			return d, nil
		}
		n, err := p.signed(at, "the number of a day", number, 1, maxDayNumber)
		return d.Nth(n), err
	}
	return rrule.Weekday{}, p.failAt(at, "%q is no day: use MO, TU, WE, TH, FR, SA, SU, or one with a number such as 2MO or -1FR", s)
}

// until reads the last instant at which an occurrence may start.
func (p *repeatParser) until(at int, value string) (time.Time, error) {
	for _, layout := range []string{rrule.DateTimeFormat, rrule.LocalDateTimeFormat, rrule.DateFormat} {
		t, err := time.Parse(layout, value)
		if err != nil || len(value) != len(layout) {
			continue
		}
		wall := t.Unix()
		switch layout {
		case rrule.DateTimeFormat:
			return t, nil
		case rrule.DateFormat:
			wall += secondsOfDay - 1
		}
		return time.Unix(instantOf(wall, p.zone), 0).UTC(), nil
	}
	return time.Time{}, p.failAt(at, "UNTIL is a day such as 20271231, or a time such as 20271231T180000 (local) or 20271231T170000Z, not %q", value)
}

// check refuses parts that do not go together: what the RFC forbids, what the
// library would overlook or stumble over, and what is more often than once a
// minute.
func (p *repeatParser) check() error {
	o := &p.rule
	if _, ok := p.at["FREQ"]; !ok {
		return p.fail("", "FREQ is missing: %s", repeatExample)
	}
	wrongFor := func(key string, fs ...rrule.Frequency) bool {
		_, given := p.at[key]
		return given && slices.Contains(fs, o.Freq)
	}
	switch {
	case o.Count > 0 && !o.Until.IsZero():
		return p.fail("UNTIL", "COUNT and UNTIL exclude each other")
	case len(o.Bysecond) > 1:
		return p.fail("BYSECOND", "a rule repeats once a minute at most: BYSECOND takes one number")
	case o.Freq < rrule.HOURLY && max(1, len(o.Byhour))*max(1, len(o.Byminute)) > maxDayTimes:
		return p.fail("BYMINUTE", "BYHOUR and BYMINUTE name more than %d times of a day: write FREQ=MINUTELY and an INTERVAL", maxDayTimes)
	case wrongFor("BYWEEKNO", rrule.MONTHLY, rrule.WEEKLY, rrule.DAILY, rrule.HOURLY, rrule.MINUTELY):
		return p.fail("BYWEEKNO", "BYWEEKNO goes with FREQ=YEARLY only")
	case wrongFor("BYYEARDAY", rrule.MONTHLY, rrule.WEEKLY, rrule.DAILY):
		return p.fail("BYYEARDAY", "BYYEARDAY does not go with FREQ=%s: write FREQ=YEARLY", o.Freq)
	case wrongFor("BYMONTHDAY", rrule.WEEKLY):
		return p.fail("BYMONTHDAY", "BYMONTHDAY does not go with FREQ=WEEKLY: write FREQ=MONTHLY")
	case wrongFor("BYSETPOS", rrule.HOURLY, rrule.MINUTELY):
		return p.fail("BYSETPOS", "BYSETPOS goes with FREQ=DAILY at the shortest")
	case len(o.Bysetpos) > 0 && len(o.Bymonth)+len(o.Byweekno)+len(o.Byyearday)+len(o.Bymonthday)+len(o.Byweekday)+
		len(o.Byhour)+len(o.Byminute)+len(o.Bysecond) == 0:
		return p.fail("BYSETPOS", "BYSETPOS picks from what another BY... names, and there is none")
	}
	return p.checkDayNumbers()
}

func (p *repeatParser) checkDayNumbers() error {
	for _, d := range p.rule.Byweekday {
		if d.N() == 0 {
			continue
		}
		switch f := p.rule.Freq; {
		case f > rrule.MONTHLY:
			return p.fail("BYDAY", "a day with a number, such as %s, goes with FREQ=MONTHLY and FREQ=YEARLY only", d)
		case len(p.rule.Byweekno) > 0:
			return p.fail("BYDAY", "a day with a number, such as %s, does not go with BYWEEKNO", d)
		case (f == rrule.MONTHLY || len(p.rule.Bymonth) > 0) && max(d.N(), -d.N()) > 5:
			return p.fail("BYDAY", "no month has %s: the number of a day in a month goes up to 5", d)
		}
	}
	return nil
}
