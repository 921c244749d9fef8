package jobs

import (
	"fmt"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/users"
	"github.com/placectl/placectl/placer"
)

// Place places a request now and starts it as a job. If it fails with a *placer.Refusal, that
// says why the request does not fit, and when it would.
func (js Jobs) Place(r placer.Request) (*kernel.Job, error) {
	return kernel.JobResult(place(js.tx, r, func(snap *placer.Snapshot, a placer.Ask) (*placer.Plan, error) {
		found, err := snap.Place(a, js.tx.Now)
		return found, plan.WithStart(snap, a, js.tx.Now, err)
	}))
}

// PlaceAt places a request for a start at an instant, now or later. A job that starts later
// has its nodes from then on, and starts by the clock.
func (js Jobs) PlaceAt(r placer.Request, start time.Time) (*kernel.Job, error) {
	at := kernel.Unix(start)
	if at < js.tx.Now {
		return nil, fmt.Errorf("%w: a start at %s is in the past, it is %s now", row.ErrInvalid, kernel.Stamp(at),
			kernel.Stamp(js.tx.Now))
	}
	if at > row.LastInstant {
		return nil, fmt.Errorf("%w: a start after the year 9999", row.ErrInvalid)
	}
	return kernel.JobResult(place(js.tx, r, func(snap *placer.Snapshot, a placer.Ask) (*placer.Plan, error) {
		found, err := snap.Place(a, at)
		return found, plan.WithStart(snap, a, js.tx.Now, err)
	}))
}

// PlaceOrReserve places a request now or, if it does not fit now, at its earliest start.
func (js Jobs) PlaceOrReserve(r placer.Request) (*kernel.Job, error) {
	return kernel.JobResult(place(js.tx, r, func(snap *placer.Snapshot, a placer.Ask) (*placer.Plan, error) {
		return snap.Earliest(a, js.tx.Now)
	}))
}

func place(tx *kernel.Tx, r placer.Request, decide func(*placer.Snapshot, placer.Ask) (*placer.Plan, error)) (*row.Job,
	error) {
	if !tx.Writable() {
		return nil, file.ErrReadOnly
	}
	a, err := plan.AskFor(tx, r)
	if err != nil {
		return nil, err
	}
	if err := users.RolesOf(tx).Asks(r); err != nil {
		return nil, err
	}
	snap, err := plan.Snapshot(tx, r.Queue)
	if err != nil {
		return nil, err
	}
	plan, err := decide(snap, a)
	if err != nil {
		return nil, err
	}
	return NewJob(tx, r, a, plan)
}

// NewJob makes a job of a plan and carries the plan out.
func NewJob(tx *kernel.Tx, r placer.Request, a placer.Ask, made *placer.Plan) (*row.Job, error) {
	j, err := admitted(tx, r, a, made.Start > tx.Now)
	if err != nil {
		return nil, err
	}
	j.ID = tx.State.NextJob
	tx.State.NextJob++
	return j, MachineOf(tx).Do(j, Step{To: StateOfPlan(tx, made), Plan: &plan.PlannedFor{Ask: a, Plan: made}})
}

// admitted makes a new job for a request. It fails if a limit forbids it: on a single job, or
// on how many may wait and run.
func admitted(tx *kernel.Tx, r placer.Request, a placer.Ask, waits bool) (*row.Job, error) {
	defs, err := tx.Resources()
	if err != nil {
		return nil, err
	}
	j := newcomer(tx, r, a, defs)
	return j, plan.Admit(tx, j, a.Spec, 1, waits)
}

// Admits fails if a limit forbids submitting or placing a request.
func Admits(tx *kernel.Tx, r placer.Request, waits bool) error {
	a, err := plan.AskFor(tx, r)
	if err == nil {
		_, err = admitted(tx, r, a, waits)
	}
	return err
}

// newcomer makes a new job for a request. Its policy is the requested one; without one,
// placement decides.
func newcomer(tx *kernel.Tx, r placer.Request, a placer.Ask, defs *index.Defs) *row.Job {
	sel, place := tx.Loaded.Sayings.Normal(defs, r, a.Spec)
	j := &row.Job{JobFacts: row.JobFacts{Key: tx.Key, JobTerms: row.JobTerms{Name: r.Name, User: r.User,
		UID: users.RolesOf(tx).Uid(r.User), Group: r.Group,
		Account: r.Account, Queue: r.Queue, Class: r.Class, Select: sel, Place: place, Access: a.Access,
		Reservation: r.Reservation, Prefer: r.Prefer, Exclude: r.Exclude,
		Bind: a.Bind, Policy: r.Policy, NoPolicy: r.Policy == "", Pools: a.Spec.Pools, OverLimits: r.OverLimits}}}
	j.Walltime, j.Submit = a.Duration, tx.Now
	return j
}

// StateOfPlan returns the state of a job with a plan.
func StateOfPlan(tx *kernel.Tx, plan *placer.Plan) row.JobState {
	if plan.Start > tx.Now {
		return row.JobReserved
	}
	return row.JobRunning
}
