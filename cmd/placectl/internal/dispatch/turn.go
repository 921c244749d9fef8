package dispatch

import (
	"context"
	"fmt"
	"time"

	attempts "github.com/placectl/placectl/cmd/placectl/internal/runner"
	"github.com/placectl/placectl/store"
)

// turnWithin bounds the cycles that are made in the commit of a report, by the last one: slower
// ones are made by the process that runs the queue, with pauses between them.
const turnWithin = 10 * time.Millisecond

// Turn makes turns: a report, a cycle, and the claim of an attempt that this cycle has started
// here for our user. So whoever follows is whom a cycle starts. Where cycles is false it only
// reports: no process makes cycles here, or not now.
func (d *DB) Turn(cycles func(*store.Tx) (bool, error)) attempts.Turn {
	return func(_ context.Context, ended *store.Result, prepare func(attempts.Key) (store.Claim, bool)) (order *attempts.Order, err error) {
		var reported, more error
		err = d.on(d.Update, func(tx *store.Tx) error {
			order, reported, more = nil, nil, nil
			late, err := tx.Overdue() // before the report: what it guessed of that job stays
			if err != nil {
				return err
			}
			if reported = d.report(tx, ended); reported != nil {
				return reported
			}
			if !late {
				order, more = d.follow(tx, cycles, prepare)
			}
			return more
		})
		switch {
		case reported != nil:
			return nil, reported
		case more != nil: // nothing was committed, and the report is not to blame
			return nil, fmt.Errorf("%w: %v", attempts.ErrNoTurn, more) //nolint:errorlint // it must not pass for an answer to the report
		}
		return order, err
	}
}

// follow makes a cycle and claims an attempt that it has started.
func (d *DB) follow(tx *store.Tx, cycles func(*store.Tx) (bool, error), prepare func(attempts.Key) (store.Claim, bool)) (*attempts.Order, error) {
	settings, err := tx.Settings()
	if err != nil || settings.Launch != store.LaunchWork || len(settings.Health) > 0 {
		return nil, err
	}
	if took, err := tx.LastCycleTook(); err != nil || took > turnWithin {
		return nil, err
	}
	if may, err := cycles(tx); !may || err != nil {
		return nil, err
	}
	report, err := tx.Cycle(store.CycleSpec{By: store.BySupervisor})
	if err != nil {
		return nil, err
	}
	for _, j := range report.Started {
		ours, err := d.executes(tx, j)
		if ours && err == nil {
			ours, err = d.signed(tx, j.ID)
		}
		if err != nil {
			return nil, err
		}
		if !ours {
			continue
		}
		claim, ok := prepare(attempts.Key{Job: j.ID, Number: max(j.Attempt, 1)})
		if !ok {
			continue
		}
		granted, err := tx.Claim(claim)
		if err != nil {
			return nil, err
		}
		return d.order(tx, granted)
	}
	return nil, nil
}
