package cycle

import (
	"errors"

	"github.com/placectl/placectl/placer"
)

// kind holds what a pass knows of equal requests. They are decided once, and again only when
// room was made, or for a job that comes before those for which it was decided: plans that
// were in their way are lifted for it.
type kind struct {
	*Request
	refused  error // the request has become invalid, or can never run
	possible bool  // it could run some day, as found for jobs that were not reached

	short     error // why it does not fit, or never will; nil if unknown
	before    Place // place of the job for which it was decided
	kept      *Pass // the pass in which it waits for a limit, and another job has the claim
	keptRound int   // in that round of it
	keptFreed int   // as of room being made so many times
	steady    bool  // later starts and plans do not make it fit
	taken     int   // as of so many takings
	freed     int   // and as of room being made so many times
	at        int64 // and as of an instant
	until     int64 // until when it holds unless room is made: for passes with a memory
	missing   int64 // lower bound of the chunks that it is short of
}

// kind returns what is known of a job's request.
func (p *Pass) kind(j *Job) (*kind, error) {
	if j.kind != nil && (j.pass == p || j.memory != nil && j.memory == p.spec.Memory) {
		j.pass = p
		return j.kind, nil
	}
	k, err := p.kindOf(j)
	j.kind, j.pass, j.memory = k, p, p.spec.Memory
	return k, err
}

func (p *Pass) kindOf(j *Job) (*kind, error) {
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
	p.kinds[name] = k
	return k, nil
}

// asked returns the request with a job's time of submission.
func (k *kind) asked(j *Job) placer.Ask {
	a := k.Ask
	a.Since = j.Submit
	return a
}

// decide records that a request does not fit.
func (p *Pass) decide(k *kind, j *Job, why error) {
	k.short, k.before, k.taken, k.freed = why, j.place(), p.taken, p.freed.times
	var r *placer.Refusal
	k.steady = !errors.As(why, &r) || r.Kind != placer.ErrNotNow || r.Until > p.now
	k.at, k.until = p.now, k.lasts(r)
	if r != nil {
		k.missing = int64(r.Need - r.Found)
	}
	if p.spec.Memory != nil && k.never() {
		k.refused = why
	}
}

// settled reports whether it is known that a job's request does not fit now.
func (p *Pass) settled(k *kind, j *Job) bool {
	return k.short != nil && (k.at == p.now || k.until > p.now) && (k.steady || k.taken == p.taken) &&
		(k.freed == p.freed.times || p.stillShort(k, j)) && !j.place().before(k.before)
}

// never reports whether a request that is settled will never fit, as long as no nodes are added or
// come back into service.
func (k *kind) never() bool { return neverFits(k.short) }

func neverFits(err error) bool {
	return errors.Is(err, placer.ErrNever) || errors.Is(err, placer.ErrAbsent)
}

// ruledOut reports whether only a rule is known to keep a request from starting now. Its job
// blocks no other, and gets no plan unless all jobs do.
func (p *Pass) ruledOut(k *kind) bool {
	var r *placer.Refusal
	return p.spec.Depth != All && errors.As(k.short, &r) && r.Rule
}

// inVain reports whether only a rule was found to hold a job back, or the job can never run.
// Plans that were lifted for it are put back, as if it were not there.
func (p *Pass) inVain(j *Job) bool {
	return !j.Planned && !p.claimed[j] && j.kind != nil && j.pass == p && p.settled(j.kind, j) && (p.ruledOut(j.kind) ||
		j.kind.never())
}

// Possible says why a job's request can never run, or returns nil if it can. It is for jobs
// that the pass has not reached.
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

// isRefusal reports whether an error is about the request, not about the host.
func isRefusal(err error) bool {
	return errors.Is(err, placer.ErrNever) || errors.Is(err, placer.ErrNotNow) || errors.Is(err, placer.ErrRequest)
}
