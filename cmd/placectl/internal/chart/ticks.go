package chart

import "time"

// tick is a mark on the time axis.
type tick struct {
	at    int64
	label string
}

// step is a distance between ticks that people find natural. Exactly one of its units is set.
type step struct {
	seconds, days, months int
	layout                string
	room                  int // characters of its labels
	over                  int // the next larger unit, which the line above shows
}

// What the line above the ticks shows.
const (
	overDays = iota
	overYears
	overNothing
)

var steps = []step{
	{seconds: 1, layout: "15:04:05", room: 8}, {seconds: 5, layout: "15:04:05", room: 8},
	{seconds: 10, layout: "15:04:05", room: 8},
	{seconds: 30, layout: "15:04:05", room: 8}, {seconds: 60, layout: "15:04", room: 5},
	{seconds: 120, layout: "15:04", room: 5},
	{seconds: 300, layout: "15:04", room: 5}, {seconds: 600, layout: "15:04", room: 5},
	{seconds: 900, layout: "15:04", room: 5},
	{seconds: 1800, layout: "15:04", room: 5}, {seconds: 3600, layout: "15:04", room: 5},
	{seconds: 7200, layout: "15:04", room: 5},
	{seconds: 3 * 3600, layout: "15:04", room: 5}, {seconds: 6 * 3600, layout: "15:04", room: 5},
	{seconds: 12 * 3600, layout: "15:04", room: 5},
	{days: 1, layout: "Mon 2 Jan", room: 10, over: overYears}, {days: 2, layout: "Mon 2 Jan", room: 10,
		over: overYears},
	{days: 7, layout: "2 Jan", room: 6, over: overYears}, {months: 1, layout: "Jan 2006", room: 8, over: overNothing},
	{months: 3, layout: "Jan 2006", room: 8, over: overNothing}, {months: 6, layout: "Jan 2006", room: 8,
		over: overNothing},
	{months: 12, layout: "2006", room: 4, over: overNothing}, {months: 24, layout: "2006", room: 4, over: overNothing},
	{months: 60, layout: "2006", room: 4, over: overNothing}, {months: 120, layout: "2006", room: 4, over: overNothing},
	{months: 600, layout: "2006", room: 4, over: overNothing},
	{months: 1200, layout: "2006", room: 4, over: overNothing},
	{months: 6000, layout: "2006", room: 4, over: overNothing}, {months: 12000, layout: "2006", room: 4,
		over: overNothing},
}

// axis is the time axis of a window: the labels at its ticks, and those in the line above them.
type axis struct{ ticks, heads []tick }

// axis returns the axis of the window, which is chars characters wide.
func (w *Window) axis(chars int, zone *time.Location) axis {
	s := pickStep(w.From, w.To, chars)
	return axis{s.ticks(w.From, w.To, zone), s.heads(w.From, w.To, zone)}
}

// length returns the approximate length of a step in seconds.
func (s *step) length() int64 {
	return int64(s.seconds) + int64(s.days)*86400 + int64(s.months)*30*86400
}

// pickStep returns the smallest step whose labels have room in a window that is chars characters wide.
func pickStep(from, to int64, chars int) *step {
	for i := range steps {
		s := &steps[i]
		if s.length()*int64(chars) >= int64(s.room+2)*(to-from) {
			return s
		}
	}
	return &steps[len(steps)-1]
}

// ticks lists the instants in [from, to) that are whole steps of the local clock, even across clock
// changes.
func (s *step) ticks(from, to int64, loc *time.Location) []tick {
	var out []tick
	first := s.floor(time.Unix(from, 0).In(loc))
	for i, last := 0, int64(-1); ; i++ {
		t := s.plus(first, i)
		at := t.Unix()
		switch {
		case at >= to:
			return out
		case at >= from && at > last:
			out = append(out, tick{at, t.Format(s.layout)})
			last = at
		}
	}
}

// floor returns the last whole step before t, by the local clock.
func (s *step) floor(t time.Time) time.Time {
	y, m, d := t.Date()
	switch {
	case s.months > 0:
		months := y*12 + int(m) - 1
		return time.Date(0, time.Month(1+months-months%s.months), 1, 0, 0, 0, 0, t.Location())
	case s.days == 7:
		return time.Date(y, m, d-(int(t.Weekday())+6)%7, 0, 0, 0, 0, t.Location()) // Monday
	case s.days > 0:
		day := int(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / 86400)
		return time.Date(y, m, d-day%s.days, 0, 0, 0, 0, t.Location())
	}
	seconds := t.Hour()*3600 + t.Minute()*60 + t.Second()
	return time.Date(y, m, d, 0, 0, seconds-seconds%s.seconds, 0, t.Location())
}

func (s *step) plus(t time.Time, n int) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m+time.Month(n*s.months), d+n*s.days, t.Hour(), t.Minute(), t.Second()+n*s.seconds, 0,
		t.Location())
}

// heads lists the labels of the line above the ticks: the days if ticks are hours, the years if they are
// days.
func (s *step) heads(from, to int64, loc *time.Location) []tick {
	day := step{days: 1, layout: "Mon 2 Jan"}
	first := "Mon 2 Jan 2006"
	switch s.over {
	case overNothing:
		return nil
	case overYears:
		day, first = step{months: 12, layout: "2006"}, "2006"
	}
	out := []tick{{from, time.Unix(from, 0).In(loc).Format(first)}}
	for _, t := range day.ticks(from, to, loc) {
		if t.at > from {
			out = append(out, t)
		}
	}
	return out
}

// betweenTicks splits the cells from now on at the ticks.
func (w *Window) betweenTicks(ticks []tick) [][2]int {
	spans := [][2]int{{max(w.nowCell(), 0), w.cells}}
	for _, t := range ticks {
		last := &spans[len(spans)-1]
		if at := w.cell(t.at); at > last[0] {
			last[1] = at
			spans = append(spans, [2]int{at, w.cells})
		}
	}
	return spans
}
