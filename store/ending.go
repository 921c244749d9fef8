package store

import (
	"errors"
	"strconv"
	"time"

	"github.com/placectl/placectl/store/internal/row"
)

// A job whose command somebody executes does not give its nodes back as soon as it is
// cancelled, queued again or released: its attempt is marked as ending, with what the job
// is to become, and whoever executes it stops it and reports so. Until then the command
// may still use what the job has.

// isExecuted reports whether somebody who looks at marks executes a job's command.
func isExecuted(j *row.Job) bool { return j.State == JobRunning && j.Claimed }

// endsAs marks the attempt of a job as ending. A later mark takes the place of an earlier
// one.
func (as attempts) endsAs(j *row.Job, becomes JobState, reason string) error {
	a, err := as.of(j, j.CurrentAttempt())
	if err != nil {
		return err
	}
	grace, err := as.grace(j)
	if err != nil {
		return err
	}
	a.State, a.Becomes, a.Why, a.Chunks, a.Along = row.AttemptEnding, becomes, reason, nil, nil
	if err := as.put(a); err != nil {
		return err
	}
	if end := as.now + seconds(grace); end < j.End {
		if err := as.allocations().moveEnd(j, end); err != nil {
			return err
		}
	}
	if reason == "" {
		reason = becomes.String()
	}
	j.Ending, j.Reason = true, reason
	if err := as.happened(row.Event{Job: j.ID, Event: "ending", Attempt: j.Attempt, Old: j.State.String(), New: j.State.String(), Reason: reason}); err != nil {
		return err
	}
	return as.putJob(j, j.State)
}

// grace is how long a job has between being told to terminate and being killed.
func (as attempts) grace(j *row.Job) (time.Duration, error) {
	p, err := as.payloads().of(j)
	if err != nil || p == nil {
		return DefaultGrace, err
	}
	return p.Ending.grace(), nil
}

// GiveBack ends the attempt of a job that is ending at once: its nodes are others', whatever
// its processes do. It fails with a Conflict where the job is not ending.
func (tx *Tx) GiveBack(id uint64) (*Job, error) {
	j, err := tx.forChange(id, "given back", JobRunning)
	if err != nil {
		return nil, err
	}
	if !j.Ending {
		return nil, &Conflict{"job " + strconv.FormatUint(id, 10), "it is running, and nobody has ended it"}
	}
	a, err := tx.attempts().of(j, j.CurrentAttempt())
	if err != nil {
		return nil, err
	}
	reason := a.Why + "; its nodes were given back before its processes had ended"
	return jobResult(j, tx.spoil(errors.Join(tx.loaded.usage.accrue(j), tx.attempts().become(j, a.Becomes, reason))))
}

// prolong moves the end of a running job to a later instant where extend would: nobody
// else wants what it has before then.
func (al allocations) prolong(j *row.Job, end int64) error {
	if end <= j.End {
		return nil
	}
	spans, err := al.spans(j)
	if err != nil {
		return err
	}
	err = al.mayReach(j, spans, end)
	if errors.Is(err, ErrConflict) {
		return nil
	}
	if err != nil {
		return err
	}
	return al.moveEnd(j, end)
}

// moveEnd gives a running job another end; nobody is in the way.
func (al allocations) moveEnd(j *row.Job, end int64) error {
	spans, err := al.spans(j)
	if err != nil {
		return err
	}
	for i := range spans {
		spans[i].End = end
	}
	if err := al.vacate(j); err != nil {
		return err
	}
	j.End = end
	return al.spoil(al.takeAgain(j, spans, j.State))
}
