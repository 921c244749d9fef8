package check

import (
	"maps"
	"slices"

	"github.com/placectl/placectl/internal/row"
)

// attempts notes which attempts are being executed and where. It verifies that they agree with
// their jobs: an attempt that is executed is its job's current one.
func (d *recomputed) attempts() error {
	err := d.store.Rows.Each(row.Attempts, nil, func(key, payload []byte) (bool, error) {
		a, err := row.DecodeAttempt(key, payload)
		if err != nil {
			return true, err
		}
		d.at = Row{row.Attempts, string(key)}
		j, err := d.jobOf(a)
		if err != nil || j == nil {
			return true, err
		}
		switch {
		case a.Number > j.CurrentAttempt():
			d.contradict("attempt %d.%d: its job has had %d", a.Job, a.Number, j.CurrentAttempt())
		case a.State < row.AttemptClaimed || a.State > row.AttemptEnded:
			d.contradict("attempt %d.%d has no legal state: %d", a.Job, a.Number, a.State)
		case a.State.Live() && (a.Number != j.CurrentAttempt() || j.State != row.JobRunning):
			d.contradict("attempt %d.%d is %s, and its job is %s, at attempt %d", a.Job, a.Number, a.State, j.State,
				j.CurrentAttempt())
		case a.State.Live() && a.By != row.ByLauncher:
			delete(d.executed, a.Job)
			if !j.Claimed || j.Ending != (a.State == row.AttemptEnding) {
				d.contradict("attempt %d.%d is %s, and its job says otherwise", a.Job, a.Number, a.State)
			}
		case a.State.Live() && j.Ending != (a.State == row.AttemptEnding):
			d.contradict("attempt %d.%d is %s, and its job says otherwise", a.Job, a.Number, a.State)
		case a.State == row.AttemptEnding: // for its whole time, whatever its launcher does
			delete(d.executed, a.Job)
		case a.Number == j.CurrentAttempt() && a.State == row.AttemptEnded && j.State == row.JobRunning:
			d.contradict("attempt %d.%d has ended, and its job runs", a.Job, a.Number)
		}
		follow(d, &row.AttemptRows, a)
		return true, nil
	})
	for _, id := range slices.Sorted(maps.Keys(d.executed)) {
		d.at = Row{row.Jobs, string(row.Key64(id))}
		d.contradict("job %d: its own row says that it is executed, and the row of its attempt does not", id)
	}
	return err
}

// jobOf returns the job of an attempt, or nil if there is none.
func (d *recomputed) jobOf(a *row.Attempt) (*row.Job, error) {
	key := row.Key64(a.Job)
	payload, err := d.store.Rows.Get(row.Jobs, key)
	if err != nil {
		return nil, err
	}
	if payload == nil {
		d.contradict("attempt %d.%d is of a job that is not there", a.Job, a.Number)
		return nil, nil
	}
	return row.DecodeJob(key, payload)
}
