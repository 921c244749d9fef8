package store

import "github.com/placectl/placectl/store/internal/row"

// Starting reports whether the job has its nodes, and no process executes its command yet, though
// a pass has to start one.
func (j *Job) Starting() bool {
	return j.State == JobRunning && j.Queued && !j.Attended && !j.Launched && !j.Claimed && (len(j.Command) > 0 || j.Payload != (PayloadKey{}))
}

// Unreached notes why no pass could be made on the host of a job that is starting. The claim of
// its attempt takes that back. Nothing changes if the job has gone on since.
func (tx *Tx) Unreached(id uint64, attempt int, why string) error {
	if !tx.Writable() {
		return ErrReadOnly
	}
	j, err := tx.job(id)
	if err != nil {
		return err
	}
	if err := RolesOf(tx).executes(j); err != nil {
		return err
	}
	if !jobOf(j).Starting() || j.CurrentAttempt() != attempt || j.Reason.Text == why {
		return nil
	}
	return tx.spoil(tx.startsNone(func() error {
		j.Reason = row.Because(row.CauseUnreached, why)
		if err := tx.happened(row.Event{Job: id, Event: "unreached", Attempt: attempt, Old: j.State.String(), New: j.State.String(), Reason: j.Reason}); err != nil {
			return err
		}
		return tx.putJob(j, j.State)
	}))
}
