package queue

import (
	"maps"

	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/cycle"
	"github.com/placectl/placectl/placer/limits"
)

// mostSlides is how often the claim of a job may be put off. After that it keeps room only in
// the limits that refuse the job, because their holders overrun.
const mostSlides = 3

// unclaim suspends all claims. The pass makes them again, each at its job's turn.
func (p *pass) unclaim() error {
	rules := p.tx.Counters().Rules
	list, err := rules.Claims()
	if err != nil {
		return err
	}
	claims := maps.Clone(list)
	if p.decider == nil { // claims of the last cycle
		p.claims = claims
	}
	for id := range claims {
		if err := rules.Unclaim(id); err != nil {
			return err
		}
	}
	return nil
}

// Claim implements cycle.Host.
func (p *pass) Claim(c *cycle.Job, plan *placer.Plan, refusing limits.Demands) error {
	j, was := p.jobs[c.ID], p.claims[c.ID]
	claim := &row.Claim{Job: j.ID, Start: plan.Start, End: plan.End}
	if was != nil {
		if claim.Slid = was.Slid; was.Start < plan.Start {
			claim.Slid = min(was.Slid+1, mostSlides)
		}
	}
	planned := *j
	planned.Start, planned.End = plan.Start, plan.End
	rules := p.tx.Counters().Rules
	err := rules.EachTimed(&planned, func(key string, of *limits.Counter, h limits.Holder) error {
		keeps := claim.Slid < mostSlides
		for _, d := range refusing {
			keeps = keeps || d.Counter == of
		}
		if keeps && h.Amount > 0 && of.Binds(j.OverLimits) {
			claim.Held = append(claim.Held, row.ClaimHeld{Counter: key, Amount: h.Amount})
		}
		return nil
	})
	if err != nil {
		return err
	}
	return rules.Claim(claim)
}

// keepClaims writes the claims. Jobs that the pass has not reached keep theirs.
func (p *pass) keepClaims() error {
	rules := p.tx.Counters().Rules
	if p.unreached > 0 {
		for id, c := range p.claims {
			if j := p.jobs[id]; j != nil && j.State == row.JobQueued && !p.decider.Reached(id) {
				if err := rules.Claim(c); err != nil {
					return err
				}
			}
		}
	}
	return rules.KeepClaims(p.claims)
}
