package queue

import (
	"fmt"

	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/placer/preempt"
)

// shares stops jobs so that classes get back their entitlements, and computes how much each
// class may start.
func (p *pass) shares() error { return p.allot(false) }

// allot does the same; anew is true for a second time in this cycle.
func (p *pass) allot(anew bool) error {
	set, err := p.tx.Shares()
	if err != nil || len(set.Loads) == 0 {
		return err
	}
	tally, err := plan.ClassSharesOf(p.tx).Tally()
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
	a, fair, err := plan.ClassSharesOf(p.tx).Allot(tally, p.queue)
	if err != nil {
		return err
	}
	p.allotted = a
	if p.spec.Silent || anew {
		return nil
	}
	if err := plan.SetShareTimer(p.tx, fair.Timer); err != nil {
		return err
	}
	stops := 0
	for _, c := range fair.Classes {
		for _, t := range c.StopTasks {
			stops++
			if err := p.givesBack(t.ID,
				row.Because(row.CauseClass, fmt.Sprintf("stopped: class %s had more than its %d%%", c.Name,
					c.LoadPct))); err != nil {
				return err
			}
		}
	}
	if stops == 0 {
		return nil
	}
	if err := p.listQueue(); err != nil {
		return err
	}
	return p.allot(true) // stopped jobs get a turn, too
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

// took charges a job to its class's allotment, or with -1 refunds it.
func (p *pass) took(j *row.Job, times int) error {
	if p.allotted == nil {
		return nil
	}
	return p.allotted.Took(j, times)
}
