package store

import "github.com/placectl/placectl/store/internal/row"

// The values of the setting start.
const (
	StartAuto   = "auto"   // commands that change the queue leave a process that runs it
	StartManual = "manual" // cron, or a person, makes cycles and passes
)

// Pending reports whether a cycle or a pass may have something to do, now or later: a job
// waits or is planned, was started and is not executed yet, or is executed. It reads a few
// rows, however many jobs there are.
func (tx *Tx) Pending() (bool, error) {
	queues, err := tx.loaded.tallies.All() // what this transaction has changed counts
	if err != nil {
		return false, err
	}
	for _, q := range queues {
		if q.Counts[JobQueued] > 0 || q.Counts[JobReserved] > 0 {
			return true, nil
		}
	}
	for _, table := range []row.Table{row.Launches, row.Claimed} {
		found := false
		err := tx.file.Each(table, nil, func(_, _ []byte) (bool, error) {
			found = true
			return false, nil
		})
		if found || err != nil {
			return found, err
		}
	}
	return false, nil
}
