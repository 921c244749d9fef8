package ask

import (
	"errors"
	"strings"

	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/queue"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/text"
)

// due returns when a dependency is expected to be met.
func (o *Outlook) due(d row.Dependency) (at int64, known bool, err error) {
	progress, err := o.tx.Progress(d)
	if err != nil {
		return 0, false, err
	}
	if met, err := progress.Met(d.When); met || errors.Is(err, kernel.ErrUnmet) {
		return o.tx.Now, met, nil
	}
	if is, err := o.tx.IsArray(d.Job); is || err != nil {
		return o.arrayDue(d)
	}
	other, err := jobs.RowOf(o.tx.File, d.Job)
	if err != nil {
		return 0, false, err
	}
	return o.jobDue(d.When, other)
}

// arrayDue returns when the last job of an array is expected to come so far.
func (o *Outlook) arrayDue(d row.Dependency) (last int64, known bool, err error) {
	if known, seen := o.arraysDue[d]; seen {
		return known.at, known.known, nil
	}
	list, err := o.tx.ArrayJobs(d.Job)
	if err != nil {
		return 0, false, err
	}
	known = true
	for _, j := range list {
		if done, _ := kernel.JobProgress(j).Met(d.When); done || !j.State.Live() {
			continue
		}
		at, ok, err := o.jobDue(d.When, j)
		if err != nil {
			return 0, false, err
		}
		if last = max(last, at); !ok {
			known = false
			break
		}
	}
	if o.arraysDue == nil {
		o.arraysDue = make(map[row.Dependency]dueTime)
	}
	o.arraysDue[d] = dueTime{last, known}
	return last, known, nil
}

// dueTime is when a dependency is expected to be met, if that is known.
type dueTime struct {
	at    int64
	known bool
}

// jobDue returns when a job is expected to start, or to end.
func (o *Outlook) jobDue(when row.When, other *row.Job) (at int64, known bool, err error) {
	start, end := other.Start, other.End
	if other.State != row.JobRunning {
		p, err := o.Look(other)
		if err != nil || p.Start.IsZero() {
			return 0, false, err
		}
		start, end = kernel.Unix(p.Start), kernel.Unix(p.End)
	} else if end <= o.tx.Now {
		end = o.tx.Now + o.tx.Overrun(row.JobOwner(other.ID))
	}
	if when == row.After {
		return start, true, nil
	}
	return end, true, nil
}

// sooner finds out whether a job with a plan is likely to start before it.
func (o *Outlook) sooner(j *row.Job, p *Prospect) error {
	if j.State != row.JobReserved || !j.Queued {
		return nil
	}
	fs, err := queue.CycleOf(o.tx).Forecasts()
	if err != nil || fs == nil {
		return err
	}
	known := false
	if p.Forecast, known = fs.Of(j.ID); known && kernel.Unix(p.Likely) < j.Start {
		start := max(kernel.Unix(p.Likely), o.tx.Now)
		p.Start, p.End = kernel.Instant(start), kernel.Instant(start+j.Walltime)
	}
	return nil
}

// guess finds out whether a planned start rests on an overdue job.
func (o *Outlook) guess(j *row.Job, p *Prospect) error {
	if o.overdue == nil {
		overdue, err := queue.CycleOf(o.tx).Overdue()
		if err != nil {
			return err
		}
		o.overdue = &overdue
	}
	if !*o.overdue || j.State != row.JobReserved {
		return nil
	}
	plan, err := plannedOf(o.tx, j)
	if err != nil {
		return err
	}
	if p.Guess, err = AskOf(o.tx).Guess(plan); p.Guess != 0 {
		if p.Reason != "" {
			p.Reason += "; "
		}
		p.Reason += "its start is" + strings.TrimPrefix(string(text.AppendGuess(nil, p.Guess)), ",")
	}
	return err
}

// allDue reports whether it is known when all dependencies of a job will be met.
func (o *Outlook) allDue(j *row.Job, p *Prospect) (bool, error) {
	if p.Wait != WaitsJob {
		return true, nil
	}
	for _, d := range j.After {
		if _, known, err := o.due(d); !known || err != nil {
			return false, err
		}
	}
	return true, nil
}
