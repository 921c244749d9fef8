package store

import (
	"errors"

	"github.com/placectl/placectl/placer"
)

// turn starts a job, plans it, or leaves it as it is. It reports whether the job
// does not fit now, so that those behind it have to go around it.
func (p *pass) turn(j *Job) (blocked bool, err error) {
	v, err := p.verdict(j)
	if err != nil {
		return false, err
	}
	if v.err != nil {
		return false, p.never(j, v.err)
	}
	_, lifted := p.lifted[j.ID]
	settled, err := p.settled(v, j)
	if err != nil {
		return false, err
	}
	early := j.Begin > p.tx.now
	allowed, err := p.allows(j)
	if err != nil {
		return false, err
	}
	mayStart := !early && allowed
	if settled && v.never && j.State == JobQueued {
		return false, p.never(j, errors.New(v.why))
	}
	if lifted {
		if stands, err := p.stands(j); stands || err != nil {
			p.restored = append(p.restored, j)
			return true, err
		}
	}
	soonest := int64(0)
	if j.State == JobReserved && !lifted && !p.delayed[j.ID] {
		if soonest, err = p.soonest(j, v); err != nil || soonest >= j.Start {
			p.planned++
			return true, err
		}
	}
	if mayStart && !settled && j.State == JobQueued {
		if started, err := p.tryNow(j, v); started || err != nil || v.never {
			return false, err
		}
	}
	if j.State == JobQueued && p.planned >= p.spec.depth() {
		return mayStart, nil // one whose class may start nothing more is in nobody's way
	}
	if !mayStart && !early && p.spec.Backfill != Conservative {
		return false, p.giveUp(j)
	}
	return p.plan(j, v, mayStart, soonest)
}

// asked is the request as a job has made it: since then it waits.
func (v *verdict) asked(j *Job) placer.Ask {
	a := v.ask
	a.Since = j.Submit
	return a
}

// tryNow starts a job if it fits now.
func (p *pass) tryNow(j *Job, v *verdict) (bool, error) {
	snap, err := p.tx.snapshot(j.Queue)
	if err != nil {
		return false, err
	}
	a := v.asked(j)
	plan, err := snap.Place(a, p.tx.now)
	switch {
	case errors.Is(err, placer.ErrNever):
		p.decide(v, j, err)
		return false, p.never(j, err)
	case errors.Is(err, placer.ErrNotNow):
		p.decide(v, j, err)
		return false, nil
	case err != nil:
		return false, err
	}
	return true, p.start(j, a, plan, JobQueued)
}

// start carries a plan for now out.
func (p *pass) start(j *Job, a placer.Ask, plan *placer.Plan, was JobState) error {
	j.Reason = ""
	if err := p.tx.apply(j, a, plan, was); err != nil {
		return err
	}
	p.taken++
	p.Waiting--
	p.Started = append(p.Started, j)
	return p.took(j)
}

// plan gives a job the earliest start that there is for it. It starts now, if that
// is the earliest and it may. It is known that it cannot before soonest.
func (p *pass) plan(j *Job, v *verdict, mayStart bool, soonest int64) (blocked bool, err error) {
	was, then, nodes := j.State, j.Start, j.AllNodes()
	_, lifted := p.lifted[j.ID]
	alone := was == JobReserved && !lifted // its own plan is out of the way for itself only
	if alone {
		if err := p.lift(j); err != nil {
			return false, err
		}
	}
	plan, err := p.earliest(j, v, mayStart, alone, soonest)
	if err != nil && !isRefusal(err) {
		return false, err
	}
	if was == JobReserved && (plan == nil || plan.Start >= then) {
		stands, err := p.stands(j)
		if stands || err != nil {
			return true, err
		}
	}
	if errors.Is(err, placer.ErrNever) {
		return false, p.never(j, err)
	}
	if plan == nil || err != nil {
		return false, p.giveUp(j)
	}
	delete(p.lifted, j.ID)
	if alone {
		p.floors = nil // it leaves room where it was
	}
	if plan.Start == p.tx.now {
		if was == JobReserved {
			err = p.tx.woke(nodes)
		}
		return false, errors.Join(err, p.start(j, v.asked(j), plan, was))
	}
	p.planned++
	p.taken++
	j.Reason = ""
	if err := p.tx.apply(j, v.asked(j), plan, was); err != nil {
		return true, err
	}
	p.Planned = append(p.Planned, j)
	if was != JobReserved {
		return true, nil
	}
	err = p.tx.woke(nodes)
	if then != j.Start {
		err = errors.Join(err, p.tx.replanned(j, "was to start at "+stamp(then)))
	}
	return true, err
}

// stands puts a lifted plan back if nothing else has taken its place: it is not
// given up for one that is not earlier.
func (p *pass) stands(j *Job) (bool, error) {
	taken, err := p.tx.delayed(j)
	if taken || err != nil {
		return false, err
	}
	p.planned++
	return true, p.putBack(j)
}

// earliest finds the earliest plan for a job, nil when there is none that ends by
// its deadline.
func (p *pass) earliest(j *Job, v *verdict, mayStart, alone bool, soonest int64) (*placer.Plan, error) {
	snap, err := p.tx.snapshot(j.Queue)
	if err != nil {
		return nil, err
	}
	after := max(p.tx.now, j.Begin)
	if after == p.tx.now && !mayStart {
		var later bool
		if after, later = p.nextEnding(); !later {
			return nil, nil
		}
	}
	plain := !alone && mayStart && j.Begin <= p.tx.now
	after = max(after, soonest)
	if plain {
		after = max(after, p.floor(v))
	}
	plan, err := snap.Earliest(v.asked(j), after)
	if err != nil {
		return nil, err
	}
	if plain {
		p.found(v, plan.Start)
	}
	if j.Deadline != 0 && plan.End > j.Deadline {
		return nil, nil
	}
	return plan, nil
}

// nextEnding is the first instant after now at which something is given back: what
// a job may not have now it may have then.
func (p *pass) nextEnding() (at int64, ok bool) {
	for t := range p.tx.loaded.releases.after(p.tx.now) {
		return t, true
	}
	return 0, false
}

// giveUp takes a plan from a job that had one and gets no other.
func (p *pass) giveUp(j *Job) error {
	if _, lifted := p.lifted[j.ID]; lifted {
		return p.putBack(j)
	}
	return nil
}

// isRefusal reports whether an error is about the request, not about the store.
func isRefusal(err error) bool {
	for _, kind := range []error{placer.ErrNever, placer.ErrNotNow, placer.ErrRequest, ErrNotFound, ErrInvalid, ErrConflict} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}
