package jobs

import (
	"errors"

	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
)

// NeverRuns marks a job as one that can never run.
func NeverRuns(tx *kernel.Tx, j *row.Job, why string) error {
	j.Never = true
	return tx.Happened(row.Event{Job: j.ID, Event: "never", Old: j.State.String(), New: j.State.String(),
		Reason: row.Because(row.CauseNever, why)})
}

// whyNever says why a submitted job can never run, or "" if it can. It fails if such jobs are refused.
func whyNever(tx *kernel.Tx, s Submission, a placer.Ask) (string, error) {
	set, err := tx.Settings()
	if err != nil {
		return "", err
	}
	snap, err := plan.Snapshot(tx, s.Queue)
	if err != nil {
		return "", err
	}
	switch err := snap.Possible(a); {
	case errors.Is(err, placer.ErrNever) && (s.Accept == "any" || s.Accept == "" && !set.Feasible):
		return err.Error(), nil
	case errors.Is(err, placer.ErrNever), !kernel.IsRefusal(err):
		return "", err
	}
	return "", nil
}
