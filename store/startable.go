package store

import (
	"time"

	"github.com/placectl/placectl/store/internal/row"
)

// A process that runs the queue makes a cycle when a commit may have let something start or stop.
// The state row counts those commits. A commit counts unless all of its changes are known to let
// nothing start: the claim of an attempt, a heartbeat, a run of the hook, and a cycle, which has
// examined the queue itself.

// Startable is the number of commits that may have let something start or stop.
func (tx *Tx) Startable() uint64 { return tx.state.Startable }

// written grows with each change of the transaction.
func (tx *Tx) written() uint64 {
	return uint64(tx.file.AllWrites()) + tx.state.Invalidations + tx.state.NextJob
}

// startCount counts the changes of a transaction that let something start, for its commit.
type startCount struct {
	clock uint64 // the number of changes when the clock was up to date
	none  uint64 // the number of changes that let nothing start
}

// startsNone makes a change that lets nothing start or stop.
func (tx *Tx) startsNone(change func() error) error {
	was := tx.written()
	err := change()
	tx.starts.none += tx.written() - was
	return err
}

// startsLooked records that a cycle has examined the queue, at this number of changes. What the
// clock did before is settled, too.
func (tx *Tx) startsLooked(since uint64) {
	if since == tx.starts.clock {
		tx.starts.none = tx.written()
		return
	}
	tx.starts.none += tx.written() - since
}

// mayStart reports whether the transaction has changed anything that may let something start or
// stop.
func (tx *Tx) mayStart() bool { return tx.written() > tx.starts.none }

// LastCycleTook is how long the last cycle took, 0 if there was none.
func (tx *Tx) LastCycleTook() (time.Duration, error) {
	last, err := tx.loaded.tallies.LastCycle()
	if err != nil || last == nil {
		return 0, err
	}
	return time.Duration(last.Took), nil
}

// Overdue reports whether a running job is past its end. A cycle in the transaction of a report then
// need not decide as one of its own does: how long such a job will stay is a guess of each
// transaction.
func (tx *Tx) Overdue() (bool, error) {
	late, err := tx.overdue().jobs()
	return len(late) > 0, err
}

// NextChange is when something planned begins or ends next by the clock, the zero time for never.
func (tx *Tx) NextChange() (next time.Time, err error) {
	for _, t := range [...]row.Table{row.Changes, row.Releases} {
		err := tx.file.Each(t, nil, func(key, _ []byte) (bool, error) {
			at, _ := row.SplitTimeKey(key)
			if at > tx.now && (next.IsZero() || at < next.Unix()) {
				next = instant(at)
			}
			return at <= tx.now, nil
		})
		if err != nil {
			return time.Time{}, err
		}
	}
	return next, nil
}
