package store

import (
	"context"
	"time"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/placer"
)

// Cycle makes one pass over the queue: jobs start or are planned in order, and overdue ones end if
// the setting overdue says so. The caller executes what has Started, unless the setting launch says otherwise: see
// package attempts. When ctx ends, it fails with its error, and the transaction must not be kept. With 1,000 waiting
// jobs it takes some hundredths of a second.
func (tx *Tx) Cycle(ctx context.Context, opt CycleOptions) (*CycleReport, error) {
	spec, err := opt.below()
	if err != nil {
		return nil, err
	}
	spec.Enough = func() bool { return ctx.Err() != nil || opt.Enough != nil && opt.Enough() }
	r, err := tx.tx.Cycle().Run(spec)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	out := &CycleReport{Waiting: r.Waiting, Unreached: r.Unreached, Next: r.Next}
	never := make([]*engine.Job, len(r.Never))
	for i, n := range r.Never {
		never[i] = n.Job
	}
	for _, list := range []struct {
		to   *[]*Job
		from []*engine.Job
	}{{&out.Started, r.Started}, {&out.Planned, r.Planned}, {&out.Finished, r.Finished},
		{&out.Cancelled, r.Cancelled}, {&out.Stopped, r.Stopped}, {&out.Never, never}} {
		if *list.to, err = tx.jobs(list.from, nil); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// NextChange returns when something planned next begins or ends by the clock, or the zero time.
func (tx *Tx) NextChange() (time.Time, error) { return tx.tx.Cycle().NextChange() }

// Play runs the queue forward on a copy in memory of what a View sees, as if nothing were submitted any more,
// until an instant, or as long as jobs start if it is zero. It returns the waiting jobs with their starts. When
// ctx ends, it fails with its error.
func (tx *Tx) Play(ctx context.Context, opt CycleOptions, until time.Time) ([]Played, error) {
	spec, err := opt.below()
	if err != nil {
		return nil, err
	}
	var list []engine.Played
	err = tx.tx.Suppose(func(copied *engine.Tx) (err error) {
		list, err = copied.Cycle().Play(engine.PlaySpec{Cycle: spec, Until: until,
			Done: func() bool { return ctx.Err() != nil }})
		return err
	})
	if err == nil {
		err = ctx.Err()
	}
	return listed(list, err, func(p engine.Played) (Played, error) { return Played{p.Job, p.Start}, nil })
}

// When returns the first starts of a request from an instant on, at most count of them.
func (tx *Tx) When(r placer.Request, after time.Time, count int) ([]Opening, error) {
	list, err := tx.tx.Ask().When(r, after, count)
	return listed(list, err, func(o engine.Opening) (Opening, error) {
		names, err := tx.tx.Nodes().Names(o.Plan.NodeNumbers())
		return Opening{o.Start, o.End, names}, err
	})
}

// Prospect says what a job waits for, and when it is expected to start, as PlayForecasts has found it. It does not play
// the queue itself: without a forecast the start of a job without a plan is unknown.
func (tx *Tx) Prospect(id uint64) (*Prospect, error) {
	j, err := tx.tx.Jobs().Get(id)
	if err != nil {
		return nil, err
	}
	engine.Rest(tx.tx)
	look, err := tx.tx.Ask().Outlook()
	if err != nil {
		return nil, err
	}
	is, err := look.Prospect(j)
	if err != nil {
		return nil, err
	}
	out := &Prospect{Wait: Wait(is.Wait), Reason: is.Words(), Start: is.Opening.Start, Likely: is.Likely, Safe: is.Safe}
	if is.Wait == engine.WaitsNot || j.State == engine.JobReserved {
		return out, nil
	}
	below := j.Row()
	q, err := look.Queueing(&below)
	if q == nil || err != nil {
		return out, err
	}
	out.Place, out.Before = q.Place, q.Before
	return out, nil
}

// Explain says why a request starts now or not, what each node lacks, and what would help.
func (tx *Tx) Explain(r placer.Request) (*placer.Explanation, error) {
	e, err := tx.tx.Ask().Explain(r, placer.Explain{})
	if err != nil {
		return nil, err
	}
	return e.Explanation, nil
}

// ExplainJob does the same for a job, with what Prospect says. The explanation is nil for a job that runs, is planned
// or has ended.
func (tx *Tx) ExplainJob(id uint64) (*placer.Explanation, *Prospect, error) {
	p, err := tx.Prospect(id)
	if err != nil {
		return nil, nil, err
	}
	e, err := tx.tx.Ask().ExplainJob(id, placer.Explain{})
	if err != nil {
		return nil, nil, err
	}
	return e.Explanation, p, nil
}
