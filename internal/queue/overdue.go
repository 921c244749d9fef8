package queue

import (
	"errors"

	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/row"
)

// overdue handles jobs past their end. They end, or are expected to continue for a grace from
// now, and conflicting plans are made again. Jobs that were never reported for launching are
// requeued.
func (p *pass) overdue() error {
	set, err := p.tx.Settings()
	if err != nil {
		return err
	}
	late, err := OverdueJobs(p.tx)
	if err != nil {
		return err
	}
	var kept []*row.Job
	for _, j := range late {
		switch {
		case j.ToLaunch():
			err = notLaunched(p.tx, j, set)
		case kernel.IsExecuted(j):
			err = executed(p.tx, j, set)
			kept = append(kept, j)
		case set.FinishOverdue:
			err = finish(p.tx, j)
			p.finished = append(p.finished, j)
		default:
			kept = append(kept, j)
		}
		if err != nil {
			return err
		}
	}
	if err := p.unready(); err != nil {
		return err
	}
	return p.delays(kept)
}

// executed handles a job past its end whose command is executed. A supervisor is about to end it.
// The process of an interactive run is told to, if overdue jobs end here.
func executed(tx *kernel.Tx, j *row.Job, set *kernel.Settings) error {
	if j.Ending || !set.FinishOverdue {
		return nil
	}
	a, err := tx.Attempts().Of(j, j.CurrentAttempt())
	if err != nil || a.By == row.BySupervisor {
		return err
	}
	return jobs.MachineOf(tx).EndsAs(j, row.JobFailed, WalltimeOver)
}

// notLaunched requeues a job past its end that no process has claimed, or that was not reported.
func notLaunched(tx *kernel.Tx, j *row.Job, set *kernel.Settings) error {
	if done, err := jobs.UnclaimedTooLong(tx, j, set); done || err != nil {
		return err
	}
	return missed(tx, j)
}

// missed requeues a job that was not reported for launching before its end. A planned job
// begins by the clock and has its nodes from then on, but only a cycle reports it for
// launching. Without a cycle in that time it has not run, so it waits again.
func missed(tx *kernel.Tx, j *row.Job) error {
	return jobs.MachineOf(tx).Do(j,
		jobs.Step{To: row.JobQueued,
			Reason: row.Because(row.CauseUntold, "its start at "+kernel.Stamp(j.Start)+
				" was not reported before its end"), Leaving: jobs.NeverTold})
}

// unready requeues jobs that were not reported for launching yet and depend on a job that was
// requeued since they began.
func (p *pass) unready() error {
	ids, err := p.tx.ToBeLaunched()
	if err != nil {
		return err
	}
	set, err := p.tx.Settings()
	if err != nil {
		return err
	}
	for _, id := range ids {
		j, err := p.tx.ListedJob(id)
		if err != nil {
			return err
		}
		if ignored, err := jobs.UnclaimedTooLong(p.tx, j, set); ignored || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		if err := p.toClaim(j, set); err != nil {
			return err
		}
		waitsFor, err := jobs.Ready(p.tx, j)
		if errors.Is(err, kernel.ErrUnmet) { // it is cancelled when the queue is read
			waitsFor, err = err.Error(), nil
		}
		if waitsFor != "" {
			err = jobs.MachineOf(p.tx).Do(j,
				jobs.Step{To: row.JobQueued, Reason: row.Because(row.CauseDependency,
					"its start at "+kernel.Stamp(j.Start)+" was not reported; "+waitsFor), Leaving: jobs.NeverTold})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// toClaim makes a cycle at the instant by which a started job must be claimed.
func (p *pass) toClaim(j *row.Job, set *kernel.Settings) error {
	if set.Launch != kernel.LaunchWork || !j.HasCommand() {
		return nil
	}
	a, err := p.tx.Attempts().Of(j, j.CurrentAttempt())
	if err == nil {
		p.at(jobs.ClaimedBy(p.tx, a.Began, set))
	}
	return err
}

// OverdueJobs lists the running jobs that should have ended by now.
func OverdueJobs(tx *kernel.Tx) (late []*row.Job, err error) {
	err = tx.File.Each(row.Releases, nil, func(k, _ []byte) (bool, error) {
		at, owner := row.SplitTimeKey(k)
		if at > tx.Now || row.IsReservation(owner) {
			return at <= tx.Now, nil
		}
		j, err := tx.ListedJob(owner >> 1)
		late = append(late, j)
		return true, err
	})
	return late, err
}

// WalltimeOver is the reason of a job that was ended at its walltime.
var WalltimeOver = row.Because(row.CauseWalltime, "it ran to the end of its walltime")

// finish ends a job at its end, as a supervisor would: it has failed, and may be retried. A
// launcher is told to stop it, because its nodes now belong to others. A placed job that no
// supervisor or launcher executed only had its nodes for a time, so it has finished. All jobs of a
// queue that is played forward finish, too.
func finish(tx *kernel.Tx, j *row.Job) error {
	s := jobs.Step{End: min(j.End, tx.Now), Reason: WalltimeOver}
	if tx.Opt.Plays || !j.Queued && !j.Claimed && !j.Launched {
		s.To = row.JobFinished
		return jobs.MachineOf(tx).Do(j, s)
	}
	r := jobs.Result{Outcome: row.OutcomeWalltime, Why: WalltimeOver.Text}
	s.How = r.Note
	return jobs.EndExecuted(tx, j, r, s)
}

// delays finds the plans that are blocked by overdue jobs. They are made again at their turn.
func (p *pass) delays(late []*row.Job) error {
	p.delayed = make(map[uint64]bool)
	seen := make(map[uint64]bool)
	for _, j := range late {
		behind, err := jobs.PlannedBehind(p.tx, j)
		if err != nil {
			return err
		}
		for _, id := range behind {
			if seen[id] {
				continue
			}
			seen[id] = true
			planned, err := p.tx.ListedJob(id)
			if err != nil {
				return err
			}
			guest, err := plan.GuestOf(p.tx, planned)
			if err != nil {
				return err
			}
			delayed, err := jobs.Conflict(p.tx, planned, guest, false)
			if err != nil {
				return err
			}
			if p.delayed[id] = delayed; delayed && !planned.Queued {
				if err := jobs.Postpone(p.tx.File, planned); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
