package queue

import (
	"cmp"
	"slices"

	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/cycle"
)

// Take implements cycle.Host, as do the methods that follow.
func (p *pass) Take(c *cycle.Job, a *placer.Ask, made *placer.Plan) error {
	j := p.jobs[c.ID]
	was, then, on := j.State, j.Start, j.AllNodes()
	var breaks row.Reason
	if p.delayed[j.ID] {
		breaks = overdueInWay
	}
	delete(p.lifted, j.ID)
	delete(p.delayed, j.ID)
	reason := p.late[j.ID]
	if made.Start > p.tx.Now {
		reason = cmp.Or(reason, p.why[j.ID])
	}
	s := jobs.Step{To: jobs.StateOfPlan(p.tx, made), Reason: reason, Lifted: true,
		Plan: &plan.PlannedFor{Ask: *a, Plan: made}, Promise: promiseOf(c, made), Breaks: breaks, Around: c.Around}
	var err error
	if s.Announced, err = p.announces(j); err != nil {
		return err
	}
	if err := jobs.MachineOf(p.tx).Do(j, s); err != nil {
		return err
	}
	if j.State == row.JobRunning {
		p.starts(j)
		if !j.Queued {
			return nil
		}
		p.waiting--
		return p.took(j, 1)
	}
	if was == row.JobReserved && then == j.Start && slices.Equal(on, j.AllNodes()) {
		return nil // its plan has not moved
	}
	p.planned = append(p.planned, j)
	if was == row.JobReserved && then != j.Start {
		return p.tx.Happened(
			kernel.Replanned(j,
				cmp.Or(j.Reason, row.Because(row.CauseDisplaced, "was to start at "+kernel.Stamp(then)))))
	}
	return nil
}

// overdueInWay is the reason for a plan that cannot be kept.
var overdueInWay = row.Because(row.CauseOverdue, "an overdue job is on its nodes")

// promiseOf returns the promise of a job that a pass has decided on, or none if it starts
// later.
func promiseOf(c *cycle.Job, plan *placer.Plan) *jobs.StartPromise {
	if c.Promised < plan.Start {
		return nil
	}
	return &jobs.StartPromise{Latest: c.Promised, Earliest: c.Earliest}
}

func (p *pass) Hold(c *cycle.Job, a *placer.Ask, made *placer.Plan) (err error) {
	j := p.jobs[c.ID]
	delete(p.lifted, j.ID)
	delete(p.delayed, j.ID)
	if p.held[j.ID], err = jobs.MachineOf(p.tx).Hold(j, &plan.PlannedFor{Ask: *a, Plan: made},
		p.late[j.ID]); err != nil {
		return err
	}
	j.Backfilled = c.Around
	return p.took(j, 1)
}

func (p *pass) Begin(c *cycle.Job) error {
	j, was := p.jobs[c.ID], p.held[c.ID]
	delete(p.held, j.ID)
	p.waiting--
	announced, err := p.announces(j)
	if err == nil {
		err = jobs.MachineOf(p.tx).Begin(j, was, announced)
	}
	p.starts(j)
	return err
}

func (p *pass) Drop(c *cycle.Job) error {
	j, was := p.jobs[c.ID], p.held[c.ID]
	delete(p.held, j.ID)
	delete(p.lifted, j.ID)
	if err := p.took(j, -1); err != nil {
		return err
	}
	return jobs.MachineOf(p.tx).Drop(j, was)
}

func (p *pass) Lift(c *cycle.Job) error {
	j := p.jobs[c.ID]
	spans, err := p.tx.Allocations().Spans(j)
	p.lifted[j.ID] = spans
	if err != nil {
		return err
	}
	return jobs.LeaveNodes(p.tx, j)
}

func (p *pass) PutBack(c *cycle.Job) (bool, error) {
	j := p.jobs[c.ID]
	guest, err := plan.GuestOf(p.tx, j)
	if err != nil {
		return false, err
	}
	if taken, err := jobs.Conflict(p.tx, j, &jobs.Patient{Guest: guest, Now: p.tx.Now}, true); taken || err != nil {
		return false, err
	}
	spans := p.lifted[j.ID]
	delete(p.lifted, j.ID)
	if j.State == row.JobRunning { // its start is held
		return true, plan.OccupyAgain(p.tx, j, spans, row.JobRunning)
	}
	return true, jobs.MachineOf(p.tx).Do(j, jobs.Step{To: row.JobReserved, Reason: j.Reason, Lifted: true,
		Keeps: spans})
}

func (p *pass) Nodes(c *cycle.Job) []uint32 { return p.jobs[c.ID].AllNodes() }

func (p *pass) Withdraw(c *cycle.Job) error {
	delete(p.lifted, c.ID)
	j, why := p.jobs[c.ID], kernel.Outrun
	switch {
	case p.late[c.ID] != (row.Reason{}):
		why = p.late[c.ID]
	case c.Delayed:
		why = overdueInWay
	case c.Beyond:
		why = row.Because(row.CauseLimit, "it would go beyond a soft limit")
	}
	if !j.Queued && j.Start > p.tx.Now { // its nodes may be up again by then
		if kept, err := p.keepsPlan(c, j); kept || err != nil {
			return err
		}
	}
	return jobs.MachineOf(p.tx).Do(j, jobs.Step{To: row.JobQueued, Reason: why, Lifted: true})
}

// keepsPlan restores the plan of a job placed at an instant, if its room is still free.
func (p *pass) keepsPlan(c *cycle.Job, j *row.Job) (bool, error) {
	spans, err := p.tx.Allocations().Spans(j)
	if err != nil {
		return false, err
	}
	p.lifted[j.ID] = spans
	return p.PutBack(c)
}

// Beyond implements cycle.Host.
func (p *pass) Beyond(c *cycle.Job) (bool, error) {
	rules := p.tx.Counters().Rules
	if all, err := rules.All(); all == nil || !all.Soft() || err != nil {
		return false, err
	}
	return rules.Beyond(p.jobs[c.ID])
}

// MayStart implements cycle.Host: the shares of classes decide the order of jobs.
func (p *pass) MayStart(*cycle.Job) (bool, error) { return true, nil }
