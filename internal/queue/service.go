package queue

import (
	"time"

	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
)

// Cycle runs the queue in a transaction, says when the next cycle is needed, and plays the queue
// forward.
type Cycle struct{ tx *kernel.Tx }

// CycleOf returns the cycles of a transaction.
func CycleOf(tx *kernel.Tx) Cycle { return Cycle{tx} }

// A process that runs the queue makes a cycle when a commit may have let something start or stop.
// The state row counts those commits. A commit counts unless all of its changes are known to let
// nothing start: the claim of an attempt, a heartbeat, a run of the hook, and a cycle, which has
// examined the queue itself.

// Startable returns the number of commits that may have let something start or stop.
func (cy Cycle) Startable() uint64 { return cy.tx.State.Startable }

// LastTook returns how long the last cycle took, or 0 if there was none.
func (cy Cycle) LastTook() (time.Duration, error) {
	last, err := cy.tx.Loaded.Tallies.LastCycle()
	if err != nil || last == nil {
		return 0, err
	}
	return time.Duration(last.Took), nil
}

// LastBegan returns when the last cycle began, up to a minute early, or the zero time if there was none.
func (cy Cycle) LastBegan() (time.Time, error) {
	last, err := cy.tx.Loaded.Tallies.LastCycle()
	if err != nil || last == nil {
		return time.Time{}, err
	}
	return kernel.Instant(last.Began), nil
}

// Overdue reports whether any running job is past its end. How long it will stay is estimated anew
// in each transaction, so the same cycle may decide differently in another one.
func (cy Cycle) Overdue() (bool, error) {
	late, err := OverdueJobs(cy.tx)
	return len(late) > 0, err
}

// NextChange returns when something planned next begins or ends by the clock, or the zero time
// for never.
func (cy Cycle) NextChange() (next time.Time, err error) {
	// a job may wait at this instant
	for t, from := range map[row.Table]int64{row.Changes: cy.tx.Now, row.Releases: cy.tx.Now + 1} {
		err := cy.tx.File.EachFrom(t, row.TimeKey(from, 0), nil, func(key, _ []byte) (bool, error) {
			if at, _ := row.SplitTimeKey(key); next.IsZero() || at < next.Unix() {
				next = kernel.Instant(at)
			}
			return false, nil
		})
		if err != nil {
			return time.Time{}, err
		}
	}
	return next, nil
}

// Pending reports whether a cycle or a pass may have something to do, now or later, because a
// job waits, is planned, has started or is being executed. It reads a few rows, however many
// jobs there are.
func (cy Cycle) Pending() (bool, error) {
	queues, err := cy.tx.Loaded.Tallies.All() // changes of this transaction count
	if err != nil {
		return false, err
	}
	for _, q := range queues {
		if q.Counts[row.JobQueued] > 0 || q.Counts[row.JobReserved] > 0 {
			return true, nil
		}
	}
	for _, table := range []row.Table{row.Launches, row.Claimed} {
		found := false
		err := cy.tx.File.Each(table, nil, func(_, _ []byte) (bool, error) {
			found = true
			return false, nil
		})
		if found || err != nil {
			return found, err
		}
	}
	return false, nil
}
