package forecast

import (
	"math"
	"slices"
)

const (
	outcomes = 200  // how many are kept
	perUser  = 3    // at most this many of one user, if there are several users
	likelyAt = 0.5  // the quantile of a likely start
	safeAt   = 0.92 // the quantile of a safe one: nine of ten start by then
	ofWait   = 0.2  // the width is at least this part of the wait by asked durations
	minWidth = 300  // seconds
)

// Enough is the number of outcomes from which the record counts.
const Enough = 30

// Plays are the starts of a job in two plays of the queue at an instant.
type Plays struct {
	Now   int64
	Asked int64 // if all jobs run as long as they asked for
	Drawn int64 // if all run for their likely durations
}

// width returns the unit in which outcomes are measured.
func (p Plays) width() float64 {
	return max(float64(p.Asked-p.Drawn), ofWait*float64(p.Asked-p.Now), minWidth)
}

// Forecast is when a job is expected to start.
type Forecast struct {
	Likely int64 // sooner as often as later
	Safe   int64 // by then in nine of ten cases
	Asked  int64 // the latest, if no other job comes before it
}

// Outcome is a forecast and the actual start.
type Outcome struct {
	Job  uint64
	User string
	Plays
	Forecast
	Start int64
}

// z returns the start in widths after that of the play with likely durations.
func (o *Outcome) z() float64 { return float64(o.Start-o.Drawn) / o.width() }

// Kept reports whether the job started by its safe start.
func (o *Outcome) Kept() bool { return o.Start <= o.Safe }

// Record is the outcomes of forecasts. The zero value has none.
type Record struct {
	list []Outcome // the oldest first
	of   map[string]int
}

// Outcomes lists the outcomes, the oldest first. Do not change them.
func (r *Record) Outcomes() []Outcome { return r.list }

// Len returns the number of outcomes.
func (r *Record) Len() int { return len(r.list) }

// Kept returns the number of jobs that started by their safe start.
func (r *Record) Kept() (n int) {
	for i := range r.list {
		if r.list[i].Kept() {
			n++
		}
	}
	return n
}

// Of makes a forecast of two plays. With few outcomes, the plays are the forecast.
func (r *Record) Of(p Plays) Forecast {
	likely, safe := p.Drawn, max(p.Asked, p.Drawn)
	if len(r.list) >= Enough {
		z := make([]float64, len(r.list))
		for i := range r.list {
			z[i] = r.list[i].z()
		}
		slices.Sort(z)
		at := func(i int) int64 { return p.Drawn + int64(z[i]*p.width()) }
		likely, safe = at(int(likelyAt*float64(len(z)))), at(int(safeAt*float64(len(z))))
		safe = max(safe, min(at(r.safest(len(z))), p.Asked))
	}
	likely = max(likely, p.Now)
	return Forecast{Likely: likely, Safe: max(safe, likely), Asked: p.Asked}
}

// safest returns the index, among n sorted outcomes, of a safe start if the record is of few
// users; the caller uses it only up to A. The next job is one more beside those known, and
// jobs of one user are late together. So with m users the quantile is (m+1)/m times as high,
// as in conformal prediction.
func (r *Record) safest(n int) int {
	m := float64(len(r.of))
	if m == 1 {
		m = float64(n)
	}
	return min(n-1, int(math.Ceil(math.Ceil((m+1)*safeAt)/m*float64(n)))-1)
}

// Learn records the start of a job that had a forecast.
func (r *Record) Learn(o Outcome) {
	if r.of == nil {
		r.of = make(map[string]int)
	}
	r.list = append(r.list, o)
	r.of[o.User]++
	for len(r.of) > 1 && r.of[o.User] > perUser { // one user's burst must not fill the record
		r.drop(slices.IndexFunc(r.list, func(other Outcome) bool { return other.User == o.User }))
	}
	if len(r.list) > outcomes {
		r.drop(0)
	}
}

func (r *Record) drop(i int) {
	user := r.list[i].User
	if r.of[user]--; r.of[user] == 0 {
		delete(r.of, user)
	}
	r.list = slices.Delete(r.list, i, i+1)
}
