package text

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// testNow and testLoc, a zone with clock changes, are when and where the tests read times.
var (
	testNow = time.Date(2026, 11, 20, 9, 30, 15, 0, time.UTC)
	testLoc = mustLoad("Europe/Berlin")
)

func mustLoad(name string) *time.Location {
	loc, err := time.LoadLocation(name)
	if err != nil {
		panic(err)
	}
	return loc
}

const day = 24 * time.Hour

func TestParseDuration(t *testing.T) {
	tests := []struct {
		in   string
		want time.Duration
	}{
		{"0", 0}, {"90", 90 * time.Second}, {"1:30", 90 * time.Second}, {"90:00", 90 * time.Minute},
		{"1:30:00", 90 * time.Minute}, {"100:00:01", 100*time.Hour + time.Second},
		{"2-12:00:00", 60 * time.Hour}, {"2-12", 60 * time.Hour}, {"2-12:30", 60*time.Hour + 30*time.Minute},
		{"1h30m", 90 * time.Minute}, {"2d12h", 60 * time.Hour}, {"45s", 45 * time.Second}, {"1.5h", 90 * time.Minute},
		{"1w", 7 * day}, {"500ms", time.Second / 2}, {"1H30M", 90 * time.Minute},
		{"1h0.25s", time.Hour + time.Second/4},
		{"0.1s", time.Second / 10}, {"9223372036", 9223372036 * time.Second},
	}
	for _, tt := range tests {
		if got, err := ParseDuration(tt.in); err != nil || got != tt.want {
			t.Errorf("%q: %v %v, want %v", tt.in, got, err, tt.want)
		}
	}
}

func TestParseDurationRefuses(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", "it is empty"}, {"-5", "it is negative"}, {"-1:30:00", "it is negative"}, {"-1h", "it is negative"},
		{"-.5h", "it is negative"}, {"-", "days are missing"}, {"1:60", "seconds go up to 59"},
		{"1:60:00", "minutes go up to 59"},
		{"1-24", "hours go up to 23"}, {"1:2:3:4", "too many numbers"}, {"1-2:3:4:5", "too many numbers"},
		{"1::2", "minutes are missing"},
		{"1:", "seconds are missing"}, {"1h1h", "each once"}, {"1m1h", "long to short"},
		{"1h30", "the unit after 30 is missing"},
		{"1.5", "the unit after 1 is missing"}, {"1.h", "no digit after the point"}, {".5h", "a number is missing"},
		{"h", "a number is missing"},
		{"5 m", "the unit after 5 is missing"}, {"5y", "the units are"}, {"1:002", "seconds go up to 59"},
		{"9223372037", "too long"}, {"99999999999999999999", "too long"}, {"200000d", "too long"},
		{"106751d48h", "too long"}, {"999999-00", "too long"},
	} {
		if d, err := ParseDuration(tt.in); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v %v, want %q", tt.in, d, err, tt.want)
		}
	}
}

func TestFormatDuration(t *testing.T) {
	for _, tt := range []struct {
		d    time.Duration
		want string
	}{
		{0, "0s"}, {90 * time.Minute, "1h30m"}, {60 * time.Hour, "2d12h"}, {7 * day, "7d"}, {61 * time.Second, "1m1s"},
		{day + 28*time.Minute + 20*time.Second, "1d0h28m20s"}, {time.Hour + time.Second, "1h0m1s"},
		{8*day + time.Minute, "8d0h1m"},
		{1500 * time.Millisecond, "1.5s"}, {time.Hour + time.Second/4, "1h0.25s"}, {-90 * time.Second, "-1m30s"},
		{-time.Second / 2, "-0.5s"},
	} {
		if got := FormatDuration(tt.d); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.d, got, tt.want)
		}
	}
	if got := string(AppendDuration(nil, math.MinInt64)); got != "-106751991167300d15h30m8s" {
		t.Errorf("the smallest: %s", got)
	}
}

func isNumeral(c rune) bool { return c >= '0' && c <= '9' }

func TestAppendAbout(t *testing.T) {
	for _, tt := range []struct {
		seconds int64
		want    string
	}{
		{0, "0s"}, {59, "59s"}, {60, "1m"}, {3599, "59m59s"}, {3600, "1h"}, {3629, "1h"}, {3630, "1h1m"},
		{82197, "22h50m"}, {86369, "23h59m"}, {86370, "1d"},
		{88100, "1d"}, {88200, "1d1h"}, {1534320, "17d18h"}, {691573, "8d"}, {-3630, "-1h1m"}, {-45, "-45s"},
		{math.MaxInt64, "106751991167300d15h30m7s"}, {math.MinInt64, "-106751991167300d15h30m8s"},
	} {
		if got := string(AppendAbout(nil, tt.seconds)); got != tt.want {
			t.Errorf("%d s: %q, want %q", tt.seconds, got, tt.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		seconds := rapid.Int64Range(0, 1<<32).Draw(t, "seconds")
		about := string(AppendAbout(nil, seconds))
		d, err := ParseDuration(about)
		if off := int64(d/time.Second) - seconds; err != nil || off > 1800 || off < -1800 ||
			seconds < 3600 && off != 0 {
			t.Fatalf("%d s is %s: %d s more, %v", seconds, about, off, err)
		}
		if units := strings.FieldsFunc(about, isNumeral); len(units) > 2 {
			t.Fatalf("%d s is %s", seconds, about)
		}
	})
}

func TestDurationRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Min(0).Draw(t, "d"))
		if got, err := ParseDuration(FormatDuration(d)); err != nil || got != d {
			t.Fatalf("%v: %s: %v %v", d, FormatDuration(d), got, err)
		}
	})
}

func TestParseTime(t *testing.T) {
	tests := []struct{ in, want string }{
		{"now", "2026-11-20T09:30:15Z"}, {"now+2h", "2026-11-20T11:30:15Z"}, {"now-30m", "2026-11-20T09:00:15Z"},
		{"NOW+2-12:00:00", "2026-11-22T21:30:15Z"},
		{"10:00", "2026-11-20T09:00:00Z"}, {"9:05", "2026-11-20T08:05:00Z"}, {"23:59:59", "2026-11-20T22:59:59Z"},
		{"10:00Z", "2026-11-20T10:00:00Z"},
		{"today", "2026-11-19T23:00:00Z"}, {"today 10:00", "2026-11-20T09:00:00Z"},
		{"tomorrow", "2026-11-20T23:00:00Z"}, {"Tomorrow 08:00", "2026-11-21T07:00:00Z"},
		{"2026-11-20", "2026-11-19T23:00:00Z"}, {"2026-11-20 10:00", "2026-11-20T09:00:00Z"},
		{"2026-11-20 10:00:30", "2026-11-20T09:00:30Z"},
		{"2026-07-01T10:00", "2026-07-01T08:00:00Z"}, {"2026-07-01t10:00:01", "2026-07-01T08:00:01Z"},
		{"2026-11-20T10:00:00Z", "2026-11-20T10:00:00Z"}, {"2026-11-20T10:00:00.75+05:30", "2026-11-20T04:30:00Z"},
		{"2026-11-20 10:00-01:00", "2026-11-20T11:00:00Z"},
		{"2028-02-29", "2028-02-28T23:00:00Z"}, {"@0", "1970-01-01T00:00:00Z"},
		{" @1795167000 ", "2026-11-20T09:30:00Z"},
		{"2026-03-29 03:00", "2026-03-29T01:00:00Z"},
		{"2026-03-29 02:30", "2026-03-29T01:30:00Z"}, {"2026-10-25 02:30", "2026-10-25T00:30:00Z"},
		{"2026-10-25 03:00", "2026-10-25T02:00:00Z"},
	}
	for _, tt := range tests {
		got, err := ParseTime(tt.in, testNow, testLoc)
		if err != nil || got.UTC().Format(time.RFC3339) != tt.want {
			t.Errorf("%q: %v %v, want %s", tt.in, got.UTC(), err, tt.want)
		}
	}
}

func TestParseTimeRefuses(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", "it is empty"}, {"soon", "form is unknown"}, {"now 2h", "after now comes"}, {"now+", "is not a duration"},
		{"now+2x", "the units are"},
		{"tomorrowx", "after the day"}, {"tomorrow 8", "time of day is"}, {"25:00", "the clock goes"},
		{"10:60", "the clock goes"}, {"10:00:60", "the clock goes"},
		{"10:0", "time of day is"}, {"10:00x", "after the time of day"}, {"10:00+1", "after the time of day"},
		{"10:00:00.", "no digit"},
		{"2026-13-01", "months go"}, {"2026-02-29", "February 2026 has no day 29"},
		{"2026-11-31", "November 2026 has no day 31"}, {"2026-1-1", "a date is"},
		{"2026-11-20 ", ""}, {"2026-11-20T", "time of day is"}, {"20261120", "form is unknown"}, {"@", "after @"},
		{"@-1", "after @"}, {"@99999999999999", "after @"},
		{"1969-12-31", "outside the years"}, {"now+292000d", "too long"}, {"now-60000d", "outside the years"},
		{"0000-01-01", "outside the years"},
	} {
		got, err := ParseTime(tt.in, testNow, testLoc)
		if tt.want == "" {
			if err != nil {
				t.Errorf("%q: %v", tt.in, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v %v, want %q", tt.in, got, err, tt.want)
		}
	}
}

// Where clocks go forward at midnight, the day begins later.
// TestFromNow: now may be left out before a sign.
func TestFromNow(t *testing.T) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	for words, want := range map[string]time.Duration{"-7d": -168 * time.Hour, "+2h": 2 * time.Hour,
		"now-1h30m": -90 * time.Minute, "now": 0} {
		if got, err := ParseTime(words, now, time.UTC); err != nil || got.Sub(now) != want {
			t.Errorf("%s: %v, %v", words, got, err)
		}
	}
	for _, words := range []string{"-", "+", "--1h", "+-1h"} {
		if got, err := ParseTime(words, now, time.UTC); err == nil {
			t.Errorf("%s: %v", words, got)
		}
	}
}

func TestStartOfDay(t *testing.T) {
	beirut := mustLoad("Asia/Beirut")
	got, err := ParseTime("2026-03-29", testNow, beirut)
	if err != nil || got.Format("2006-01-02 15:04") != "2026-03-29 01:00" {
		t.Errorf("%v %v", got, err)
	}
}

func TestTimeRoundTrip(t *testing.T) {
	loc := time.FixedZone("", 5400)
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.Int64Range(0, lastEpoch-86400).Draw(t, "at")
		for _, text := range []string{string(AppendLocal(nil, at, loc)), string(AppendRFC3339(nil, at))} {
			if got, err := ParseTime(text, testNow, loc); err != nil || got.Unix() != at {
				t.Fatalf("%d as %s: %v %v", at, text, got, err)
			}
		}
	})
}

func FuzzParseDuration(f *testing.F) {
	for _, s := range []string{"90", "1:30:00", "2-12:00:00", "1h30m", "1.5h", "1h0.25s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := ParseDuration(s)
		if err != nil {
			return
		}
		if again, err := ParseDuration(FormatDuration(d)); d < 0 || err != nil || again != d {
			t.Fatalf("%q: %v, then %v %v", s, d, again, err)
		}
	})
}

func FuzzParseTime(f *testing.F) {
	for _, s := range []string{"now+2h", "2026-11-20T10:00:00.5+01:00", "tomorrow 08:00", "10:00", "@5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		at, err := ParseTime(s, testNow, testLoc)
		if err != nil {
			return
		}
		text := string(AppendRFC3339(nil, at.Unix()))
		if again, err := ParseTime(text, testNow, testLoc); err != nil || again.Unix() != at.Unix() {
			t.Fatalf("%q: %s, then %v %v", s, text, again, err)
		}
	})
}

// Days of the week are the next ones, unless the last one is requested. testNow is Friday,
// 10:30:15 there.
func TestWeekdays(t *testing.T) {
	for in, want := range map[string]string{
		"friday 18:00": "2026-11-20 18:00", "fri 09:00": "2026-11-27 09:00", "Friday": "2026-11-27 00:00",
		"sat": "2026-11-21 00:00", "thursday 08:00": "2026-11-26 08:00",
		"last friday": "2026-11-13 00:00",
		"last week":   "2026-11-09 00:00",
		"Last Month":  "2026-10-01 00:00", "last month 08:00": "2026-10-01 08:00",
		"2026-03": "2026-03-01 00:00", "last thu 12:00": "2026-11-19 12:00", "last sat": "2026-11-14 00:00",
		"tonight": "2026-11-20 20:00", "tonight 23:30": "2026-11-20 23:30", "yesterday": "2026-11-19 00:00",
		"yesterday 08:00": "2026-11-19 08:00",
	} {
		got, err := ParseTime(in, testNow, testLoc)
		if err != nil || got.In(testLoc).Format("2006-01-02 15:04") != want {
			t.Errorf("%s: %v, want %s (%v)", in, got, want, err)
		}
	}
	for _, in := range []string{"frid", "last", "last year", "fridays", "friday 25:00", "tonight at 8", "mon10:00"} {
		if got, err := ParseTime(in, testNow, testLoc); err == nil {
			t.Errorf("%s: %v, and no error", in, got)
		}
	}
}

func TestBriefTime(t *testing.T) {
	for in, want := range map[string]string{
		"2026-11-20T08:00:00Z": "09:00", "2026-11-19T23:00:00Z": "00:00", "2026-11-19T22:59:00Z": "Thu 23:59",
		"2026-11-26T09:00:00Z": "Thu 10:00",
		"2026-11-27T09:00:00Z": "Nov 27 10:00", "2026-11-05T09:00:00Z": "Nov  5 10:00",
		"2027-11-20T09:00:00Z": "2027-11-20",
	} {
		at, err := time.Parse(time.RFC3339, in)
		if got := BriefTime(at, testNow, testLoc); err != nil || got != want {
			t.Errorf("%s: %q, want %q (%v)", in, got, want, err)
		}
	}
}

// TestClockChanges: in zones of all kinds each time of day is the instant at which clocks show it, the first
// of two; one that
// a change skips comes as much later as the change is long. What is to come never lies in the past, and less
// than a day ahead.
func TestClockChanges(t *testing.T) {
	zones := []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Beirut", "America/Santiago",
		"UTC"}
	rapid.Check(t, func(t *rapid.T) {
		loc := mustLoad(rapid.SampledFrom(zones).Draw(t, "zone"))
		now := time.Unix(rapid.Int64Range(1767225600, 1861920000).Draw(t, "now"), 0)
		if rapid.Bool().Draw(t, "near a change") {
			if _, change := now.In(loc).ZoneBounds(); !change.IsZero() {
				now = change.Add(time.Duration(rapid.IntRange(-48*3600, 3*3600).Draw(t, "beside it")) * time.Second)
			}
		}
		h, m := rapid.IntRange(0, 23).Draw(t, "hour"), rapid.IntRange(0, 59).Draw(t, "minute")
		word := fmt.Sprintf("%02d:%02d", h, m)
		got, err := ParseTime(word, now, loc)
		if err != nil {
			t.Fatal(err)
		}
		day := now.In(loc)
		want, first := time.Time{}, time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, time.UTC).Add(
			-26*time.Hour)
		for at := first; at.Before(first.Add(80 * time.Hour)); at = at.Add(time.Minute) {
			is := at.In(loc)
			if is.YearDay() == day.YearDay() && is.Hour() == h && is.Minute() == m {
				want = at
				break
			}
		}
		switch skipped := want.IsZero(); {
		case !skipped && !got.Equal(want):
			t.Fatalf("%s on %s in %s: %s, want %s", word, day, loc, got, want)
		case skipped:
			begins, _ := got.ZoneBounds()
			_, before := begins.Add(-time.Second).Zone()
			if wall := got.Unix() + int64(before); wall/60%60 != int64(m) || wall/3600%24 != int64(h) {
				t.Fatalf("%s on %s in %s is skipped: %s", word, day, loc, got)
			}
		}
		next, err := ParseTimeToCome(word, now, loc)
		if err != nil || next.Before(now) || next.Sub(now) > 26*time.Hour {
			t.Fatalf("%s to come at %s in %s: %s, %v", word, now.In(loc), loc, next, err)
		}
	})
}

// TestToCome: what is to come is not in the past; tonight has begun by 20:00.
func TestToCome(t *testing.T) {
	for _, tt := range []struct{ now, in, want string }{
		{"2026-11-20 19:00", "20:00", "2026-11-20 20:00"}, {"2026-11-20 21:00", "20:00", "2026-11-21 20:00"},
		{"2026-11-20 19:00", "tonight", "2026-11-20 20:00"},
		{"2026-11-20 21:30", "tonight", "2026-11-20 21:30"}, {"2026-11-20 21:30", "tonight 22:00", "2026-11-20 22:00"},
		{"2026-11-20 21:00", "today 20:00", "2026-11-20 20:00"},
	} {
		now, _ := ParseTime(tt.now, testNow, testLoc)
		got, err := ParseTimeToCome(tt.in, now, testLoc)
		if err != nil || got.Format("2006-01-02 15:04") != tt.want {
			t.Errorf("%s at %s: %v %v, want %s", tt.in, tt.now, got, err, tt.want)
		}
	}
}
