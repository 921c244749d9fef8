// Package daily shows what people look at every day: jobs a line each, one screen of a cluster, the
// same kept up to date, and ended jobs. It reads a store, and knows no verb, no flag, and no clock but
// the store's.
package daily

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/placectl/placectl/store"
)

// Filter selects jobs. Its zero value selects all.
type Filter struct {
	States []store.JobState // any of these; none: all
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
func (f *Filter) Lets(j *store.Job) bool {
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
func (f *Filter) Each(tx *store.Tx, fn func(*store.Job) error) error {
	return tx.Jobs().Each(func(j *store.Job) error {
		if !f.Lets(j) {
			return nil
		}
		return fn(j)
	}, f.States...)
}

// EachIn calls fn for the selected jobs in an order. It holds the jobs in memory only for orders that
// are not the store's own.
func (f *Filter) EachIn(tx *store.Tx, o Order, fn func(*store.Job) error) error {
	if o == ByState {
		return f.Each(tx, fn)
	}
	var all []*store.Job
	if err := f.Each(tx, func(j *store.Job) error { all = append(all, j); return nil }); err != nil {
		return err
	}
	o.Sort(all)
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

// Sort sorts jobs.
func (o Order) Sort(jobs []*store.Job) {
	switch o {
	case Next:
		slices.SortStableFunc(jobs, byNext)
	case Newest:
		slices.SortFunc(jobs, func(a, b *store.Job) int { return cmp.Compare(b.ID, a.ID) })
	}
}

// rank returns a state's position in a list of what happens next.
func rank(s store.JobState) int {
	return slices.Index([]store.JobState{store.JobRunning, store.JobReserved, store.JobQueued, store.JobLate,
		store.JobHeld}, s)
}

func byNext(a, b *store.Job) int {
	if c := cmp.Compare(rank(a.State), rank(b.State)); c != 0 {
		if rank(a.State) < 0 || rank(b.State) < 0 { // ended jobs come last
			return -c
		}
		return c
	}
	switch {
	case !a.State.Live():
		return cmp.Or(b.End.Compare(a.End), cmp.Compare(b.ID, a.ID))
	case a.State == store.JobRunning:
		return cmp.Or(a.End.Compare(b.End), cmp.Compare(a.ID, b.ID))
	case a.State == store.JobReserved:
		return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.ID, b.ID))
	}
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.ID, b.ID))
}
