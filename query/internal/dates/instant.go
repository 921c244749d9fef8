package dates

import (
	"math"
)

// Instant is in milliseconds since noon of 24 November 4714 BC, as in SQLite: Julian days, on the
// Gregorian calendar throughout (Meeus, Astronomical Algorithms, chapter 7). All is UTC.
type Instant int64

const (
	dayMillis   = 86400000
	epochMillis = 210866760000000 // 1970-01-01
	lastInstant = 464269060799999 // the end of 9999
)

func (t Instant) Valid() bool { return t >= 0 && t <= lastInstant }

// civil is an instant as calendar and clock show it.
type civil struct {
	year, month, day, hour, minute int
	millis                         int // within the minute
}

func (t Instant) civil() civil {
	z := int((int64(t) + dayMillis/2) / dayMillis)
	alpha := int((float64(z)+32044.75)/36524.25) - 52
	a := z + 1 + alpha - (alpha+100)/4 + 25
	b := a + 1524
	c := int((float64(b) - 122.1) / 365.25)
	d := 36525 * (c & 32767) / 100
	e := int(float64(b-d) / 30.6001)
	out := civil{day: b - d - int(30.6001*float64(e)), month: e - 1}
	if e >= 14 {
		out.month = e - 13
	}
	if out.year = c - 4716; out.month <= 2 {
		out.year = c - 4715
	}
	ms := int((int64(t) + dayMillis/2) % dayMillis)
	out.hour, out.minute, out.millis = ms/3600000, ms/60000%60, ms%60000
	return out
}

// instant converts back. Days and months out of range carry over.
func (c civil) instant() Instant {
	y, m := c.year, c.month
	if m <= 2 {
		y, m = y-1, m+12
	}
	a := (y + 4800) / 100
	b := 38 - a + a/4
	x1 := 36525 * (y + 4716) / 100
	x2 := 306001 * (m + 1) / 10000
	day := float64(x1+x2+c.day+b) - 1524.5
	return Instant(int64(day*dayMillis) + int64(c.hour)*3600000 + int64(c.minute)*60000 + int64(c.millis))
}

// Seconds returns the instant in Unix seconds, without the fraction.
func (t Instant) Seconds() int64 {
	return int64(math.Floor(float64(int64(t)-epochMillis) / 1000))
}

// OfSeconds returns the instant of a Unix time.
func OfSeconds(n int64) Instant { return Instant(n*1000 + epochMillis) }

// OfUnix returns the instant of a Unix time with a fraction; ok is false beyond the supported
// years.
func OfUnix(f float64) (t Instant, ok bool) {
	if f < -210866760000 || f > 253402300799 {
		return 0, false
	}
	return Instant(math.Floor(f*1000+0.5) + epochMillis), true
}

// OfJulianDay returns the instant of a Julian day; ok is false beyond the supported years.
func OfJulianDay(f float64) (t Instant, ok bool) {
	if f < 0 || f >= 5373484.5 {
		return 0, false
	}
	return Instant(f*dayMillis + 0.5), true
}

// JulianDay returns the instant as a Julian day.
func (t Instant) JulianDay() float64 { return float64(t) / dayMillis }
