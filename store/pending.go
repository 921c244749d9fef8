package store

import "github.com/placectl/placectl/store/internal/row"

// The values of the setting start.
const (
	StartAuto   = "auto"   // who changes the queue leaves a process that looks after it
	StartManual = "manual" // cron, or a person, makes cycles and passes
)

// Pending reports whether a cycle or a pass may have something to do, now or later: a job
// waits or is planned, was started and is not executed yet, or is executed. It reads a few
// rows, however many jobs there are.
func (tx *Tx) Pending() (bool, error) {
	if err := tx.loaded.tallies.Flush(); err != nil { // of what this transaction has changed
		return false, tx.spoil(err)
	}
	for _, of := range []struct {
		table  row.Table
		prefix []byte
	}{
		{row.JobCounts, []byte{byte(JobQueued)}}, {row.JobCounts, []byte{byte(JobReserved)}},
		{row.Launches, nil}, {row.Claimed, nil},
	} {
		found := false
		err := tx.file.Each(of.table, of.prefix, func(_, _ []byte) (bool, error) {
			found = true
			return false, nil
		})
		if found || err != nil {
			return found, err
		}
	}
	return false, nil
}
