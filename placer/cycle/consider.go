package cycle

import (
	"cmp"
	"errors"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/timeline"
)

// consider starts a job, plans it, or leaves it as it is. blocked is true if the job does not
// fit now, so that the jobs behind it must go around it.
func (p *Pass) consider(j *Job) (blocked bool, err error) {
	k, err := p.kind(j)
	if err != nil {
		return false, err
	}
	if k.refused != nil {
		return false, p.never(j, k.refused)
	}
	settled := p.settled(k, j)
	if settled && k.never() && !j.Planned {
		return false, p.never(j, k.short)
	}
	allowed, err := p.host.MayStart(j)
	if err != nil {
		return false, err
	}
	early := j.Begin > p.now
	mayStart := !early && allowed
	if mayStart && !j.Placed {
		p.turn = j
	}
	if j.Planned && !early && !j.Placed && p.spec.Preempter != nil && !p.served[j.ID] {
		if done, blocked, err := p.makeWay(j, k); done || err != nil {
			return blocked, err
		}
	}
	if p.stands(j) {
		return p.tryInstead(j, k, mayStart)
	}
	soonest := int64(0)
	if j.Planned && !j.Delayed {
		if soonest, err = p.soonest(j, k, j.Start); err != nil {
			return false, err
		}
		if soonest >= j.Start {
			kept := !p.lifted[j]
			if kept {
				p.counts(j)
			} else if kept, err = p.putBack(j); err != nil {
				return false, err
			}
			if kept {
				return !j.Placed, nil
			}
		}
	}
	if mayStart && !j.Planned && p.passes(k) {
		return false, nil
	}
	if mayStart && !settled && !j.Planned {
		if done, err := p.tryNow(j, k); done || err != nil {
			return false, err
		}
	}
	if !j.Planned && !early && p.spec.Preempter != nil && !p.ruledOut(k) {
		if done, blocked, err := p.makeWay(j, k); done || err != nil {
			return blocked, err
		}
	}
	if mayStart && !j.Planned && p.spec.Depth != All {
		if waits, err := p.waitsForLimit(j, k); waits || err != nil {
			return false, err
		}
	}
	if !j.Planned && p.planned >= p.spec.Depth && !(p.spec.Relaxed && j.Promised > 0) {
		return mayStart, nil // a job that may not start blocks no other
	}
	if !mayStart && !early && p.spec.Depth != All {
		return false, p.giveUp(j)
	}
	if p.room != nil {
		a := k.asked(j)
		plan, err := p.earliest(j, k, &a, mayStart, false, soonest)
		if err != nil && !isRefusal(err) {
			return false, err
		}
		if plan != nil {
			if err := p.comeFirst(j, p.room); err != nil {
				return false, err
			}
		}
	}
	blocked, err = p.plan(j, k, mayStart, soonest)
	return blocked && !j.Placed, err
}

// counts counts a job with a plan toward the depth.
func (p *Pass) counts(j *Job) {
	if !j.Placed {
		p.planned++
	}
}

// tryNow starts a job if it fits now. done is true if the job started or can never run.
func (p *Pass) tryNow(j *Job, k *kind) (done bool, err error) {
	if exceeds, err := p.exceeds(k); exceeds || err != nil {
		p.decide(k, j, tooFewCPUs)
		return false, err
	}
	snap, err := p.host.Snapshot(j)
	if err != nil {
		return false, err
	}
	a := k.asked(j)
	plan, err := p.place(snap, k, a)
	switch {
	case neverFits(err):
		p.decide(k, j, err)
		return true, p.never(j, err)
	case errors.Is(err, placer.ErrNotNow):
		p.decide(k, j, err)
		return false, nil
	case err != nil:
		return false, err
	}
	return true, p.take(j, &a, plan)
}

// tooFewCPUs refuses requests for more cpus than are free.
var tooFewCPUs = &placer.Refusal{Kind: placer.ErrNotNow, Chunk: -1, Until: timeline.Forever,
	Why: "too few cpus are free"}

// exceeds reports whether a request asks for more cpus than are free, but can run.
func (p *Pass) exceeds(k *kind) (bool, error) {
	if p.spec.Spare == nil || !k.waited || len(k.Demands) > 0 {
		return false, nil
	}
	if p.spareOf != p.taken+1 || p.spareFrom != p.freed.times {
		var err error
		if p.spare, err = p.spec.Spare(); err != nil {
			return false, err
		}
		p.spareOf, p.spareFrom = p.taken+1, p.freed.times
	}
	return k.cpus > p.spare, nil
}

// place finds nodes for a request now. A request for more cpus than are free is refused by the
// count alone.
func (p *Pass) place(snap *placer.Snapshot, k *kind, a placer.Ask) (*placer.Plan, error) {
	if exceeds, err := p.exceeds(k); exceeds || err != nil {
		return nil, cmp.Or(err, error(tooFewCPUs))
	}
	plan, err := snap.Place(a, p.now)
	k.waited = k.waited || errors.Is(err, placer.ErrNotNow) && !neverFits(err)
	return plan, err
}

// take carries a plan out.
func (p *Pass) take(j *Job, a *placer.Ask, plan *placer.Plan) error {
	p.taken++
	j.Around = plan.Start == p.now && !j.Placed && p.waits != nil && p.waits.place().before(j.place())
	take := p.host.Take
	if plan.Start == p.now && p.spec.Preempter != nil && !p.served[j.ID] && p.rounds <= mostRounds {
		if yields, err := p.spec.Preempter.Yields(j); err != nil {
			return err
		} else if yields {
			take = p.host.Hold
			p.held = append(p.held, j)
		}
	}
	p.vacates(j)
	if err := take(j, a, plan); err != nil {
		return err
	}
	j.Start, j.Planned, j.Delayed = plan.Start, plan.Start > p.now, false
	p.began = p.began || p.reordered && p.spec.Relaxed && !j.Planned
	return nil
}

// plan gives a job its earliest start. The job starts now if that is the earliest instant and
// mayStart is true. It cannot start before soonest.
func (p *Pass) plan(j *Job, k *kind, mayStart bool, soonest int64) (blocked bool, err error) {
	alone := j.Planned && !p.lifted[j] // only while its own plan is off the nodes, and only for itself
	if alone {
		if err := p.lift(j); err != nil {
			return false, err
		}
	}
	a := k.asked(j)
	plan, err := p.earliest(j, k, &a, mayStart, alone, soonest)
	if err != nil && !isRefusal(err) {
		return false, err
	}
	if j.Planned && (plan == nil || plan.Start >= j.Start) {
		if back, err := p.putBack(j); back || err != nil {
			return true, err
		}
		if !j.Delayed && len(p.stood) > 0 { // they come before it
			p.vacates(j)
			if err := p.lookAgain(); err != nil {
				return false, err
			}
			if plan, err = p.earliest(j, k, &a, mayStart, alone, 0); err != nil && !isRefusal(err) {
				return false, err
			}
		}
	}
	if neverFits(err) || err != nil && j.Placed {
		return false, p.never(j, err)
	}
	if plan == nil {
		return false, p.giveUp(j)
	}
	if p.spec.Relaxed && plan.Start > p.now && !j.Placed {
		if plan, err = p.promise(j, &a, plan); err != nil {
			return false, err
		}
	}
	delete(p.lifted, j)
	if alone {
		p.bounds = nil // its new plan frees its old room
	}
	if plan.Start > p.now {
		p.counts(j)
	}
	return plan.Start > p.now, p.take(j, &a, plan)
}

// earliest finds the earliest plan for a job, or nil if none ends by its deadline, or begins by the last instant.
func (p *Pass) earliest(j *Job, k *kind, a *placer.Ask, mayStart, alone bool, soonest int64) (*placer.Plan, error) {
	snap, err := p.host.Snapshot(j)
	if err != nil {
		return nil, err
	}
	after := max(p.now, j.Begin)
	if after == p.now && !mayStart {
		var later bool
		if after, later = nextRelease(snap); !later {
			return nil, nil
		}
	}
	after = max(after, soonest)
	bounded := !alone && mayStart && k.comparable
	if bounded {
		after = max(after, p.bound(k))
	}
	plan, err := snap.Earliest(*a, after)
	if err != nil {
		return nil, err
	}
	if bounded {
		p.found(k, plan.Start)
	}
	if j.Deadline != 0 && plan.End > j.Deadline || plan.Start > placer.LastInstant {
		return nil, nil
	}
	return plan, nil
}

// nextRelease returns the first instant after now at which something is given back. A job that
// may not start now may start then.
func nextRelease(s *placer.Snapshot) (at int64, ok bool) {
	for t := range s.Releases(s.Now) {
		return t, true
	}
	return 0, false
}

// never reports a job that can never run as the cluster is. A plan that it has is kept if it can be put
// back.
func (p *Pass) never(j *Job, why error) error {
	p.turn = nil
	if j.Planned {
		if err := p.giveUp(j); err != nil || j.Planned {
			return err
		}
	}
	return p.host.Never(j, why)
}
