package main

import (
	attempts "github.com/placectl/placectl/cmd/placectl/internal/runner"
	"github.com/placectl/placectl/store"
)

// attend makes sure that others can tell when this run is killed, nil where that is not to
// be had: then its job keeps its nodes to the end of its walltime.
func (r *runner) attend() *attempts.Attending {
	runner, _, err := r.attemptsRunner("")
	if err != nil {
		r.debugf("nobody will notice if this is killed: %v", err)
		return nil
	}
	a, err := runner.Attend(drawNonce())
	if err != nil {
		r.notef("nobody will notice if this is killed: %v", err)
		return nil
	}
	return a
}

// attends says that this run waits for a job, or executes it.
func (r *runner) attends(tx *store.Tx, job *store.Job) error {
	if r.attending == nil {
		return nil
	}
	return tx.Attend(job.ID, r.attending.As)
}

// claim claims the attempt that this run is to execute.
func (r *runner) claim(tx *store.Tx, job *store.Job) error {
	if r.attending == nil {
		return nil
	}
	_, err := tx.Claim(store.Claim{Job: job.ID, Attempt: job.Attempt, By: store.ByRun, Nonce: r.attending.As.Nonce, Process: r.attending.As.Process})
	return err
}
