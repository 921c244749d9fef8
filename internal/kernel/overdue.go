package kernel

import (
	"github.com/placectl/placectl/internal/nodes"
	"github.com/placectl/placectl/internal/row"
)

// ending is how long ending a command takes beside its grace, in seconds.
const ending = 10

// Overrun returns how long, in seconds from now, an owner is expected to continue past its
// end. A job that a supervisor executes is being ended.
func (tx *Tx) Overrun(owner uint64) int64 {
	if d, known := tx.Loaded.Overruns[owner]; known {
		return d
	}
	d, err := tx.lasts(owner)
	if err != nil {
		tx.Fail(err)
		return nodes.Grace
	}
	if tx.Loaded.Overruns == nil {
		tx.Loaded.Overruns = make(map[uint64]int64)
	}
	tx.Loaded.Overruns[owner] = d
	return d
}

func (tx *Tx) lasts(owner uint64) (int64, error) {
	if row.IsReservation(owner) {
		return nodes.Grace, nil
	}
	j, err := tx.ListedJob(owner >> 1)
	if err != nil || !IsExecuted(j) || j.Reason.Cause == row.CauseUnreachable {
		return nodes.Grace, err
	}
	a, err := tx.Attempts().Of(j, j.CurrentAttempt())
	if err != nil || a.By != row.BySupervisor {
		return nodes.Grace, err
	}
	grace, err := tx.Attempts().Grace(j)
	return Seconds(grace) + ending, err
}
