package store

import (
	"fmt"
	"slices"
	"time"

	"github.com/placectl/placectl/store/internal/row"
)

// Claim is a process's request for an attempt, made before it executes anything.
type Claim struct {
	Job     uint64
	Attempt int
	By      Claimant // BySupervisor or ByRun
	Nonce   Nonce
	Process
}

// Granted is a claim that was accepted.
type Granted struct {
	Job     *Job
	Attempt *Attempt
	Left    time.Duration // until the job's end
}

// late is how long after its start an attempt may be claimed and still end at its original end. An
// attempt claimed later gets its full walltime if its nodes are free that long.
const late = 10

// Claim gives an attempt to the first process that claims it. The same nonce gets the same answer
// again, and Claim records the process it names, so a supervisor that takes over from another
// claims once more. It fails with a Conflict if the job is not running, is at another attempt, has
// reached its end, or is claimed by another process; with ErrNotFound if there is no such job; with
// ErrInvalid for a claim without a nonce or a host.
func (tx *Tx) Claim(c Claim) (*Granted, error) {
	if !tx.Writable() {
		return nil, ErrReadOnly
	}
	if c.Nonce == (Nonce{}) || c.Host == "" || c.By != BySupervisor && c.By != ByRun {
		return nil, fmt.Errorf("%w: a claim needs a nonce, a host, and whether a supervisor or run makes it", ErrInvalid)
	}
	j, err := tx.job(c.Job)
	if err != nil {
		return nil, err
	}
	if err := RolesOf(tx).executes(j); err != nil {
		return nil, err
	}
	what := fmt.Sprintf("attempt %d.%d", c.Job, c.Attempt)
	switch current := j.CurrentAttempt(); {
	case j.State != JobRunning:
		return nil, row.Clash(what, "its job is "+j.State.String())
	case c.Attempt != current:
		return nil, row.Clash(what, fmt.Sprintf("its job is at attempt %d", current))
	case c.Attempt == 0:
		return nil, fmt.Errorf("%w: attempts are numbered from 1", ErrInvalid)
	}
	a, err := tx.attempts().of(j, c.Attempt)
	if err != nil {
		return nil, err
	}
	switch {
	case a.Nonce == c.Nonce && a.State.Live():
		return tx.grant(j, a, func() error { return tx.attempts().granted(a, c) })
	case a.State != row.AttemptStarted && !(a.By == row.ByRun && c.By == ByRun && a.Nonce == (Nonce{})):
		return nil, row.Clash(what, fmt.Sprintf("it is claimed%s", claimedBy(a)))
	case j.End <= tx.now:
		return nil, row.Clash(what, "it was to end at "+stamp(j.End))
	}
	if tx.now > a.Began+late {
		if err := tx.allocations().prolong(j, tx.now+j.Walltime); err != nil {
			return nil, err
		}
	}
	return tx.grant(j, a, func() error { return tx.attempts().claimed(j, a, c) })
}

// claimed writes down that an attempt was claimed for the first time.
func (as attempts) claimed(j *row.Job, a *row.Attempt, c Claim) error {
	a.Claimed, j.Claimed, j.Attempt = as.now, true, c.Attempt
	if a.State == row.AttemptStarted {
		j.Reason = row.Reason{} // why it could not be started sooner
	}
	if err := as.happened(row.Event{Job: j.ID, Event: "claim", Attempt: j.Attempt, Old: j.State.String(), New: j.State.String(),
		Reason: row.Because(row.CauseNone, fmt.Sprintf("attempt %d on %s", c.Attempt, c.Host))}); err != nil {
		return err
	}
	if err := as.putJob(j, j.State); err != nil {
		return err
	}
	a.State, a.Nonce, a.By = row.AttemptClaimed, c.Nonce, c.By
	return as.granted(a, c)
}

// granted records who has claimed an attempt.
func (as attempts) granted(a *row.Attempt, c Claim) error {
	a.Process, a.Chunks, a.Along = c.Process, nil, nil
	return as.put(a)
}

// grant gives an attempt to its claimant, once that is written down.
func (tx *Tx) grant(j *row.Job, a *row.Attempt, write func() error) (*Granted, error) {
	if err := tx.startsNone(write); err != nil {
		return nil, tx.spoil(err)
	}
	return &Granted{Job: jobOf(j), Attempt: attemptOf(a), Left: lasting(max(0, j.End-tx.now))}, nil
}

// claimedBy describes the claimant of an attempt.
func claimedBy(a *row.Attempt) string {
	text := ""
	if a.By != row.ByNobody {
		text = " by a " + a.By.String()
	}
	if a.Host != "" {
		text += fmt.Sprintf(" on %s, process %d", a.Host, a.PID)
	}
	return text
}

// Unclaimed calls fn for each attempt that waits to be claimed, in the order of their jobs, until
// fn fails. It skips jobs that did not come through the queue and those whose submitter executes
// them.
func (tx *Tx) Unclaimed(fn func(*Job) error) error {
	ids, err := tx.toBeLaunched()
	for _, id := range ids {
		var j *row.Job
		if err == nil {
			j, err = tx.job(id)
		}
		if err == nil {
			err = fn(jobOf(j))
		}
	}
	return err
}

// ClaimedOn calls fn for each attempt executed on a host, or on all hosts for "", until fn fails.
// It includes attempts that are being stopped.
func (tx *Tx) ClaimedOn(host string, fn func(*Job, *Attempt) error) error {
	var list []*row.Attempt
	var prefix []byte
	if host != "" {
		prefix = row.ClaimedPrefix(host)
	}
	err := tx.file.Each(row.Claimed, prefix, func(key, _ []byte) (bool, error) {
		_, job, number, err := row.SplitClaimedKey(key)
		if number > 0 {
			list = append(list, &row.Attempt{Job: job, Number: number})
		}
		return true, err
	})
	for _, a := range list {
		var j *row.Job
		if err == nil {
			j, err = tx.job(a.Job)
		}
		if err == nil {
			a, err = tx.attempts().of(j, a.Number)
		}
		if err == nil {
			err = fn(jobOf(j), attemptOf(a))
		}
	}
	return err
}

// Attendant is a process that waits for a job's start and executes its command itself. As
// long as it or the command lives, it has a lock under its nonce.
type Attendant = row.Attendant

// Attend records the process that waits for a job's start, or that has just started it by placing
// it. If that process is killed, others on its host can see this and end the job.
func (tx *Tx) Attend(id uint64, a Attendant) error {
	j, err := tx.forChange(id, "attended", JobHeld, JobQueued, JobReserved, JobRunning)
	if err != nil {
		return err
	}
	if by := tx.opt.Actor; by != nil && by.UID != a.UID {
		return fmt.Errorf("%w: user %d attends to job %d for user %d", ErrNotPermitted, by.UID, id, a.UID)
	}
	j.Attendant = &a
	return tx.putJob(j, j.State)
}

// AttendedOn lists the jobs that a process on a host waits for or executes itself.
func (tx *Tx) AttendedOn(host string) ([]*Job, error) {
	var ids []uint64
	err := tx.file.Each(row.Claimed, row.ClaimedPrefix(host), func(key, _ []byte) (bool, error) {
		_, job, _, err := row.SplitClaimedKey(key)
		ids = append(ids, job)
		return true, err
	})
	if err != nil {
		return nil, err
	}
	var list []*Job
	for _, id := range slices.Compact(ids) {
		j, err := tx.job(id)
		if err != nil {
			return nil, err
		}
		if j.Attendant != nil && j.Attendant.Host == host {
			list = append(list, jobOf(j))
		}
	}
	return list, nil
}
