package recur

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // zones, even if the system has none

	"github.com/placectl/placectl/placer/syntax"

	"github.com/google/go-cmp/cmp"
	"github.com/teambition/rrule-go"
	"pgregory.net/rapid"
)

// instant reads an instant of a test, RFC 3339.
func instant(t testing.TB, s string) int64 {
	t.Helper()
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return at.Unix()
}

// repeat parses a rule that must be valid.
func repeat(t testing.TB, rule, zone string, start int64) *Recurrence {
	t.Helper()
	r, err := Parse(rule, zone, start)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// occurrences returns those after t, at most n, as clocks in the zone show them.
func (r *Recurrence) occurrences(t int64, n int) []string {
	var out []string
	for range n {
		at, ok := r.After(t)
		if !ok {
			return append(out, "end")
		}
		out = append(out, time.Unix(at, 0).In(r.zone).Format(time.RFC3339))
		t = at
	}
	return out
}

func TestRepeat(t *testing.T) {
	const berlin, newYork = "Europe/Berlin", "America/New_York"
	for _, c := range []struct {
		name, rule, zone, start string
		want                    string
	}{
		// The same time by the clock, whether a day has 23, 24 or 25 hours.
		{"spring in Berlin", "daily", berlin, "2027-03-27T10:00:00+01:00",
			"2027-03-27T10:00:00+01:00 2027-03-28T10:00:00+02:00 2027-03-29T10:00:00+02:00"},
		{"autumn in Berlin", "daily", berlin, "2027-10-30T10:00:00+02:00",
			"2027-10-30T10:00:00+02:00 2027-10-31T10:00:00+01:00 2027-11-01T10:00:00+01:00"},
		{"weekly over spring in New York", "weekly", newYork, "2027-03-11T18:00:00-05:00",
			"2027-03-11T18:00:00-05:00 2027-03-18T18:00:00-04:00 2027-03-25T18:00:00-04:00"},
		{"weekly over autumn in New York", "weekly", newYork, "2027-11-04T18:00:00-04:00",
			"2027-11-04T18:00:00-04:00 2027-11-11T18:00:00-05:00"},
		{"no zone is UTC", "daily", "", "2027-03-27T10:00:00Z",
			"2027-03-27T10:00:00Z 2027-03-28T10:00:00Z"},

		// A time that is skipped is read with the offset before the change, in east and west.
		{"skipped in Berlin", "daily", berlin, "2027-03-27T02:30:00+01:00",
			"2027-03-27T02:30:00+01:00 2027-03-28T03:30:00+02:00 2027-03-29T02:30:00+02:00"},
		{"skipped in New York", "daily", newYork, "2027-03-13T02:30:00-05:00",
			"2027-03-13T02:30:00-05:00 2027-03-14T03:30:00-04:00 2027-03-15T02:30:00-04:00"},
		{"its first minute", "daily", berlin, "2027-03-27T02:00:00+01:00",
			"2027-03-27T02:00:00+01:00 2027-03-28T03:00:00+02:00 2027-03-29T02:00:00+02:00"},
		{"skipped midnight", "daily", "America/Asuncion", "2023-09-30T00:15:00-04:00",
			"2023-09-30T00:15:00-04:00 2023-10-01T01:15:00-03:00 2023-10-02T00:15:00-03:00"},
		{"a skipped day falls on the next", "daily", "Pacific/Apia", "2011-12-28T12:00:00-10:00",
			"2011-12-28T12:00:00-10:00 2011-12-29T12:00:00-10:00 2011-12-31T12:00:00+14:00 2012-01-01T12:00:00+14:00"},

		// Of a time that occurs twice the first counts, except for a start at the second.
		{"twice in Berlin", "daily", berlin, "2027-10-30T02:30:00+02:00",
			"2027-10-30T02:30:00+02:00 2027-10-31T02:30:00+02:00 2027-11-01T02:30:00+01:00"},
		{"twice in New York", "daily", newYork, "2027-11-06T01:30:00-04:00",
			"2027-11-06T01:30:00-04:00 2027-11-07T01:30:00-04:00 2027-11-08T01:30:00-05:00"},
		{"starting at the second", "daily", berlin, "2027-10-31T02:30:00+01:00",
			"2027-10-31T02:30:00+01:00 2027-11-01T02:30:00+01:00"},

		// Within the hour of a change they are in order, and each instant comes once.
		{"half-hourly over spring", "FREQ=MINUTELY;INTERVAL=30", berlin, "2027-03-28T01:30:00+01:00",
			"2027-03-28T01:30:00+01:00 2027-03-28T03:00:00+02:00 2027-03-28T03:30:00+02:00 2027-03-28T04:00:00+02:00"},
		{"at odd times over spring", "FREQ=MINUTELY;INTERVAL=40", berlin, "2027-03-28T01:20:00+01:00",
			"2027-03-28T01:20:00+01:00 2027-03-28T03:00:00+02:00 2027-03-28T03:20:00+02:00 2027-03-28T03:40:00+02:00 " +
				"2027-03-28T04:00:00+02:00"},
		{"two-hourly over autumn", "FREQ=HOURLY;INTERVAL=2", berlin, "2027-10-31T00:00:00+02:00",
			"2027-10-31T00:00:00+02:00 2027-10-31T02:00:00+02:00 2027-10-31T04:00:00+01:00"},
		{"half-hourly over autumn", "FREQ=MINUTELY;INTERVAL=30", newYork, "2027-11-07T00:30:00-04:00",
			"2027-11-07T00:30:00-04:00 2027-11-07T01:00:00-04:00 2027-11-07T01:30:00-04:00 2027-11-07T02:00:00-05:00"},
		{"counted by the instant", "FREQ=HOURLY;COUNT=3", "Australia/Sydney", "2022-10-02T01:00:00+10:00",
			"2022-10-02T01:00:00+10:00 2022-10-02T03:00:00+11:00 2022-10-02T04:00:00+11:00 end"},

		{"COUNT", "FREQ=DAILY;COUNT=3", "", "2027-01-01T10:00:00Z",
			"2027-01-01T10:00:00Z 2027-01-02T10:00:00Z 2027-01-03T10:00:00Z end"},
		{"COUNT of one", "FREQ=DAILY;COUNT=1", "", "2027-01-01T10:00:00Z", "2027-01-01T10:00:00Z end"},
		// a Friday
		{"a start beside the rule is no occurrence", "FREQ=WEEKLY;BYDAY=MO;COUNT=3", "", "2027-01-01T10:00:00Z",
			"2027-01-04T10:00:00Z 2027-01-11T10:00:00Z 2027-01-18T10:00:00Z end"},
		{"nor a start at another hour", "FREQ=DAILY;BYHOUR=8", "", "2027-01-01T10:20:07Z",
			"2027-01-02T08:20:07Z 2027-01-03T08:20:07Z"},
		{"a start that clocks show for the second time", "daily", berlin, "2027-10-31T02:30:00+01:00",
			"2027-10-31T02:30:00+01:00 2027-11-01T02:30:00+01:00"},
		{"a start where the rule's time is skipped", "FREQ=DAILY;BYHOUR=2;BYMINUTE=30", berlin,
			"2027-03-28T03:30:00+02:00",
			"2027-03-28T03:30:00+02:00 2027-03-29T02:30:00+02:00"},
		{"UNTIL is included", "FREQ=DAILY;UNTIL=20270102T100000Z", "", "2027-01-01T10:00:00Z",
			"2027-01-01T10:00:00Z 2027-01-02T10:00:00Z end"},
		{"UNTIL a second earlier", "FREQ=DAILY;UNTIL=20270102T095959Z", "", "2027-01-01T10:00:00Z",
			"2027-01-01T10:00:00Z end"},
		{"UNTIL by the local clock", "FREQ=DAILY;UNTIL=20270102T100000", berlin, "2027-01-01T10:00:00+01:00",
			"2027-01-01T10:00:00+01:00 2027-01-02T10:00:00+01:00 end"},
		{"UNTIL a day is all of it", "FREQ=DAILY;UNTIL=20270102", newYork, "2027-01-01T23:30:00-05:00",
			"2027-01-01T23:30:00-05:00 2027-01-02T23:30:00-05:00 end"},
		{"UNTIL the start", "FREQ=WEEKLY;UNTIL=20270101", "", "2027-01-01T10:00:00Z", "2027-01-01T10:00:00Z end"},

		{"BYDAY", "RRULE:FREQ=WEEKLY;BYDAY=FR,MO", berlin, "2027-03-26T08:00:00+01:00", // a Friday
			"2027-03-26T08:00:00+01:00 2027-03-29T08:00:00+02:00 2027-04-02T08:00:00+02:00"},
		{"every other week", "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU", "", "1997-08-05T09:00:00Z",
			"1997-08-05T09:00:00Z 1997-08-10T09:00:00Z 1997-08-19T09:00:00Z 1997-08-24T09:00:00Z"},
		// as in the RFC
		{"every other week, from Sunday", "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=SU", "", "1997-08-05T09:00:00Z",
			"1997-08-05T09:00:00Z 1997-08-17T09:00:00Z 1997-08-19T09:00:00Z 1997-08-31T09:00:00Z"},
		{"the last Friday", "FREQ=MONTHLY;BYDAY=-1FR", "", "2027-01-29T10:00:00Z",
			"2027-01-29T10:00:00Z 2027-02-26T10:00:00Z 2027-03-26T10:00:00Z"},
		{"the first Monday and every Sunday", "FREQ=MONTHLY;BYDAY=1MO,SU", "", "2027-02-01T10:00:00Z",
			"2027-02-01T10:00:00Z 2027-02-07T10:00:00Z 2027-02-14T10:00:00Z 2027-02-21T10:00:00Z " +
				"2027-02-28T10:00:00Z 2027-03-01T10:00:00Z"},
		{"the last working day", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "", "2027-01-29T10:00:00Z",
			"2027-01-29T10:00:00Z 2027-02-26T10:00:00Z 2027-03-31T10:00:00Z"},
		{"months without a 31st are left out", "FREQ=MONTHLY", "", "2027-01-31T10:00:00Z",
			"2027-01-31T10:00:00Z 2027-03-31T10:00:00Z 2027-05-31T10:00:00Z"},
		{"a day every four years", "freq=yearly", "", "2096-02-29T10:00:00Z",
			"2096-02-29T10:00:00Z 2104-02-29T10:00:00Z 2108-02-29T10:00:00Z"}, // 2100 is no leap year
		{"the weekday of a numbered week", "FREQ=YEARLY;BYWEEKNO=20", "", "1997-05-12T09:00:00Z",
			"1997-05-12T09:00:00Z 1998-05-11T09:00:00Z 1999-05-17T09:00:00Z"},
		{"several times a day", "FREQ=DAILY;BYHOUR=8,20;BYMINUTE=0,30", "", "2027-01-01T20:30:00Z",
			"2027-01-01T20:30:00Z 2027-01-02T08:00:00Z 2027-01-02T08:30:00Z 2027-01-02T20:00:00Z"},
		{"seconds of the start", "FREQ=MINUTELY;INTERVAL=1", "", "2027-01-01T20:30:07Z",
			"2027-01-01T20:30:07Z 2027-01-01T20:31:07Z"},
		{"the end of the calendar", "daily", "", "9999-12-30T12:00:00Z",
			"9999-12-30T12:00:00Z 9999-12-31T12:00:00Z end"},
	} {
		start := instant(t, c.start)
		r, err := Parse(c.rule, c.zone, start)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		want := strings.Fields(c.want)
		if diff := cmp.Diff(want, r.occurrences(start-1, len(want))); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", c.name, c.rule, diff)
		}
		if at, ok := r.After(0); !ok || at != instant(t, want[0]) {
			t.Errorf("%s: long before the start comes %d, %v", c.name, at, ok)
		}
	}
}

func TestRepeatText(t *testing.T) {
	start := instant(t, "2027-01-01T10:00:00Z")
	for _, c := range []struct{ rule, zone, want string }{
		{"daily", "", "daily"},
		{" Daily ", "UTC", "daily"},
		{"rrule:freq=daily;interval=1;wkst=mo", "", "daily"},
		{"FREQ=WEEKLY", "Europe/Berlin", "weekly"},
		{"BYDAY=FR,MO,MO;FREQ=WEEKLY", "", "FREQ=WEEKLY;BYDAY=MO,FR"},
		{"FREQ=MONTHLY;BYDAY=-1FR,+2MO,SU", "", "FREQ=MONTHLY;BYDAY=-1FR,SU,+2MO"},
		{"FREQ=YEARLY;BYMONTHDAY=-1,+1,015", "", "FREQ=YEARLY;BYMONTHDAY=-1,1,15"},
		{"FREQ=DAILY;COUNT=10;INTERVAL=2", "", "FREQ=DAILY;INTERVAL=2;COUNT=10"},
		{"FREQ=DAILY;UNTIL=20270201", "Europe/Berlin", "FREQ=DAILY;UNTIL=20270201T225959Z"},
		{"FREQ=DAILY;UNTIL=20270701T120000", "Europe/Berlin", "FREQ=DAILY;UNTIL=20270701T100000Z"},
		{"FREQ=DAILY;UNTIL=20270328T023000", "Europe/Berlin", "FREQ=DAILY;UNTIL=20270328T013000Z"}, // skipped
	} {
		r := repeat(t, c.rule, c.zone, start)
		if r.String() != c.want {
			t.Errorf("%q is %q, want %q", c.rule, r, c.want)
		}
		again := repeat(t, r.Repeat().Rule, r.Repeat().Zone, start)
		if again.Repeat() != r.Repeat() || again.last != r.last || !slices.Equal(again.occurrences(start, 20),
			r.occurrences(start, 20)) {
			t.Errorf("%q is %+v and, read again, %+v", c.rule, r.Repeat(), again.Repeat())
		}
	}
	if got := repeat(t, "daily", "UTC", start).Repeat(); got != (Repeat{Rule: "daily"}) {
		t.Errorf("UTC is stored as %q", got.Zone)
	}
}

func TestRepeatRefused(t *testing.T) {
	start := instant(t, "2027-01-01T10:00:00Z")
	for _, c := range []struct{ rule, caret, msg string }{
		{"", "^", "expected daily, weekly, or an RRULE such as FREQ=WEEKLY;BYDAY=MO,FR"},
		{"dayly", "^", "did you mean daily?"},
		{"monthly", "^", "monthly is written FREQ=MONTHLY"},
		{"FREQ", "^", "expected daily"},
		{"RRULE:", "      ^", "expected daily"},
		{"INTERVAL=2", "^", "FREQ is missing"},
		{"FREQ=DAYLY", "     ^",
			`no FREQ "DAYLY": use one of YEARLY, MONTHLY, WEEKLY, DAILY, HOURLY, MINUTELY; did you mean DAILY?`},
		{"FREQ=DAILY;", "           ^", "parts are joined by semicolons"},
		{"FREQ=DAILY,COUNT=3", "     ^", "no FREQ"},
		{"FREQ=DAILY;COUNT", "           ^", "expected a part"},
		{"FREQ=DAILY;FREQ=DAILY", "           ^", "FREQ is given twice"},
		{"FREQ=DAILY;BYDAYS=MO", "           ^", `a rule has no part "BYDAYS"; did you mean BYDAY?`},
		{"FREQ=YEARLY;BYEASTER=1", "            ^", "no part"},
		{"FREQ=DAILY;DTSTART=20270101T100000Z", "           ^", "DTSTART is no part of the rule"},
		{"FREQ=DAILY;DTSTART;TZID=Europe/Berlin:20270101T100000", "           ^", "expected a part"},
		{"FREQ=DAILY;INTERVAL=0", "                    ^", "INTERVAL takes whole numbers from 1 to 1000000, not \"0\""},
		{"FREQ=DAILY;INTERVAL=-1", "                    ^", "INTERVAL takes"},
		{"FREQ=DAILY;COUNT=0", "                 ^", "COUNT takes whole numbers from 1 to 10000"},
		{"FREQ=DAILY;COUNT=99999999999999999999", "                 ^", "COUNT takes"},
		{"FREQ=DAILY;BYHOUR=8,24", "                    ^", `BYHOUR takes whole numbers from 0 to 23, not "24"`},
		{"FREQ=DAILY;BYHOUR=8,", "                    ^", "BYHOUR takes"},
		{"FREQ=DAILY;BYHOUR=+8", "                  ^", "BYHOUR takes"},
		{"FREQ=MONTHLY;BYMONTHDAY=32", "                        ^",
			"from 1 to 31, or from -31 to -1 to count from the end"},
		{"FREQ=MONTHLY;BYMONTHDAY=--1", "                        ^", "BYMONTHDAY takes"},
		{"FREQ=MONTHLY;BYMONTHDAY=0", "                        ^", "BYMONTHDAY takes"},
		{"FREQ=WEEKLY;BYDAY=MO,XX", "                     ^", `"XX" is no day: use MO`},
		{"FREQ=WEEKLY;BYDAY=0MO", "                  ^", "the number of a day takes"},
		{"FREQ=WEEKLY;WKST=2MO", "                 ^", "WKST is a day such as MO"},
		{"FREQ=WEEKLY;BYDAY=2MO", "            ^", "2MO, goes with FREQ=MONTHLY and FREQ=YEARLY only"},
		{"FREQ=MONTHLY;BYDAY=6MO", "             ^", "no month has +6MO"},
		{"FREQ=YEARLY;BYMONTH=3;BYDAY=-6MO", "                      ^", "no month has -6MO"},
		{"FREQ=YEARLY;BYWEEKNO=3;BYDAY=2MO", "                       ^", "does not go with BYWEEKNO"},
		{"FREQ=YEARLY;BYWEEKNO=53", "                     ^", "from 1 to 51, or from -51 to -1"},
		{"FREQ=MONTHLY;BYWEEKNO=3", "             ^", "BYWEEKNO goes with FREQ=YEARLY only"},
		{"FREQ=DAILY;BYYEARDAY=3", "           ^", "BYYEARDAY does not go with FREQ=DAILY"},
		{"FREQ=WEEKLY;BYMONTHDAY=3", "            ^", "BYMONTHDAY does not go with FREQ=WEEKLY"},
		{"FREQ=MONTHLY;BYSETPOS=1", "             ^", "BYSETPOS picks from what another"},
		{"FREQ=HOURLY;BYMINUTE=1,2;BYSETPOS=1", "                         ^",
			"BYSETPOS goes with FREQ=DAILY at the shortest"},
		{"FREQ=DAILY;UNTIL=2027", "                 ^", "UNTIL is a day such as 20271231"},
		{"FREQ=DAILY;UNTIL=20270230", "                 ^", "UNTIL is a day"},
		{"FREQ=DAILY;UNTIL=20270101T0000.5Z", "                 ^", "UNTIL is a day"},
		{"FREQ=DAILY;UNTIL=20261231", "           ^", "UNTIL lies before the first start, 2027-01-01T10:00:00Z"},
		{"FREQ=DAILY;UNTIL=20271231;COUNT=3", "           ^", "COUNT and UNTIL exclude each other"},
		{"FREQ=DAILY\nCOUNT=3", "     ^", "no FREQ"},

		// More often than once a minute.
		{"FREQ=SECONDLY", "     ^", "a rule repeats once a minute at most"},
		{"FREQ=SECONDLY;INTERVAL=90", "     ^", "write MINUTELY"},
		{"FREQ=DAILY;BYSECOND=0,30", "           ^", "BYSECOND takes one number"},
		{"FREQ=YEARLY;BYHOUR=" + numbers(24) + ";BYMINUTE=" + numbers(60), "", "write FREQ=MINUTELY"},

		// Never again.
		{"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "^", "it never occurs again: no day is as it asks for"},
		{"COUNT=1;FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "        ^", "never"},
		{"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30;UNTIL=20301231", "^", "never"},
		{"FREQ=MONTHLY;BYMONTH=4,6,9,11;BYMONTHDAY=31", "^", "never"},
		{"FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", "^", "never"},
		{"FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30", "^", "never"},
		{"FREQ=MINUTELY;BYHOUR=23;BYMONTH=2;BYMONTHDAY=30", "^", "never"},
		{"FREQ=WEEKLY;BYDAY=MO;BYSETPOS=2", "^", "never"},
		{"FREQ=DAILY;BYHOUR=3;BYSETPOS=2", "^", "never"},
		{"FREQ=YEARLY;BYYEARDAY=366;BYMONTH=1", "^", "never"},
		{"FREQ=DAILY;INTERVAL=7;BYDAY=SA", "^", "never"}, // it starts on a Friday
		{"FREQ=YEARLY;INTERVAL=1000000", "^", "never"},
		{"FREQ=HOURLY;INTERVAL=2;BYHOUR=11", "            ^", "INTERVAL steps over every BYHOUR and BYMINUTE"},
		{"FREQ=MINUTELY;INTERVAL=7200;BYMINUTE=1", "              ^", "INTERVAL steps over"},
		{strings.Repeat("x", maxRepeatText+1), "", "longer than"},
	} {
		began := time.Now()
		_, err := Parse(c.rule, "", start)
		var se *syntax.Error
		if !errors.As(err, &se) {
			t.Errorf("%.80q: %v", c.rule, err)
			continue
		}
		if _, caret, _ := strings.Cut(se.Caret(), "\n"); c.caret != "" && caret != c.caret {
			t.Errorf("%q: %s\n%s", c.rule, se.Msg, se.Caret())
		}
		if !strings.Contains(se.Error(), c.msg) {
			t.Errorf("%.80q: %v\nwant %s", c.rule, se, c.msg)
		}
		if d := time.Since(began); d > 5*time.Second {
			t.Errorf("%q took %s", c.rule, d)
		}
	}
	for _, c := range []struct {
		zone  string
		start int64
	}{
		{"Europe/Atlantis", start}, {"Local", start}, {"../etc/passwd", start}, {"", -1}, {"", lastRepeat + 1},
	} {
		if _, err := Parse("daily", c.zone, c.start); !errors.Is(err, ErrInvalid) {
			t.Errorf("%q, %d: %v", c.zone, c.start, err)
		}
	}
}

// numbers writes 0 to n-1.
func numbers(n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprint(i))
	}
	return strings.Join(list, ",")
}

// How long ago a rule began, and how far off the instant is, must not matter.
func TestRepeatBounded(t *testing.T) {
	start := instant(t, "1970-01-01T00:00:00Z")
	for _, rule := range []string{"FREQ=MINUTELY", "FREQ=MINUTELY;INTERVAL=7;BYHOUR=3;BYMONTH=2;BYMONTHDAY=29;BYDAY=SU",
		"FREQ=HOURLY;INTERVAL=25", "daily", "weekly", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=SU",
		"FREQ=MINUTELY;COUNT=10000", "FREQ=YEARLY;COUNT=10000"} {
		r := repeat(t, rule, "Europe/Berlin", start)
		began := time.Now()
		for _, at := range []int64{start, instant(t, "2027-06-01T00:00:00Z"), instant(t, "9000-01-01T00:00:00Z"),
			lastRepeat - 1, lastRepeat, 1<<63 - 1, -1 << 63} {
			if next, ok := r.After(at); ok && next <= at {
				t.Errorf("%s: after %d comes %d", rule, at, next)
			}
		}
		if d := time.Since(began); d > 5*time.Second {
			t.Errorf("%s took %s", rule, d)
		}
	}
	if at, ok := repeat(t, "FREQ=YEARLY;COUNT=500", "", start).After(instant(t, "2468-06-01T00:00:00Z")); !ok ||
		at != instant(t, "2469-01-01T00:00:00Z") {
		t.Errorf("the 500th year is %d, %v", at, ok)
	}
}

var testZones = []string{"", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia",
	"Africa/Casablanca", "America/Asuncion"}

// naiveInstant tries every offset that clocks had around a wall time.
func naiveInstant(wall int64, zone *time.Location) int64 {
	least := int64(1 << 40)
	best := int64(-1)
	for probe := wall - 36*3600; probe <= wall+36*3600; probe += 900 {
		offset := wallOf(probe, zone) - probe
		if at := wall - offset; wallOf(at, zone) == wall && (best < 0 || at < best) {
			best = at
		}
		least = min(least, offset) // if clocks go forward, the offset from before
	}
	if best < 0 {
		return wall - least
	}
	return best
}

// daily and weekly give what counting days on a calendar gives.
func TestRepeatDayByDay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zone, err := time.LoadLocation(rapid.SampledFrom(testZones).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		rule, step := "daily", 1
		if rapid.Bool().Draw(t, "weekly") {
			rule, step = "weekly", 7
		}
		// Starts are at all times of day within sixty years, often in the small hours, when
		// clocks change.
		midnight := rapid.Int64Range(1, 60*365).Draw(t, "day") * secondsOfDay
		wall := midnight + 900*rapid.Int64Range(0, 4*4).Draw(t, "quarters")
		if rapid.Bool().Draw(t, "any time") {
			wall = midnight + rapid.Int64Range(0, secondsOfDay-1).Draw(t, "second")
		}
		start := naiveInstant(wall, zone)
		r, err := Parse(rule, zone.String(), start)
		if err != nil {
			t.Fatal(err)
		}
		wall = wallOf(start, zone)
		at := start
		for i := 1; i <= 400; i++ {
			want := naiveInstant(wall+int64(i*step)*secondsOfDay, zone)
			if want == at {
				continue // a day that was skipped falls on the next
			}
			got, ok := r.After(at)
			if !ok || got != want || got <= at {
				t.Fatalf("%s from %s in %s: after %s comes %s, not %s", rule, stamp(start), zone, stamp(at), stamp(got),
					stamp(want))
			}
			if mid, ok := r.After(got - 1); !ok || mid != got {
				t.Fatalf("right before %s comes %s", stamp(got), stamp(mid))
			}
			at = got
		}
	})
}

// naiveRule goes through all minutes of all days and checks each against the rule, according
// to the RFC. Times are in UTC.
type naiveRule struct {
	o     *rrule.ROption
	start time.Time
}

func (n naiveRule) until(end time.Time) []int64 {
	sets := make(map[int][]int64)
	var order []int
	first := n.period(n.start)
	for day := n.start.AddDate(-1, 0, -n.start.YearDay()).Truncate(secondsOfDay * time.Second); day.Before(
		end.AddDate(1, 0, 0)); day = day.AddDate(0, 0, 1) {
		if !n.day(day) {
			continue
		}
		for minute := range minutesOfDay {
			if !n.minute(minute) {
				continue
			}
			at := day.Add(time.Duration(minute)*time.Minute + time.Duration(n.second())*time.Second)
			k := n.period(at) - first
			if k < 0 || k%max(1, n.o.Interval) != 0 {
				continue
			}
			if sets[k] == nil {
				order = append(order, k)
			}
			sets[k] = append(sets[k], at.Unix())
		}
	}
	var out []int64
	for _, k := range order {
		for i, at := range sets[k] {
			pos := n.o.Bysetpos
			if len(pos) > 0 && !slices.Contains(pos, i+1) && !slices.Contains(pos, i-len(sets[k])) {
				continue
			}
			if at >= n.start.Unix() && at < end.Unix() {
				out = append(out, at)
			}
		}
	}
	slices.Sort(out)
	return out
}

func (n naiveRule) second() int {
	if len(n.o.Bysecond) > 0 {
		return n.o.Bysecond[0]
	}
	return n.start.Second()
}

func (n naiveRule) period(t time.Time) int {
	switch n.o.Freq {
	case rrule.YEARLY:
		return t.Year()
	case rrule.MONTHLY:
		return t.Year()*12 + int(t.Month())
	case rrule.WEEKLY:
		return (int(t.Unix()/secondsOfDay) + 3 - n.o.Wkst.Day()) / 7 // the epoch was a Thursday
	case rrule.DAILY:
		return int(t.Unix() / secondsOfDay)
	case rrule.HOURLY:
		return int(t.Unix() / 3600)
	}
	return int(t.Unix() / 60)
}

func (n naiveRule) minute(m int) bool {
	o := n.o
	hour, minute := slices.Contains(o.Byhour, m/60), slices.Contains(o.Byminute, m%60)
	if len(o.Byhour) == 0 {
		hour = o.Freq >= rrule.HOURLY || m/60 == n.start.Hour()
	}
	if len(o.Byminute) == 0 {
		minute = o.Freq >= rrule.MINUTELY || m%60 == n.start.Minute()
	}
	return hour && minute
}

func (n naiveRule) day(d time.Time) bool {
	o := n.o
	daysOfMonth := d.AddDate(0, 1, -d.Day()).Day()
	daysOfYear := time.Date(d.Year(), 12, 31, 0, 0, 0, 0, time.UTC).YearDay()
	in := func(list []int, value, length int) bool {
		return len(list) == 0 || slices.Contains(list, value) || slices.Contains(list, value-length-1)
	}
	week, weeks := naiveWeek(d, o.Wkst.Day())
	if !in(o.Bymonth, int(d.Month()), 12) || !in(o.Bymonthday, d.Day(), daysOfMonth) ||
		!in(o.Byyearday, d.YearDay(), daysOfYear) || !in(o.Byweekno, week, weeks) {
		return false
	}
	if len(o.Byweekday) > 0 {
		return slices.ContainsFunc(o.Byweekday, func(w rrule.Weekday) bool {
			day, length := d.Day(), daysOfMonth
			if o.Freq == rrule.YEARLY && len(o.Bymonth) == 0 {
				day, length = d.YearDay(), daysOfYear
			}
			nth, fromEnd := (day-1)/7+1, -((length-day)/7 + 1)
			return w.Day() == mondayFirst(d) && (w.N() == 0 || w.N() == nth || w.N() == fromEnd)
		})
	}
	if len(o.Bymonthday)+len(o.Byyearday) > 0 || o.Freq >= rrule.DAILY {
		return true
	}
	if o.Freq == rrule.WEEKLY || len(o.Byweekno) > 0 {
		return d.Weekday() == n.start.Weekday()
	}
	return d.Day() == n.start.Day() && (o.Freq == rrule.MONTHLY || len(o.Bymonth) > 0 || d.Month() == n.start.Month())
}

// naiveWeek numbers weeks so that the first one has at least four days of the year.
func naiveWeek(d time.Time, wkst int) (week, weeks int) {
	begin := d.AddDate(0, 0, -((mondayFirst(d) - wkst + 7) % 7))
	first := func(year int) time.Time {
		fourth := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC)
		return fourth.AddDate(0, 0, -((mondayFirst(fourth) - wkst + 7) % 7))
	}
	year := begin.AddDate(0, 0, 3).Year()
	const length = 7 * secondsOfDay
	return int(begin.Unix()-first(year).Unix())/length + 1, int(first(year+1).Unix()-first(year).Unix()) / length
}

// drawRule makes up a rule, which may be invalid.
func drawRule(t *rapid.T) string {
	freq := rapid.SampledFrom([]string{"YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY"}).Draw(t, "freq")
	rule := "FREQ=" + freq
	list := func(key string, low, high int, often int) {
		if rapid.IntRange(1, 10).Draw(t, key) > often {
			return
		}
		var words []string
		for range rapid.IntRange(1, 3).Draw(t, "length") {
			v := rapid.IntRange(low, high).Draw(t, "value")
			if v == 0 && low < 0 {
				v = 1
			}
			words = append(words, fmt.Sprint(v))
		}
		rule += ";" + key + "=" + strings.Join(words, ",")
	}
	if n := rapid.IntRange(1, 5).Draw(t, "interval"); n > 1 {
		rule += fmt.Sprintf(";INTERVAL=%d", n)
	}
	if rapid.IntRange(0, 3).Draw(t, "wkst") == 0 {
		rule += ";WKST=" + rapid.SampledFrom(weekdays).Draw(t, "day").String()
	}
	list("BYMONTH", 1, 12, 2)
	list("BYMONTHDAY", -31, 31, 2)
	if freq == "YEARLY" {
		list("BYWEEKNO", -51, 51, 2)
		list("BYYEARDAY", -366, 366, 2)
	}
	if rapid.IntRange(0, 2).Draw(t, "byday") == 0 {
		var words []string
		for range rapid.IntRange(1, 3).Draw(t, "length") {
			number := ""
			if (freq == "YEARLY" || freq == "MONTHLY") && rapid.Bool().Draw(t, "numbered") {
				number = fmt.Sprint(rapid.SampledFrom([]int{-53, -5, -1, 1, 2, 5, 20, 52, 53}).Draw(t, "number"))
			}
			words = append(words, number+rapid.SampledFrom(weekdays).Draw(t, "day").String())
		}
		rule += ";BYDAY=" + strings.Join(words, ",")
	}
	list("BYHOUR", 0, 23, 2)
	list("BYMINUTE", 0, 59, 2)
	list("BYSECOND", 0, 59, 1)
	list("BYSETPOS", -10, 10, 1)
	return rule
}

// A rule gives what going through all minutes finds.
func TestRepeatMinuteByMinute(t *testing.T) {
	read := 0
	rapid.Check(t, func(t *rapid.T) {
		rule := drawRule(t)
		start := time.Unix(rapid.Int64Range(1_700_000_000, 1_900_000_000).Draw(t, "start"), 0).UTC()
		r, err := Parse(rule, "", start.Unix())
		var se *syntax.Error
		if errors.As(err, &se) && !strings.Contains(se.Msg, "never") {
			return
		}
		if err != nil && se == nil {
			t.Fatal(err)
		}
		read++
		p := parser{text: rule, zone: time.UTC}
		if err := p.parse(); err != nil {
			t.Fatal(err)
		}
		end := start.AddDate(7, 0, 0)
		if p.rule.Freq == rrule.MINUTELY {
			end = start.AddDate(0, 3, 0)
		}
		want := naiveRule{&p.rule, start}.until(end)
		if r == nil {
			if len(want) > 1 {
				t.Fatalf("%s from %s is refused (%v) and occurs at %s", rule, stamp(start.Unix()), err, stamp(want[1]))
			}
			return
		}
		var got []int64
		for at, ok := r.After(start.Unix() - 1); ok && at < end.Unix(); at, ok = r.After(at) {
			got = append(got, at)
			if len(got) > 3000 {
				want = want[:min(len(want), len(got))]
				break
			}
		}
		if i := firstDifference(got, want); i >= 0 {
			t.Fatalf("%s from %s: the occurrence %d of %d is %v, not %v of %d", rule, stamp(start.Unix()), i, len(got),
				stampAt(got, i), stampAt(want, i), len(want))
		}
	})
	if read == 0 {
		t.Error("no rule was read")
	}
}

func firstDifference(a, b []int64) int {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return i
		}
	}
	return -1
}

func stampAt(list []int64, i int) string {
	if i < len(list) {
		return stamp(list[i])
	}
	return "none"
}

// After returns the same sequence wherever you enter it, also in zones.
func TestRepeatIncreases(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule := drawRule(t)
		zone := rapid.SampledFrom(testZones).Draw(t, "zone")
		start := rapid.Int64Range(0, 2_000_000_000).Draw(t, "start")
		r, err := Parse(rule, zone, start)
		if err != nil {
			return
		}
		from := start + rapid.Int64Range(-10, 1_000_000_000).Draw(t, "from")
		var times []int64
		for at, ok := r.After(from); ok && len(times) < 100; at, ok = r.After(at) {
			if at <= from || len(times) > 0 && at <= times[len(times)-1] {
				t.Fatalf("%s from %d: %d after %v", rule, from, at, times)
			}
			times = append(times, at)
		}
		last := from
		for _, want := range times {
			t0 := rapid.Int64Range(last, want-1).Draw(t, "between")
			if got, ok := r.After(t0); !ok || got != want {
				t.Fatalf("%s %s: after %s comes %s, after %s %s", rule, zone, stamp(last), stamp(want), stamp(t0),
					stamp(got))
			}
			last = want
		}
	})
}

func FuzzRepeat(f *testing.F) {
	for _, s := range []string{"daily", "RRULE:FREQ=WEEKLY;BYDAY=MO,FR", "FREQ=MONTHLY;BYDAY=-1FR,SU;COUNT=7",
		"FREQ=YEARLY;BYWEEKNO=-1;WKST=SU",
		"FREQ=HOURLY;INTERVAL=5;BYHOUR=3;UNTIL=20271231", "FREQ=MINUTELY;INTERVAL=7;BYSECOND=3",
		"FREQ=DAILY;BYHOUR=1,2;BYSETPOS=-1"} {
		f.Add(s, int64(1795167000), uint8(1))
	}
	f.Fuzz(func(t *testing.T, rule string, start int64, zone uint8) {
		began := time.Now()
		r, err := Parse(rule, testZones[int(zone)%len(testZones)], start)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Fatalf("%q", err)
			}
			return
		}
		again, err := Parse(r.Repeat().Rule, r.Repeat().Zone, start)
		if err != nil || again.Repeat() != r.Repeat() || again.last != r.last {
			t.Fatalf("%q is %+v: %v", rule, r.Repeat(), err)
		}
		at := start
		for range 20 {
			next, ok := r.After(at)
			if !ok {
				break
			}
			if next <= at || next > lastRepeat {
				t.Fatalf("%q: after %d comes %d", rule, at, next)
			}
			at = next
		}
		if d := time.Since(began); d > 10*time.Second {
			t.Fatalf("%q took %s", rule, d)
		}
	})
}
