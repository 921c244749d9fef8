package cycle

import (
	"errors"
	"math"

	"github.com/placectl/placectl/placer"
)

// kind is what a pass knows of requests of a kind. Jobs that ask for the same are
// decided once, and not again in later passes until that is invalidated, time alone may
// have made room, or one asks that comes before those for whom it was decided: plans
// that were in their way make way for it.
type kind struct {
	*Request
	refused  error // the request is not understood any more, or can never run
	possible bool  // it could run some day, as was found out for jobs that were not reached

	decision *Decision // nil as long as it is not known that it does not fit
	fresh    bool      // decided in this pass
	steady   bool      // no taking makes it fit
	taken    int       // as of so many takings in this pass
}

// kind finds what is known of a job's request.
func (p *Pass) kind(j *Job) (*kind, error) {
	name, err := p.host.Kind(j)
	if err != nil {
		return nil, err
	}
	if k := p.kinds[name]; k != nil {
		return k, nil
	}
	r, err := p.host.Request(j)
	if err != nil {
		return nil, err
	}
	k := &kind{Request: r, refused: r.Refused}
	if p.kinds[name] = k; k.refused == nil {
		k.decision, err = p.memory.Recall(name)
	}
	return k, err
}

// asked is the request as a job has made it: since then it waits.
func (k *kind) asked(j *Job) placer.Ask {
	a := k.Ask
	a.Since = j.Submit
	return a
}

// decide notes that a request does not fit.
func (p *Pass) decide(k *kind, j *Job, why error) {
	d := &Decision{Never: true, Version: p.memory.Version(), Why: why.Error(), Until: math.MaxInt64, For: j.place()}
	k.decision, k.fresh, k.taken = d, true, p.taken
	var r *placer.Refusal
	if errors.As(why, &r) && r.Kind == placer.ErrNotNow {
		d.Never, d.Until = false, r.Until
	}
	if k.steady = d.Until > p.now; p.reordered {
		d.Until = p.now // plans of jobs behind it were in its way
	}
}

// settled reports whether it is known that a job's request does not fit now.
func (p *Pass) settled(k *kind, j *Job) (bool, error) {
	d := k.decision
	switch {
	case d == nil:
		return false, nil
	case k.fresh && !k.steady && k.taken != p.taken:
		return false, nil
	case !k.fresh && d.Until <= p.now, j.place().before(d.For):
		return false, nil
	}
	invalidated, err := p.memory.Invalidated(k.Request, d.Version)
	return !invalidated, err
}

// Possible says why a job's request can never run, nil when it can: for jobs that the
// pass has not reached.
func (p *Pass) Possible(j *Job) (why, err error) {
	k, err := p.kind(j)
	if err != nil || k.refused != nil || k.possible {
		return k.refused, err
	}
	snap, err := p.host.Snapshot(j)
	if err != nil {
		return nil, err
	}
	why = snap.Possible(k.Ask)
	if why != nil && !isRefusal(why) {
		return nil, why
	}
	k.refused, k.possible = why, why == nil
	return why, nil
}

// Keep hands on what was decided to later passes.
func (p *Pass) Keep() error {
	return p.memory.Keep(func(yield func(string, *Decision) bool) {
		for name, k := range p.kinds {
			var d *Decision
			if k.fresh {
				d = k.decision
			}
			if !yield(name, d) {
				return
			}
		}
	}, p.whole)
}

// isRefusal reports whether an error is about the request, not about the host.
func isRefusal(err error) bool {
	return errors.Is(err, placer.ErrNever) || errors.Is(err, placer.ErrNotNow) || errors.Is(err, placer.ErrRequest)
}
