package cycle

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/cycle"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/placer/preempt"
	"github.com/placectl/placectl/store/internal/booking"
	"github.com/placectl/placectl/store/internal/jobs"
	"github.com/placectl/placectl/store/internal/kernel"
	"github.com/placectl/placectl/store/internal/row"
)

// Take implements cycle.Host, as do the methods that follow.
func (p *pass) Take(c *cycle.Job, a *placer.Ask, plan *placer.Plan) error {
	j := p.jobs[c.ID]
	was, then, on := j.State, j.Start, j.AllNodes()
	var breaks row.Reason
	if p.delayed[j.ID] {
		breaks = overdueInWay
	}
	delete(p.lifted, j.ID)
	delete(p.delayed, j.ID)
	reason := p.late[j.ID]
	if plan.Start > p.tx.Now {
		reason = cmp.Or(reason, p.why[j.ID])
	}
	s := jobs.Step{To: jobs.StateOfPlan(p.tx, plan), Reason: reason, Lifted: true, Plan: &booking.PlannedFor{Ask: *a, Plan: plan}, Promise: promiseOf(c, plan), Breaks: breaks, Around: c.Around}
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
		return p.tx.Happened(kernel.Replanned(j, cmp.Or(j.Reason, row.Because(row.CauseDisplaced, "was to start at "+kernel.Stamp(then)))))
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

func (p *pass) Hold(c *cycle.Job, a *placer.Ask, plan *placer.Plan) (err error) {
	j := p.jobs[c.ID]
	delete(p.lifted, j.ID)
	delete(p.delayed, j.ID)
	if p.held[j.ID], err = jobs.MachineOf(p.tx).Hold(j, &booking.PlannedFor{Ask: *a, Plan: plan}, p.late[j.ID]); err != nil {
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
	return errors.Join(p.took(j, -1), jobs.MachineOf(p.tx).Drop(j, was))
}

func (p *pass) Lift(c *cycle.Job) error {
	j := p.jobs[c.ID]
	spans, err := p.tx.Allocations().Spans(j)
	p.lifted[j.ID] = spans
	return errors.Join(err, jobs.LeaveNodes(p.tx, j))
}

func (p *pass) PutBack(c *cycle.Job) (bool, error) {
	j := p.jobs[c.ID]
	guest, err := booking.GuestOf(p.tx, j)
	if err != nil {
		return false, err
	}
	if taken, err := jobs.Conflict(p.tx, j, &jobs.Patient{Guest: guest, Now: p.tx.Now}, true); taken || err != nil {
		return false, err
	}
	spans := p.lifted[j.ID]
	delete(p.lifted, j.ID)
	if j.State == row.JobRunning { // its start is held
		return true, booking.OccupyAgain(p.tx, j, spans, row.JobRunning)
	}
	return true, jobs.MachineOf(p.tx).Do(j, jobs.Step{To: row.JobReserved, Reason: j.Reason, Lifted: true, Keeps: spans})
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

// listQueue lists the jobs that may start, in order.
func (p *pass) listQueue() error {
	for {
		cancelled := len(p.cancelled)
		p.queue, p.aside, p.waiting = p.lists.queue[:0], nil, 0
		err := p.list()
		p.lists.queue = p.queue
		if err != nil || len(p.cancelled) == cancelled {
			return err
		}
	}
}

// list lists the jobs once. Jobs that it cancels may give others their turn.
func (p *pass) list() error {
	clear(p.EqualTo)
	if line, err := p.played(); line != nil || err != nil {
		for _, q := range line {
			if _, err := p.listed(q.Job); err != nil {
				return err
			}
		}
		return err
	}
	if in, err := p.inLots(); err != nil {
		return err
	} else if in {
		return p.listLots()
	}
	waiting, err := InOrder(p.tx)
	if err != nil {
		return err
	}
	for _, j := range waiting {
		if _, err := p.listed(j); err != nil {
			return err
		}
	}
	return nil
}

// listed lists a job, and reports whether it may start.
func (p *pass) listed(j *row.Job) (stays bool, err error) {
	if _, held := p.held[j.ID]; held {
		p.waiting++
		return false, nil
	}
	if stays, err = p.stays(j); err != nil {
		return false, err
	}
	if stays {
		p.queue = append(p.queue, j)
	} else if j.State.Live() {
		p.aside = append(p.aside, j)
	}
	return stays, nil
}

// Followers implements cycle.Host.
func (p *pass) Followers(c *cycle.Job) (out []*cycle.Job, err error) {
	if p.following == nil {
		p.following = make(map[uint64][]*row.Job)
		for _, j := range p.aside {
			for _, d := range j.After {
				if d.When == row.After {
					p.following[d.Job] = append(p.following[d.Job], j)
				}
			}
		}
	}
	for _, j := range p.following[c.ID] {
		waitsFor, err := jobs.Ready(p.tx, j)
		if errors.Is(err, kernel.ErrUnmet) {
			continue // the next listing cancels it
		}
		if err != nil {
			return nil, err
		}
		absent, err := Unattended(p.tx, j)
		if err != nil {
			return nil, err
		}
		if waitsFor == "" && absent == "" && j.State == row.JobQueued && (j.Begin <= p.tx.Now || p.spec.Backfill == kernel.Conservative) {
			next := p.waits(j)
			if p.turn != nil {
				if next.Priority, err = p.turnAmong(j, c.Priority); err != nil {
					return nil, err
				}
			}
			p.queue, out = append(p.queue, j), append(out, next)
		}
	}
	return out, nil
}

// turnAmong returns the priority of a job that is inserted into a sorted queue: behind all jobs
// before it in its class, and behind the job that let it in.
func (p *pass) turnAmong(j *row.Job, behind int64) (int64, error) {
	classOf := func(j *row.Job) (int, error) {
		if p.allotted == nil {
			return 0, nil
		}
		return p.allotted.Place(j)
	}
	class, err := classOf(j)
	if err != nil {
		return 0, err
	}
	if p.rank == nil {
		waiting, err := InOrder(p.tx)
		if err != nil {
			return 0, err
		}
		p.rank = make(map[uint64]int, len(waiting))
		for i, j := range waiting {
			p.rank[j.ID] = i
		}
	}
	for id, turn := range p.turn {
		at, rank := -2*int64(turn)-1, p.rank[id]
		if at >= behind || rank > p.rank[j.ID] || p.jobs[id].State == row.JobRunning {
			continue
		}
		other, err := classOf(p.jobs[id])
		if err != nil {
			return 0, err
		}
		if other == class {
			behind = at
		}
	}
	return behind, nil
}

// stays reports whether a waiting job may start. One that can never start is cancelled.
func (p *pass) stays(j *row.Job) (bool, error) {
	if j.Deadline != 0 && p.tx.Now+j.Walltime > j.Deadline {
		return false, p.cancel(j, row.Because(row.CauseDeadline, "it cannot end by its deadline, "+kernel.Stamp(j.Deadline)))
	}
	waitsFor, err := jobs.Ready(p.tx, j)
	if errors.Is(err, kernel.ErrUnmet) {
		return false, p.cancel(j, row.Because(row.CauseDependency, err.Error()))
	}
	p.waiting++
	if waitsFor != "" && j.State == row.JobReserved {
		err = jobs.MachineOf(p.tx).Do(j, jobs.Step{To: row.JobQueued, Reason: row.Because(row.CauseDependency, waitsFor+" again")})
	}
	if err != nil || waitsFor != "" {
		return false, err
	}
	absent, err := Unattended(p.tx, j)
	if err != nil {
		return false, err
	}
	if absent != "" {
		p.absent[j.ID] = true
		return j.State == row.JobReserved, nil // it keeps its plan until that is due, and gets no earlier one
	}
	if j.Begin > p.tx.Now {
		p.at(j.Begin)
	}
	if j.Deadline != 0 {
		p.at(j.Deadline - j.Walltime + 1)
	}
	return j.Begin <= p.tx.Now || j.State == row.JobReserved || p.spec.Backfill == kernel.Conservative, nil
}

func (p *pass) cancel(j *row.Job, reason row.Reason) error {
	p.cancelled = append(p.cancelled, j)
	return jobs.MachineOf(p.tx).Do(j, jobs.Step{To: row.JobCancelled, Reason: reason})
}

// shares stops jobs so that classes get back their entitlements, and computes how much each
// class may start.
func (p *pass) shares() error { return p.allot(false) }

// allot does the same; anew is true for a second time in this cycle.
func (p *pass) allot(anew bool) error {
	set, err := p.tx.Shares()
	if err != nil || len(set.Loads) == 0 {
		return err
	}
	tally, err := booking.ClassSharesOf(p.tx).Tally()
	if err != nil {
		return err
	}
	if p.spec.Silent || anew {
		tally.State.Rebalance = fairshare.Rebalance{}
	}
	for id := range p.held {
		if err := tally.Runs(p.jobs[id]); err != nil {
			return err
		}
	}
	a, plan, err := booking.ClassSharesOf(p.tx).Allot(tally, p.queue)
	if err != nil {
		return err
	}
	p.allotted = a
	if p.spec.Silent || anew {
		return nil
	}
	if err := booking.SetShareTimer(p.tx, plan.Timer); err != nil {
		return err
	}
	stops := 0
	for _, c := range plan.Classes {
		for _, t := range c.StopTasks {
			stops++
			if err := p.givesBack(t.ID, row.Because(row.CauseClass, fmt.Sprintf("stopped: class %s had more than its %d%%", c.Name, c.LoadPct))); err != nil {
				return err
			}
		}
	}
	if stops == 0 {
		return nil
	}
	return errors.Join(p.listQueue(), p.allot(true)) // stopped jobs get a turn, too
}

// givesBack stops a running job for the sake of other classes.
func (p *pass) givesBack(id uint64, reason row.Reason) error {
	j, err := p.tx.Job(id)
	if err != nil {
		return err
	}
	grace := int64(0) // launchers are told, and their jobs end at once
	if kernel.IsExecuted(j) {
		if grace, err = toGo(p.tx, j, preempt.OwnGrace); err != nil {
			return err
		}
	}
	return p.makesWay(j, stopping{grace: grace, reason: reason})
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

// took charges a job to its class's allotment, or with -1 refunds it.
func (p *pass) took(j *row.Job, times int) error {
	if p.allotted == nil {
		return nil
	}
	return p.allotted.Took(j, times)
}
