// Package daily shows what people look at every day: jobs a line each, one screen of a cluster, the
// same kept up to date, and ended jobs. It reads a store, and knows no verb, no flag, and no clock but
// the store's.
package daily

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/placectl/placectl/internal/engine"
)

// Filter selects jobs. Its zero value selects all.
type Filter struct {
	States []engine.JobState // any of these; none: all
	User   string
	Queue  string
	Class  string
	Name   string    // a pattern: night-*
	Since  time.Time // only jobs that had not ended before
	Until  time.Time // only jobs submitted before
}

// CheckName refuses an invalid pattern of names.
func CheckName(pattern string) error {
	_, err := path.Match(pattern, "")
	return err
}

// Lets reports whether the filter selects a job, whatever its state.
func (f *Filter) Lets(j *engine.Job) bool {
	switch {
	case f.User != "" && j.User != f.User,
		f.Queue != "" && j.Queue != f.Queue,
		f.Class != "" && j.Class != f.Class,
		!f.Until.IsZero() && !j.Submit.Before(f.Until),
		!f.Since.IsZero() && !j.State.Live() && j.End.Before(f.Since):
		return false
	}
	if f.Name == "" {
		return true
	}
	// Here a slash matches like any other character.
	flat := func(s string) string { return strings.ReplaceAll(s, "/", "\x00") }
	ok, err := path.Match(flat(f.Name), flat(j.Name))
	return ok && err == nil
}

// Each calls fn for the selected jobs, by state and number.
func (f *Filter) Each(tx *engine.Tx, fn func(*engine.Job) error) error {
	return tx.Jobs().Each(func(j *engine.Job) error {
		if !f.Lets(j) {
			return nil
		}
		return fn(j)
	}, f.States...)
}

// EachIn calls fn for the selected jobs in an order. It holds the jobs in memory only for orders that
// are not the store's own.
func (f *Filter) EachIn(tx *engine.Tx, o Order, fn func(*engine.Job) error) error {
	if o == ByState {
		return f.Each(tx, fn)
	}
	var all []*engine.Job
	if err := f.Each(tx, func(j *engine.Job) error { all = append(all, j); return nil }); err != nil {
		return err
	}
	if err := o.sort(tx, all); err != nil {
		return err
	}
	for _, j := range all {
		if err := fn(j); err != nil {
			return err
		}
	}
	return nil
}

// Order is how a list of jobs is sorted.
type Order int

// The orders.
const (
	ByState Order = iota // as the store has them: by state, then by number
	Next                 // the next events come first: ends, planned starts, then the queue
	Newest               // the latest submissions come first
)

// sort sorts jobs.
func (o Order) sort(tx *engine.Tx, jobs []*engine.Job) error {
	if o == Newest {
		slices.SortFunc(jobs, func(a, b *engine.Job) int { return cmp.Compare(b.ID, a.ID) })
		return nil
	}
	due, err := dueOf(tx)
	slices.SortStableFunc(jobs, due.compare)
	return err
}

// due tells which of two jobs comes first in a list of what happens next: what runs by its end, what waits by its
// expected start, then what has none.
type due struct{ *engine.Forecasts }

func dueOf(tx *engine.Tx) (due, error) {
	fs, err := tx.Cycle().Forecasts()
	return due{fs}, err
}

// starts returns the expected start of a waiting job, zero if unknown.
func (d due) starts(j *engine.Job) time.Time {
	if d.Forecasts != nil {
		if f, known := d.Of(j.ID); known && f.Likely.After(j.Begin) {
			return f.Likely
		} else if known {
			return j.Begin
		}
	}
	if j.State == engine.JobReserved {
		return j.Start
	}
	return time.Time{}
}

// rank returns the position of a job's state in a list of what happens next.
func (d due) rank(j *engine.Job) int {
	if waits := j.State == engine.JobReserved || j.State == engine.JobQueued; waits && !d.starts(j).IsZero() {
		return 1
	}
	at := slices.Index([]engine.JobState{engine.JobRunning, engine.JobReserved, engine.JobQueued, engine.JobLate,
		engine.JobHeld}, j.State)
	if at < 0 { // ended jobs come last
		return math.MaxInt
	}
	return at
}

func (d due) compare(a, b *engine.Job) int {
	c := cmp.Compare(d.rank(a), d.rank(b))
	switch {
	case c != 0:
		return c
	case !a.State.Live():
		return cmp.Or(b.End.Compare(a.End), cmp.Compare(b.ID, a.ID))
	case a.State == engine.JobRunning:
		return cmp.Or(a.End.Compare(b.End), cmp.Compare(a.ID, b.ID))
	}
	return cmp.Or(d.starts(a).Compare(d.starts(b)), cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.ID, b.ID))
}
