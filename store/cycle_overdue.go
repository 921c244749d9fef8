package store

import (
	"errors"

	"github.com/placectl/placectl/store/internal/derived"
	"github.com/placectl/placectl/store/internal/postponed"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/timeline"
)

// overdue deals with jobs past their end. They end, or they are expected to go on for a grace from
// now, and plans that are in conflict with that are made again. Jobs that were never reported for
// launching are queued again.
func (p *pass) overdue() error {
	set, err := p.tx.settings()
	if err != nil {
		return err
	}
	late, err := p.tx.overdue().jobs()
	if err != nil {
		return err
	}
	var kept []*row.Job
	for _, j := range late {
		switch {
		case j.ToLaunch():
			err = p.tx.overdue().missed(j)
		case isExecuted(j):
			err = p.tx.overdue().executed(j, set)
			kept = append(kept, j)
		case set.FinishOverdue:
			err = p.tx.overdue().finish(j)
			p.finished = append(p.finished, j)
		default:
			kept = append(kept, j)
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(p.unready(), p.delays(kept))
}

// overdue is the part of the transaction that is about running jobs past their end.
type overdue struct{ *Tx }

func (tx *Tx) overdue() overdue { return overdue{tx} }

// executed handles a job past its end whose command is executed. A supervisor is about to end it.
// The process of an interactive run is told to, if overdue jobs end here.
func (os overdue) executed(j *row.Job, set *Settings) error {
	if j.Ending || !set.FinishOverdue {
		return nil
	}
	a, err := os.attempts().of(j, j.CurrentAttempt())
	if err != nil || a.By == row.BySupervisor {
		return err
	}
	return os.machine().endsAs(j, JobFailed, walltimeOver)
}

// ending is how long ending a command takes beside its grace, in seconds.
const ending = 10

// overrun is how long from now an owner is expected to go on past its end, in seconds. A job
// executed by a supervisor is being ended.
func (os overdue) overrun(owner uint64) int64 {
	if d, known := os.loaded.overruns[owner]; known {
		return d
	}
	d, err := os.lasts(owner)
	if err != nil {
		os.failed(err)
		return derived.Grace
	}
	if os.loaded.overruns == nil {
		os.loaded.overruns = make(map[uint64]int64)
	}
	os.loaded.overruns[owner] = d
	return d
}

func (os overdue) lasts(owner uint64) (int64, error) {
	if row.IsReservation(owner) {
		return derived.Grace, nil
	}
	j, err := os.job(owner >> 1)
	if err != nil || !isExecuted(j) || j.Reason.Cause == row.CauseUnreachable {
		return derived.Grace, err
	}
	a, err := os.attempts().of(j, j.CurrentAttempt())
	if err != nil || a.By != row.BySupervisor {
		return derived.Grace, err
	}
	grace, err := os.attempts().grace(j)
	return seconds(grace) + ending, err
}

// missed queues a job again that was not reported for launching before its end. A planned job
// begins by the clock and has its nodes from then on, but only a cycle reports it for launching.
// Without one in all its time it has not run, so it has not finished and waits again.
func (os overdue) missed(j *row.Job) error {
	return os.machine().do(j, step{to: JobQueued, reason: row.Because(row.CauseUntold, "its start at "+stamp(j.Start)+" was not reported before its end"), leaving: neverTold})
}

// unready queues jobs again that were not reported for launching yet, and depend on a job that was
// queued again since they began.
func (p *pass) unready() error {
	ids, err := p.tx.toBeLaunched()
	if err != nil {
		return err
	}
	set, err := p.tx.settings()
	if err != nil {
		return err
	}
	for _, id := range ids {
		j, err := p.tx.job(id)
		if err != nil {
			return err
		}
		if ignored, err := p.tx.attempts().unclaimedTooLong(j, set); ignored || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		waitsFor, err := p.tx.waiting().ready(j)
		if errors.Is(err, errUnmet) { // it is cancelled when the queue is read
			waitsFor, err = err.Error(), nil
		}
		if waitsFor != "" {
			err = p.tx.machine().do(j, step{to: JobQueued, reason: row.Because(row.CauseDependency, "its start at "+stamp(j.Start)+" was not reported; "+waitsFor), leaving: neverTold})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// jobs lists the running jobs that should have ended by now.
func (os overdue) jobs() (late []*row.Job, err error) {
	err = os.file.Each(row.Releases, nil, func(k, _ []byte) (bool, error) {
		at, owner := row.SplitTimeKey(k)
		if at > os.now || row.IsReservation(owner) {
			return at <= os.now, nil
		}
		j, err := os.job(owner >> 1)
		late = append(late, j)
		return true, err
	})
	return late, err
}

// walltimeOver is the reason of a job that was ended at its walltime.
var walltimeOver = row.Because(row.CauseWalltime, "it ran to the end of its walltime")

// finish ends a job at the end it was given, as a supervisor would: it has failed, and may be
// tried again. A launcher is told to stop it, as its nodes are others' now. A job that was
// placed, and not executed by a supervisor or launcher, had its nodes for a time: it has finished.
// So have all jobs of a queue that is played forward.
func (os overdue) finish(j *row.Job) error {
	s := step{end: min(j.End, os.now), reason: walltimeOver}
	if os.opt.plays || !j.Queued && !j.Claimed && !j.Launched {
		s.to = JobFinished
		return os.machine().do(j, s)
	}
	r := Result{Outcome: OutcomeWalltime, Why: walltimeOver.Text}
	s.how = r.note
	return os.attempts().executed(j, r, s)
}

// delays finds the plans that are blocked by overdue jobs. They are made again at their turn.
func (p *pass) delays(late []*row.Job) error {
	p.delayed = make(map[uint64]bool)
	seen := make(map[uint64]bool)
	for _, j := range late {
		behind, err := p.tx.allocations().behind(j)
		if err != nil {
			return err
		}
		for _, id := range behind {
			if seen[id] {
				continue
			}
			seen[id] = true
			planned, err := p.tx.job(id)
			if err != nil {
				return err
			}
			guest, err := p.tx.allocations().guest(planned)
			if err != nil {
				return err
			}
			delayed, err := p.tx.allocations().conflict(planned, guest, false)
			if err != nil {
				return err
			}
			if p.delayed[id] = delayed; delayed && !planned.Queued {
				if err := postponed.Add(p.tx.file, planned); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// behind lists the jobs that should start soon on a node of an overdue job, or with something that
// it holds.
func (al allocations) behind(j *row.Job) ([]uint64, error) {
	until := al.now + al.overdue().overrun(row.JobOwner(j.ID))
	ids, err := al.counters().Planned(j, al.now, until)
	for _, node := range j.AllNodes() {
		for _, b := range al.calendar().At(node) {
			if b.Held && b.Start > al.now && b.Start < until {
				ids = append(ids, b.Owner>>1)
			}
		}
	}
	return ids, err
}

// conflict reports whether an owner that its guest respects holds what a job has planned. Of
// counters by is true if overdue jobs are ignored.
func (al allocations) conflict(j *row.Job, guest timeline.Guest, by bool) (bool, error) {
	if short, err := al.counters().Exceeds(j, j.Start, j.End, by); short != "" || err != nil {
		return short != "", err
	}
	spans, err := al.spans(j)
	if err != nil {
		return false, err
	}
	for _, s := range spans {
		err := al.taking("the plan", s.Node, s.Busy, guest, j.User).Conflict()
		if errors.Is(err, ErrConflict) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}
