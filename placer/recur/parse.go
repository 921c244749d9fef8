package recur

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/placer/syntax"

	"github.com/placectl/placectl/index"
	"github.com/teambition/rrule-go"
)

// Limits of a rule. One beyond them is refused.
const (
	maxRepeatText = 1024      // bytes of a rule
	maxRepeats    = 10_000    // its COUNT
	maxInterval   = 1_000_000 // its INTERVAL
	maxDayTimes   = 288       // BYHOUR by BYMINUTE: every five minutes
	maxWeek       = 51        // the library confuses some days of weeks 52 and 53; the last week is -1
)

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
	{"BYWEEKNO", 1, maxWeek, true, func(o *rrule.ROption) *[]int { return &o.Byweekno }},
	{"BYYEARDAY", 1, 366, true, func(o *rrule.ROption) *[]int { return &o.Byyearday }},
	{"BYMONTHDAY", 1, 31, true, func(o *rrule.ROption) *[]int { return &o.Bymonthday }},
	{"BYHOUR", 0, 23, false, func(o *rrule.ROption) *[]int { return &o.Byhour }},
	{"BYMINUTE", 0, 59, false, func(o *rrule.ROption) *[]int { return &o.Byminute }},
	{"BYSECOND", 0, 59, false, func(o *rrule.ROption) *[]int { return &o.Bysecond }},
	{"BYSETPOS", 1, 366, true, func(o *rrule.ROption) *[]int { return &o.Bysetpos }},
}

// parser reads a rule. The library has a parser, too, but that accepts contradictions and does not say
// where an error is.
type parser struct {
	text string
	zone *time.Location
	at   map[string]int // where each part is
	rule rrule.ROption
}

func (p *parser) failAt(at int, format string, args ...any) error {
	return &syntax.Error{What: "repetition", Input: p.text, Offset: at, Msg: fmt.Sprintf(format, args...)}
}

// fail returns an error about a part, or about the whole rule if that part is not given.
func (p *parser) fail(key, format string, args ...any) error {
	return p.failAt(p.at[key], format, args...)
}

const repeatExample = "expected daily, weekly, or an RRULE such as FREQ=WEEKLY;BYDAY=MO,FR"

func (p *parser) parse() error {
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
func (p *parser) word(at int, word string) error {
	switch strings.ToLower(word) {
	case "daily":
		p.rule.Freq = rrule.DAILY
		return nil
	case "weekly":
		p.rule.Freq = rrule.WEEKLY
		return nil
	}
	if _, err := rrule.StrToFreq(strings.ToUpper(word)); err == nil {
		return p.failAt(at, "%s is written FREQ=%s; the words for a rule are daily and weekly", word,
			strings.ToUpper(word))
	}
	return p.failAt(at, "%s%s", repeatExample, index.DidYouMean(word, []string{"daily", "weekly"}))
}

// part reads KEY=VALUE.
func (p *parser) part(at int, part string) error {
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
			o.Interval = 0 // the default
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

func (p *parser) freq(at int, value string) (rrule.Frequency, error) {
	f, err := rrule.StrToFreq(value)
	switch {
	case err != nil:
		var all []string
		for f := rrule.YEARLY; f < rrule.SECONDLY; f++ {
			all = append(all, f.String())
		}
		return 0, p.failAt(at, "no FREQ %q: use one of %s%s", value, strings.Join(all, ", "),
			index.DidYouMean(value, all))
	case f == rrule.SECONDLY:
		return 0, p.failAt(at, "a rule repeats once a minute at most: write MINUTELY, or less often")
	}
	return f, nil
}

// number reads a whole number without a sign.
func (p *parser) number(at int, key, s string, low, high int) (int, error) {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil || int(n) < low || int(n) > high {
		return 0, p.failAt(at, "%s takes whole numbers from %d to %d, not %q", key, low, high, s)
	}
	return int(n), nil
}

// signed reads a number that can count from the end.
func (p *parser) signed(at int, key, s string, low, high int) (int, error) {
	digits := s
	if s != "" && (s[0] == '-' || s[0] == '+') {
		digits = s[1:]
	}
	n, err := p.number(at, key, digits, low, high)
	if err != nil {
		return 0, p.failAt(at, "%s takes whole numbers from %d to %d, or from -%d to -%d to count from the end, not %q",
			key, low, high, high, low, s)
	}
	if s[0] == '-' {
		n = -n
	}
	return n, nil
}

// list reads a part that is a list of numbers.
func (p *parser) list(at, valueAt int, key, value string) error {
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
func (p *parser) days(at int, value string) ([]rrule.Weekday, error) {
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
func (p *parser) weekday(at int, s string) (rrule.Weekday, error) {
	for _, d := range weekdays {
		number, ok := strings.CutSuffix(s, d.String())
		if !ok {
			continue
		}
		if number == "" {
			return d, nil
		}
		n, err := p.signed(at, "the number of a day", number, 1, 53)
		return d.Nth(n), err
	}
	return rrule.Weekday{},
		p.failAt(at, "%q is no day: use MO, TU, WE, TH, FR, SA, SU, or one with a number such as 2MO or -1FR", s)
}

// until reads the last instant at which an occurrence may start.
func (p *parser) until(at int, value string) (time.Time, error) {
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
		return time.Unix(InstantOf(wall, p.zone), 0).UTC(), nil
	}
	return time.Time{}, p.failAt(at, "UNTIL is a day such as 20271231, or a time such as 20271231T180000 (local) or "+
		"20271231T170000Z, not %q", value)
}

// check refuses parts that do not go together: what the RFC forbids, what the library would overlook or
// fail on, and what repeats more than once a minute.
func (p *parser) check() error {
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
		return p.fail("BYMINUTE", "BYHOUR and BYMINUTE name more than %d times of a day: write FREQ=MINUTELY and "+
			"an INTERVAL", maxDayTimes)
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

func (p *parser) checkDayNumbers() error {
	for _, d := range p.rule.Byweekday {
		if d.N() == 0 {
			continue
		}
		switch f := p.rule.Freq; {
		case f > rrule.MONTHLY:
			return p.fail("BYDAY", "a day with a number, such as %s, goes with FREQ=MONTHLY and FREQ=YEARLY only", d)
		case len(p.rule.Byweekno) > 0:
			return p.fail("BYDAY", "a day with a number, such as %s, does not go with BYWEEKNO", d)
		case max(d.N(), -d.N()) > maxNumber(&p.rule):
			return p.fail("BYDAY", "no month has %s: the number of a day in a month goes up to 5", d)
		}
	}
	return nil
}
