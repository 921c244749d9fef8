package cycle

import (
	"slices"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/limits"
	"github.com/placectl/placectl/timeline"
)

// A job that waits for a limit blocks only jobs under that limit. Unless all jobs are planned,
// it gets a claim instead of a plan: room in all of its limits, but on no node, from its
// earliest start on. Jobs behind it start if the limits have room beside the claim, so they
// cannot pass it for ever. For each counter, the first such job in the queue has a claim, and
// the others wait without one. Under first come, first served, other jobs under that counter
// wait, too.

// waitsForLimit reports whether a job that does not fit now waits for a limit and not for a plan, and
// claims room for it.
func (p *Pass) waitsForLimit(j *Job, k *kind) (bool, error) {
	usedUp := p.planned >= p.spec.Depth
	if k.kept == p && k.keptRound == p.rounds && k.keptFreed == p.freed.times {
		return true, nil
	}
	if len(k.Demands) == len(k.Demands.Pools()) {
		return false, nil
	}
	refusing := k.Demands.Kept(p.now, k.Duration)
	switch {
	case len(refusing) > 0 && usedUp && !p.first(refusing):
		return p.keptBack(k), nil
	case len(refusing) == 0 && (p.spec.InOrder || len(k.Demands.Kept(p.now, timeline.Forever-1-p.now)) == 0):
		return false, nil // no limit will hold it back
	}
	snap, err := p.host.Snapshot(j)
	if err != nil {
		return false, err
	}
	a := k.asked(j)
	plan, err := snap.Earliest(a, p.now)
	if isRefusal(err) {
		return len(refusing) > 0, nil
	}
	if err != nil {
		return false, err
	}
	if len(refusing) == 0 || !usedUp {
		free := a
		free.Demands = a.Demands.Pools()
		soonest, err := snap.Earliest(free, p.now)
		if isRefusal(err) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if plan.Start <= soonest.Start {
			return false, nil
		}
		if len(refusing) == 0 {
			refusing = k.Demands.Kept(soonest.Start, k.Duration)
		}
	}
	first := p.first(refusing)
	for _, d := range refusing {
		p.keeps[d.Counter] = true
	}
	own := slices.ContainsFunc(refusing, func(d limits.Demand) bool { return d.Own })
	if own || !first || j.Deadline != 0 && plan.End > j.Deadline {
		return p.keptBack(k), nil
	}
	if len(p.clearing) > 0 { // a claim leaves the plans behind its job in place
		if plan, err = p.besidePlans(j, a); plan == nil || err != nil {
			return true, err
		}
	}
	p.claimed[j] = true
	p.taken++
	return true, p.host.Claim(j, plan, refusing)
}

// besidePlans returns the earliest plan of a job once those that were lifted for it are back, or nil if
// there is none.
func (p *Pass) besidePlans(j *Job, a placer.Ask) (*placer.Plan, error) {
	if err := p.uncleared(); err != nil {
		return nil, err
	}
	p.clearing = p.clearing[:0]
	snap, err := p.host.Snapshot(j)
	if err != nil {
		return nil, err
	}
	plan, err := snap.Earliest(a, p.now)
	if isRefusal(err) || err == nil && j.Deadline != 0 && plan.End > j.Deadline {
		return nil, nil
	}
	return plan, err
}

// keptBack records that no job of a kind gets a claim until room is made.
func (p *Pass) keptBack(k *kind) bool {
	k.kept, k.keptRound, k.keptFreed = p, p.rounds, p.freed.times
	return true
}

// first reports whether, for at least one of the counters, no earlier job waits.
func (p *Pass) first(refusing limits.Demands) bool {
	return slices.ContainsFunc(refusing, func(d limits.Demand) bool { return !p.keeps[d.Counter] })
}

// passes reports whether a job would pass one that waits for a limit of both, under first
// come, first served.
func (p *Pass) passes(k *kind) bool {
	return p.spec.InOrder && slices.ContainsFunc(k.Demands, func(d limits.Demand) bool {
		return d.Rule && !d.Own && p.keeps[d.Counter]
	})
}

// Claims carries claims out.
type Claims interface {
	// Claim keeps room in the limits of a job from the start of a plan to its end. refusing
	// are the demands that are refused now, or will be when there are nodes.
	Claim(j *Job, plan *placer.Plan, refusing limits.Demands) error
}
