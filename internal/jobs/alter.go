package jobs

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/usage"
)

// Alter changes a waiting job, held or not. A planned job loses its plan, and is planned
// again. The job keeps its number, its place among those of its priority, and its payload. For
// a running job, it can change the name, comment, priority and walltime, the latter as Extend
// does. Notes alone change nothing. It fails with a Conflict if the job has ended, or if it
// runs and something else would change, and with the errors of Submit.
func (js Jobs) Alter(id uint64, a Alteration) (*kernel.Job, error) {
	return kernel.JobResult(alter(js.tx, id, &a))
}

func alter(tx *kernel.Tx, id uint64, a *Alteration) (*row.Job, error) {
	if a.bare() && len(a.Notes) > 0 {
		j, err := forChange(tx, id, "altered", row.JobHeld, row.JobQueued, row.JobReserved, row.JobRunning)
		if err != nil {
			return nil, err
		}
		return j, tx.Spoil(noted(tx, j, a.Notes))
	}
	j, err := forChange(tx, id, "altered", row.JobHeld, row.JobQueued, row.JobReserved, row.JobRunning)
	if err != nil {
		return nil, err
	}
	if j.State == row.JobRunning {
		return alterRunning(tx, j, a)
	}
	if !j.Queued {
		return nil, row.Clash("job "+strconv.FormatUint(id, 10),
			"it was placed, not submitted: it does not wait in the queue")
	}
	if a.Priority != nil {
		if err := mayRank(tx, *a.Priority); err != nil {
			return nil, err
		}
	}
	var next *row.Job
	never, s := "", submissionOf(j)
	if err := a.changeOf(tx, &s); err != nil {
		return nil, err
	}
	err = tx.Counters().Rules.Without(j, func() (err error) { next, never, err = submitted(tx, s); return err })
	var carried *kernel.Payload
	if err == nil && a.Payload != nil {
		carried, err = changed(tx, j, next.Select, a.Payload)
	} else if err == nil && a.Select != nil {
		var has *kernel.Payload
		if has, err = tx.Payloads().Of(j); err == nil {
			err = has.Fits(next.Select)
		}
	}
	if err == nil && slices.ContainsFunc(next.After, func(d row.Dependency) bool {
		return d.Job >= id || d.Job == j.Array
	}) {
		err = fmt.Errorf("%w: job %d cannot depend on a later job or on itself", row.ErrInvalid, id)
	}
	if err != nil {
		return nil, err
	}
	if j.State == row.JobReserved {
		if err := MachineOf(tx).Do(j,
			Step{To: row.JobQueued, Reason: row.Because(row.CauseAltered, "it was altered")}); err != nil {
			return nil, err
		}
	}
	if carried != nil {
		if err := replace(tx, j, carried, a.Sign); err != nil {
			return nil, tx.Spoil(err)
		}
	}
	err = noted(tx, j, a.Notes)
	if err == nil {
		err = altered(tx, j, next, never)
	}
	return j, tx.Spoil(err)
}

// alterRunning changes a running job: its allocation stays.
func alterRunning(tx *kernel.Tx, j *row.Job, a *Alteration) (*row.Job, error) {
	if err := a.forRunning(j.ID); err != nil {
		return nil, err
	}
	if a.Priority != nil {
		if err := mayRank(tx, *a.Priority); err != nil {
			return nil, err
		}
	}
	s := submissionOf(j)
	a.change(&s)
	if err := s.labels(); err != nil {
		return nil, err
	}
	if a.Walltime != nil {
		var err error
		if j, err = extend(tx, j.ID, kernel.Seconds(*a.Walltime)); err != nil {
			return nil, err
		}
	}
	change := func() {
		s.asks(j)
		j.Name = s.Name
	}
	err := noted(tx, j, a.Notes)
	if err == nil {
		err = tx.Happened(row.Event{Job: j.ID, Event: "alter", Old: j.State.String(), New: j.State.String()})
	}
	if err != nil {
		return nil, tx.Spoil(err)
	}
	return j, MachineOf(tx).Do(j, Step{To: j.State, Reason: j.Reason, change: change})
}

// altered writes a waiting job with its changes.
func altered(tx *kernel.Tx, j, next *row.Job, never string) error {
	if err := tx.Counters().Rules.Disclaim(j.ID); err != nil {
		return err
	}
	had := make(usage.Totals)
	if err := tx.Loaded.Book.Whole(j, had); err != nil {
		return err
	}
	j.JobTerms, j.JobBounds = next.JobTerms, next.JobBounds
	j.Never, j.Promised, j.Earliest = next.Never, 0, 0
	if err := tx.Loaded.Book.Kept(j, had); err != nil {
		return err
	}
	tx.Loaded.Freed.Count() // the decision about it was for the old request
	err := tx.Happened(row.Event{Job: j.ID, Event: "alter", Old: j.State.String(), New: j.State.String()})
	if err == nil && never != "" {
		err = NeverRuns(tx, j, never)
	}
	if err != nil {
		return err
	}
	return PutJob(tx, j, j.State)
}
