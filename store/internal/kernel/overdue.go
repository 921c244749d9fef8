package kernel

import (
	"github.com/placectl/placectl/store/internal/derived"
	"github.com/placectl/placectl/store/internal/row"
)

// Overdue is the part of a transaction that deals with running jobs past their end.
type Overdue struct{ tx *Tx }

func (tx *Tx) Overdue() Overdue { return Overdue{tx} }

// ending is how long ending a command takes beside its grace, in seconds.
const ending = 10

// Overrun returns how long, in seconds from now, an owner is expected to go on past its end. A job
// that a supervisor executes is being ended.
func (os Overdue) Overrun(owner uint64) int64 {
	if d, known := os.tx.Loaded.Overruns[owner]; known {
		return d
	}
	d, err := os.lasts(owner)
	if err != nil {
		os.tx.failed(err)
		return derived.Grace
	}
	if os.tx.Loaded.Overruns == nil {
		os.tx.Loaded.Overruns = make(map[uint64]int64)
	}
	os.tx.Loaded.Overruns[owner] = d
	return d
}

func (os Overdue) lasts(owner uint64) (int64, error) {
	if row.IsReservation(owner) {
		return derived.Grace, nil
	}
	j, err := os.tx.Job(owner >> 1)
	if err != nil || !IsExecuted(j) || j.Reason.Cause == row.CauseUnreachable {
		return derived.Grace, err
	}
	a, err := os.tx.Attempts().Of(j, j.CurrentAttempt())
	if err != nil || a.By != row.BySupervisor {
		return derived.Grace, err
	}
	grace, err := os.tx.Attempts().Grace(j)
	return Seconds(grace) + ending, err
}
