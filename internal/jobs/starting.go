package jobs

import (
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/users"
)

// LeftOver records why a running job whose command has ended keeps its nodes: it may have left
// processes on other nodes. Nothing changes if the job has moved on since.
func (as Attempts) LeftOver(id uint64, attempt int, n row.Nonce, why string) error {
	j, err := forExecution(as.tx, id)
	if err != nil {
		return err
	}
	a, err := as.tx.Attempts().Of(j, attempt)
	if err != nil || j.State != row.JobRunning || j.CurrentAttempt() != attempt || a.Nonce != n ||
		a.State == row.AttemptEnded {
		return err
	}
	if a.Why.Text != "" {
		why = a.Why.Text + "; " + why
	}
	if j.Reason.Text == why {
		return nil
	}
	return as.tx.Spoil(as.tx.StartsNone(func() error {
		j.Reason = row.Because(row.CauseLeftover, why)
		if err := as.tx.Happened(row.Event{Job: id, Event: "leftover", Attempt: attempt, Old: j.State.String(),
			New: j.State.String(), Reason: j.Reason}); err != nil {
			return err
		}
		return PutJob(as.tx, j, j.State)
	}))
}

// Unreached records why no pass could be made on the host of a starting job. A claim of its
// attempt removes that note. Nothing changes if the job has moved on since.
func (as Attempts) Unreached(id uint64, attempt int, why string) error {
	if !as.tx.Writable() {
		return file.ErrReadOnly
	}
	j, err := as.tx.Job(id)
	if err != nil {
		return err
	}
	if err := users.RolesOf(as.tx).Executes(j); err != nil {
		return err
	}
	if !j.Starting() || j.CurrentAttempt() != attempt || j.Reason.Text == why {
		return nil
	}
	return as.tx.Spoil(as.tx.StartsNone(func() error {
		j.Reason = row.Because(row.CauseUnreached, why)
		if err := as.tx.Happened(row.Event{Job: id, Event: "unreached", Attempt: attempt, Old: j.State.String(),
			New: j.State.String(), Reason: j.Reason}); err != nil {
			return err
		}
		return PutJob(as.tx, j, j.State)
	}))
}
