package jobs

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/users"
)

// Claim is a process's request for an attempt, made before it executes anything.
type Claim struct {
	Job     uint64
	Attempt int
	By      row.Claimant // BySupervisor or ByRun
	Nonce   row.Nonce
	row.Process
}

// Granted is a claim that was accepted.
type Granted struct {
	Job     *kernel.Job
	Attempt *kernel.Attempt
	Left    time.Duration // time left until the job's end
}

// late is how long after its start an attempt may be claimed and still end at its original end. An
// attempt claimed later gets its full walltime if its nodes are free that long.
const late = 10

// Claim gives an attempt to the first process that claims it. Claiming again with the same
// nonce gives the same answer, and Claim then records the new process, so a supervisor that
// takes over from another claims again. It fails with a Conflict if the job is not running, is
// at another attempt, has reached its end, or is claimed by another process. It fails with
// ErrNotFound if there is no such job, and with ErrInvalid for a claim without a nonce or a
// host.
func (as Attempts) Claim(c Claim) (*Granted, error) {
	if !as.tx.Writable() {
		return nil, file.ErrReadOnly
	}
	if err := as.tx.Executing(); err != nil {
		return nil, err
	}
	if c.Nonce == (row.Nonce{}) || c.Host == "" || c.By != row.BySupervisor && c.By != row.ByRun {
		return nil, fmt.Errorf("%w: a claim needs a nonce, a host, and whether a keeper or run makes it",
			row.ErrInvalid)
	}
	j, err := as.tx.Job(c.Job)
	if err != nil {
		return nil, err
	}
	if err := users.RolesOf(as.tx).Executes(j); err != nil {
		return nil, err
	}
	what := fmt.Sprintf("attempt %d.%d", c.Job, c.Attempt)
	switch current := j.CurrentAttempt(); {
	case j.State != row.JobRunning:
		return nil, row.Clash(what, "its job is "+j.State.String())
	case c.Attempt != current:
		return nil, row.Clash(what, fmt.Sprintf("its job is at attempt %d", current))
	case c.Attempt == 0:
		return nil, fmt.Errorf("%w: attempts are numbered from 1", row.ErrInvalid)
	}
	a, err := as.tx.Attempts().Of(j, c.Attempt)
	if err != nil {
		return nil, err
	}
	switch {
	case a.Nonce == c.Nonce && a.State.Live():
		return as.grant(j, a, func() error { return granted(as.tx, a, c) })
	case a.State != row.AttemptStarted && !(a.By == row.ByRun && c.By == row.ByRun && a.Nonce == (row.Nonce{})):
		return nil, row.Clash(what, fmt.Sprintf("it is claimed%s", claimedBy(a)))
	case j.End <= as.tx.Now:
		return nil, row.Clash(what, "it was to end at "+kernel.Stamp(j.End))
	}
	if as.tx.Now > a.Began+late {
		if err := prolong(as.tx, j, as.tx.Now+j.Walltime); err != nil {
			return nil, err
		}
	}
	return as.grant(j, a, func() error { return claimed(as.tx, j, a, c) })
}

// claimed records the first claim of an attempt.
func claimed(tx *kernel.Tx, j *row.Job, a *row.Attempt, c Claim) error {
	a.Claimed, j.Claimed, j.Attempt = tx.Now, true, c.Attempt
	if a.State == row.AttemptStarted {
		j.Reason = row.Reason{} // why it could not be started sooner
	}
	if err := tx.Happened(row.Event{Job: j.ID, Event: "claim", Attempt: j.Attempt, Old: j.State.String(),
		New:    j.State.String(),
		Reason: row.Because(row.CauseNone, fmt.Sprintf("attempt %d on %s", c.Attempt, c.Host))}); err != nil {
		return err
	}
	if err := PutJob(tx, j, j.State); err != nil {
		return err
	}
	a.State, a.Nonce, a.By = row.AttemptClaimed, c.Nonce, c.By
	return granted(tx, a, c)
}

// granted records the claimant of an attempt.
func granted(tx *kernel.Tx, a *row.Attempt, c Claim) error {
	tx.Executed()
	a.Process, a.Chunks, a.Along = c.Process, nil, nil
	return tx.Attempts().Put(a)
}

// grant gives an attempt to its claimant, once write has recorded that.
func (as Attempts) grant(j *row.Job, a *row.Attempt, write func() error) (*Granted, error) {
	tx := as.tx
	err := tx.StartsNone(write)
	if err == nil {
		err = HostsOf(tx).alive(a.Host, j)
	}
	if err != nil {
		return nil, tx.Spoil(err)
	}
	return &Granted{Job: kernel.JobOf(j), Attempt: kernel.AttemptOf(a), Left: kernel.Lasting(max(0, j.End-tx.Now))}, nil
}

// claimedBy describes the claimant of an attempt.
func claimedBy(a *row.Attempt) (text string) {
	if a.By != row.ByNobody {
		text = " by a " + strings.Replace(a.By.String(), "supervisor", "keeper", 1)
	}
	if a.Host != "" {
		text += fmt.Sprintf(" on %s, process %d", a.Host, a.PID)
	}
	return text
}

// Unclaimed calls fn for each attempt that waits to be claimed, in the order of their jobs, until
// fn fails. It skips jobs that did not come through the queue and those whose submitter executes
// them.
func (as Attempts) Unclaimed(fn func(*kernel.Job) error) error {
	ids, err := as.tx.ToBeLaunched()
	for _, id := range ids {
		var j *row.Job
		if err == nil {
			j, err = as.tx.ListedJob(id)
		}
		if err == nil {
			err = fn(kernel.JobOf(j))
		}
	}
	return err
}

// ClaimedOn calls fn for each attempt executed on a host, or on all hosts for "", until fn fails.
// It includes attempts that are being stopped.
func (as Attempts) ClaimedOn(host string, fn func(*kernel.Job, *kernel.Attempt) error) error {
	var list []*row.Attempt
	var prefix []byte
	if host != "" {
		prefix = row.ClaimedPrefix(host)
	}
	err := as.tx.File.Each(row.Claimed, prefix, func(key, _ []byte) (bool, error) {
		_, job, number, err := row.SplitClaimedKey(key)
		if number > 0 {
			list = append(list, &row.Attempt{AttemptFacts: row.AttemptFacts{Job: job, Number: number}})
		}
		return true, err
	})
	for _, a := range list {
		var j *row.Job
		if err == nil {
			j, err = as.tx.ListedJob(a.Job)
		}
		if err == nil {
			a, err = as.tx.Attempts().Of(j, a.Number)
		}
		if err == nil {
			err = fn(kernel.JobOf(j), kernel.AttemptOf(a))
		}
	}
	return err
}

// Attend records the process that waits for a job's start, or that has just started it by placing
// it. If that process is killed, others on its host can see this and end the job.
func (as Attempts) Attend(id uint64, a row.Attendant) error {
	if err := as.tx.Executing(); err != nil {
		return err
	}
	j, err := forChange(as.tx, id, "attended", row.JobHeld, row.JobQueued, row.JobReserved, row.JobRunning)
	if err != nil {
		return err
	}
	if by := as.tx.Opt.Actor; by != nil && by.UID != a.UID {
		return fmt.Errorf("%w: user %d attends to job %d for user %d", kernel.ErrNotPermitted, by.UID, id, a.UID)
	}
	j.Attendant = &a
	return PutJob(as.tx, j, j.State)
}

// AttendedOn lists the jobs that a process on a host waits for or executes itself.
func (as Attempts) AttendedOn(host string) ([]*kernel.Job, error) {
	var ids []uint64
	err := as.tx.File.Each(row.Claimed, row.ClaimedPrefix(host), func(key, _ []byte) (bool, error) {
		_, job, _, err := row.SplitClaimedKey(key)
		ids = append(ids, job)
		return true, err
	})
	if err != nil {
		return nil, err
	}
	var list []*kernel.Job
	for _, id := range slices.Compact(ids) {
		j, err := as.tx.ListedJob(id)
		if err != nil {
			return nil, err
		}
		if j.Attendant != nil && j.Attendant.Host == host {
			list = append(list, kernel.JobOf(j))
		}
	}
	return list, nil
}
