package dispatch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/keeper"
)

// turnWithin bounds the cycles within a turn's commit, by the duration of the last one. Slower cycles
// are left to the process that runs the queue, which pauses between them.
const turnWithin = 25 * time.Millisecond

// Turn makes a turn. It reports how attempts have ended, makes a cycle, and claims our user's attempts
// that wait for this host. Those include the ones that this cycle has started, so each job is followed
// by the one that a cycle would start.
func (d *DB) Turn(_ context.Context, q *keeper.Request) (a *keeper.Answer, err error) {
	var more error
	err = d.on(d.Update, func(tx *engine.Tx) error {
		a, more = &keeper.Answer{Reported: make([]error, len(q.Ended))}, nil
		late := false
		if len(q.Ended) > 0 { // asked before the reports, which may end overdue jobs
			var err error
			if late, err = tx.Cycle().Overdue(); err != nil {
				return err
			}
		}
		for i, r := range q.Ended {
			a.Reported[i] = d.report(tx, r)
		}
		more = d.claims(tx, q, a, !late)
		return more
	})
	if more != nil { // nothing was committed, and the reports are not to blame
		return nil, fmt.Errorf("%w: %v", keeper.ErrNoTurn, more) //nolint:errorlint // it must not count as an answer
	}
	return a, err
}

// Claim claims one attempt for a process on another host, and returns what to execute.
func (d *DB) Claim(_ context.Context, c engine.Claim) (*keeper.Order, error) {
	var a *keeper.Answer
	err := d.on(d.Update, func(tx *engine.Tx) error {
		a = new(keeper.Answer)
		goesOn := isUnder(tx, c)
		if err := d.claim(tx, c, a); err != nil || goesOn { // a claim without permission fails here first
			return err
		}
		return d.verified(tx, c)
	})
	if err == nil && len(a.Orders) == 0 {
		err = &engine.Conflict{What: fmt.Sprintf("attempt %d.%d", c.Job, c.Attempt), Why: "it was refused"}
	}
	if err != nil {
		return nil, err
	}
	return a.Orders[0], nil
}

// claims makes a cycle if cycle is set, and claims attempts.
func (d *DB) claims(tx *engine.Tx, q *keeper.Request, a *keeper.Answer, cycle bool) error {
	for i := range q.Again {
		c := &q.Again[i]
		var err error
		if !isUnder(tx, c.Claim) {
			err = d.verified(tx, c.Claim)
		}
		if err == nil {
			err = d.claim(tx, c.Claim, a)
		}
		if errors.Is(err, engine.ErrConflict) || errors.Is(err, engine.ErrNotFound) {
			err = d.earlier(tx, c.Job, c.Attempt, c.Epoch)
		}
		if errors.Is(err, engine.ErrNotPermitted) { // the permission may come back
			a.Doubtful, a.Failed, err = append(a.Doubtful, c.Nonce), err, nil
		}
		if err != nil {
			return err
		}
	}
	is, err := tx.Identity()
	if err != nil || q.Claim == nil || d.Epoch != "" && EpochOf(is) != d.Epoch {
		return err
	}
	settings, err := tx.Config().Settings()
	if err != nil {
		return err
	}
	if cycle && len(q.Ended) > 0 && settings.Launch == engine.LaunchWork {
		if a.Cycled, err = d.cycle(tx); err != nil {
			return err
		}
	}
	if len(settings.Health) > 0 && !q.Healthy {
		return nil // a pass must ask first
	}
	var ours []keeper.Key
	err = tx.Attempts().Unclaimed(func(j *engine.Job) error {
		is, err := d.executes(tx, j)
		if is && err == nil {
			is, err = d.signed(tx, j.ID)
		}
		if is && err == nil {
			ours = append(ours, keeper.Key{Job: j.ID, Number: max(j.Attempt, 1)})
		}
		return err
	})
	for _, k := range ours {
		if err != nil {
			return err
		}
		if c, ok := q.Claim(k); ok {
			if err = d.claim(tx, c, a); errors.Is(err, engine.ErrConflict) || errors.Is(err, engine.ErrNotPermitted) {
				err = nil // for example, its time is over
			}
		}
	}
	return err
}

// cycle makes a cycle, if a process of this user makes cycles here.
func (d *DB) cycle(tx *engine.Tx) (made bool, err error) {
	if d.Cycles == nil {
		return false, nil
	}
	if took, err := tx.Cycle().LastTook(); err != nil || took > turnWithin {
		return false, err
	}
	if may, err := d.Cycles(tx); !may || err != nil {
		return false, err
	}
	_, err = tx.Cycle().Run(engine.CycleSpec{By: engine.BySupervisor})
	return true, err
}

// isUnder reports whether an attempt is already claimed under the nonce of a claim. If so, it is being
// executed.
func isUnder(tx *engine.Tx, c engine.Claim) bool {
	was, err := tx.Attempts().Get(c.Job, c.Attempt)
	return err == nil && was.Nonce == c.Nonce
}

// claim claims an attempt, and adds what to execute. It refuses an attempt that it cannot prepare.
func (d *DB) claim(tx *engine.Tx, c engine.Claim, a *keeper.Answer) error {
	granted, err := tx.Attempts().Claim(c)
	if err != nil {
		return err
	}
	order, err := d.order(tx, granted)
	if err != nil {
		_, err = tx.Attempts().Report(engine.Result{Job: c.Job, Attempt: c.Attempt, Nonce: c.Nonce,
			Outcome: engine.OutcomeRefused, Why: err.Error()})
		return err
	}
	order.Nonce = c.Nonce
	a.Orders = append(a.Orders, order)
	return nil
}
