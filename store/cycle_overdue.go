package store

import (
	"cmp"
	"errors"
	"slices"
)

// overdue deals with jobs that are past their end: they end, or they are taken to go
// on for a grace from now, and what was planned to follow them sooner is planned
// anew.
func (p *pass) overdue() error {
	set, err := p.tx.Settings()
	if err != nil {
		return err
	}
	late, err := p.tx.overdueJobs()
	if err != nil {
		return err
	}
	if !set.FinishOverdue {
		return p.delays(late)
	}
	for _, j := range late {
		if err := p.tx.finishOverdue(j); err != nil {
			return err
		}
		p.Finished = append(p.Finished, j)
	}
	return nil
}

// overdueJobs lists the running jobs that should have ended by now.
func (tx *Tx) overdueJobs() (late []*Job, err error) {
	err = tx.each(tableEndings, nil, func(k, _ []byte) (bool, error) {
		at, owner := splitTimeKey(k)
		if at > tx.now || isReservation(owner) {
			return at <= tx.now, nil
		}
		j, err := tx.Job(owner >> 1)
		late = append(late, j)
		return true, err
	})
	return late, err
}

// finishOverdue ends a job at the end it was given. Whoever launched it is to stop it:
// its nodes are others' now.
func (tx *Tx) finishOverdue(j *Job) error {
	end := j.End
	if err := tx.toStop(j); err != nil {
		return err
	}
	if err := tx.ended(j, JobFinished, "it ran to the end of its walltime"); err != nil {
		return err
	}
	j.End = end
	return tx.putJob(j, JobFinished)
}

// delays finds the plans that overdue jobs are in the way of. Those of jobs that
// wait in the queue are made anew when it is their turn, others at once.
func (p *pass) delays(late []*Job) error {
	p.delayed = make(map[uint64]bool)
	var byHand []*Job
	seen := make(map[uint64]bool)
	for _, j := range late {
		for _, node := range j.AllNodes() {
			for _, b := range p.tx.Calendar().At(node) {
				id := b.Owner >> 1
				if !b.Held || b.Start <= p.tx.now || b.Start >= p.tx.now+overdueGrace || seen[id] {
					continue
				}
				seen[id] = true
				planned, err := p.tx.Job(id)
				if err != nil {
					return err
				}
				delayed, err := p.tx.delayed(planned)
				if err != nil {
					return err
				}
				if p.delayed[id] = delayed; delayed && !planned.Queued {
					byHand = append(byHand, planned)
				}
			}
		}
	}
	slices.SortFunc(byHand, func(a, b *Job) int { return cmp.Compare(a.ID, b.ID) })
	for _, j := range byHand {
		j.Reason = "was to start at " + stamp(j.Start) + "; an overdue job is on its nodes"
		if err := errors.Join(p.tx.vacate(j), p.tx.planAnew(j)); err != nil {
			return err
		}
		p.Planned = append(p.Planned, j)
	}
	return nil
}

// delayed reports whether a plan does not fit any more, beside who is overdue.
func (tx *Tx) delayed(j *Job) (bool, error) {
	spans, err := tx.spansOf(j)
	if err != nil {
		return false, err
	}
	guest, err := tx.guestOf(j)
	if err != nil {
		return false, err
	}
	for _, s := range spans {
		err := tx.inTheWay("the plan", s.node, s.Busy, guest, j.User)
		if errors.Is(err, ErrConflict) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}
