package plan

import (
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
)

// NoteIdle records when a job that leaves a state stops or resumes waiting for its turn, and
// adds up the time in which it did not wait: while it was held, or a limit held it back. The
// other reasons, its begin time and other jobs, are in its row.
func NoteIdle(tx *kernel.Tx, j *row.Job, was row.JobState) (err error) {
	if !j.Queued || j.State == row.JobQueued && was == row.JobQueued { // the next cycle checks its limits
		return nil
	}
	idle := j.State == row.JobHeld
	if j.State == row.JobQueued && j.Begin <= tx.Now && len(j.After) == 0 {
		if idle, err = limited(tx, j); err != nil {
			return err
		}
	}
	SetIdle(tx, j, idle)
	return nil
}

// SetIdle begins or ends a period in which a job does not wait for its turn. It reports
// whether that is a change.
func SetIdle(tx *kernel.Tx, j *row.Job, idle bool) bool {
	switch {
	case idle && j.IdleSince == 0:
		j.IdleSince = tx.Instant()
	case !idle && j.IdleSince != 0:
		j.Idle += max(0, tx.Instant()-max(j.IdleSince, j.Begin))
		j.IdleSince = 0
	default:
		return false
	}
	return true
}

// limited reports whether a limit that matters for a job's age holds it back now. A throttle does
// not count: an array grows older while it waits for its own jobs.
func limited(tx *kernel.Tx, j *row.Job) (bool, error) {
	set, err := tx.Settings()
	if err != nil || !set.Ages {
		return false, err
	}
	return HoldsBack(tx, j)
}
