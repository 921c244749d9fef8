package store

import (
	"fmt"

	"github.com/placectl/placectl/placer/cycle"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/placer/preempt"
	"github.com/placectl/placectl/store/internal/row"
)

// allotment is how many units each class may start in a cycle.
type allotment struct {
	*shareTally
	left     []int // as in state.Classes
	entitled []int // how many more units each is entitled to
}

// shares stops jobs where classes are to get back what they are entitled to, and
// finds out how much each may start.
func (p *pass) shares() error {
	tally, err := newShareTally(p.tx)
	if err != nil || len(tally.state.Classes) == 0 {
		return err
	}
	if p.spec.Silent {
		tally.state.Rebalance = fairshare.Rebalance{}
	}
	a, plan, err := p.tx.classShares().allot(tally, p.queue)
	if err != nil {
		return err
	}
	p.allotted = a
	if p.spec.Silent {
		return nil
	}
	if err := p.tx.SetShareTimer(plan.Timer); err != nil {
		return err
	}
	for _, c := range plan.Classes {
		for _, t := range c.StopTasks {
			if err := p.givesBack(t.ID, fmt.Sprintf("stopped: class %s had more than its %d%%", c.Name, c.LoadPct)); err != nil {
				return err
			}
		}
	}
	return nil
}

// allot finds out how much each class may start, with these jobs waiting.
func (cs classShares) allot(tally *shareTally, line []*row.Job) (*allotment, *fairshare.Plan, error) {
	if err := cs.eachJob(tally.runs, JobRunning); err != nil {
		return nil, nil, err
	}
	for _, j := range line {
		if j.Begin > cs.now {
			continue
		}
		if err := tally.waits(j); err != nil && !isRefusal(err) {
			return nil, nil, err
		}
	}
	plan, err := new(fairshare.Planner).Plan(&tally.state)
	if err != nil {
		return nil, nil, err
	}
	a := &allotment{tally, make([]int, len(plan.Classes)), make([]int, len(plan.Classes))}
	for i, c := range plan.Classes {
		a.left[i], a.entitled[i] = c.Start, c.Entitlement-tally.state.Classes[i].Running
	}
	return a, plan, nil
}

// givesBack stops a running job for the sake of other classes.
func (p *pass) givesBack(id uint64, reason string) error {
	j, err := p.tx.job(id)
	if err != nil {
		return err
	}
	grace := int64(0) // launchers are told, and their jobs end at once
	if isExecuted(j) {
		if grace, err = p.tx.attempts().toGo(j, preempt.OwnGrace); err != nil {
			return err
		}
	}
	return p.makesWay(j, stopping{grace: grace, reason: reason})
}

// Beyond makes it a cycle.Host.
func (p *pass) Beyond(c *cycle.Job) (bool, error) {
	rules := p.tx.counters().Rules
	if all, err := rules.All(); all == nil || !all.Soft() || err != nil {
		return false, err
	}
	return rules.Beyond(p.jobs[c.ID])
}

// MayStart makes it a cycle.Host: it reports whether a job's class may start something
// more in this cycle.
func (p *pass) MayStart(c *cycle.Job) (bool, error) {
	if p.allotted == nil {
		return true, nil
	}
	at, err := p.allotted.place(p.jobs[c.ID])
	return err == nil && p.allotted.left[at] > 0, err
}

// took counts what a job has taken of its class's allotment.
func (p *pass) took(j *row.Job) error {
	if p.allotted == nil {
		return nil
	}
	at, err := p.allotted.place(j)
	if err != nil {
		return err
	}
	units, err := p.allotted.held(j)
	p.allotted.left[at] -= units
	p.allotted.entitled[at] -= units
	return err
}
