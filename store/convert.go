package store

import (
	"fmt"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
)

// Below this package are rows: what callers have is made here, once.

func reasonOf(r engine.Reason) Reason { return Reason{r.Cause.String(), r.By, r.Text} }

func submissionOf(s *Submission) (engine.Submission, error) {
	after, err := dependenciesBelow(s.After)
	out := engine.Submission{Request: s.Request, Command: s.Command, Priority: s.Priority, Begin: s.Begin,
		Deadline: s.Deadline, Throttle: s.Throttle, Hold: s.Hold, Comment: s.Comment, NoRequeue: s.NoRequeue,
		Payload: payloadBelow(s.Payload), After: after}
	for _, e := range s.Array {
		out.Indexes = append(out.Indexes, e.Index)
		out.Each = append(out.Each, engine.Element{Command: e.Command, Line: e.Line})
	}
	return out, err
}

func dependenciesBelow(list []Dependency) ([]engine.Dependency, error) {
	return listed(list, nil, func(d Dependency) (engine.Dependency, error) {
		for _, when := range []row.When{row.After, row.AfterOK, row.AfterNotOK, row.AfterAny} {
			if when.String() == d.When {
				return engine.Dependency{When: when, Job: d.Job}, nil
			}
		}
		return engine.Dependency{}, fmt.Errorf("%w dependency %q: it is after, afterok, afternotok or afterany",
			ErrInvalid, d.When)
	})
}

func payloadOf(p *engine.Payload) *Payload {
	e := p.Ending
	out := &Payload{Script: p.Script, Interpreter: p.Interpreter, Dir: p.Dir, Env: p.Env, Umask: p.Umask,
		Input: p.Input, Out: p.Out, Err: p.Err, Append: p.Append,
		Limits: kernel.Converted(p.Limits, func(l engine.ResourceLimit) ResourceLimit { return ResourceLimit(l) }),
		Ending: Ending{e.Retries, e.RetryOn, e.RetryWait, e.Signal, e.Before, e.Grace, e.Mail}}
	if o := p.Owner; o != nil {
		out.Owner = &Submitter{o.UID, o.Name, o.Host}
	}
	return out
}

// into puts a payload into the one below, whose other fields stay.
func (p *Payload) into(out *engine.Payload) error {
	e := p.Ending
	out.Script, out.Interpreter, out.Dir, out.Env, out.Umask = p.Script, p.Interpreter, p.Dir, p.Env, p.Umask
	out.Input, out.Out, out.Err, out.Append = p.Input, p.Out, p.Err, p.Append
	out.Limits = kernel.Converted(p.Limits,
		func(l ResourceLimit) engine.ResourceLimit { return engine.ResourceLimit(l) })
	out.Ending.Retries, out.Ending.RetryOn, out.Ending.RetryWait = e.Retries, e.RetryOn, e.RetryWait
	out.Ending.Signal, out.Ending.Before, out.Ending.Grace, out.Ending.Mail = e.Signal, e.Before, e.Grace, e.Mail
	if o := p.Owner; o != nil {
		out.Owner = &engine.Submitter{UID: o.UID, Name: o.Name, Host: o.Host}
	}
	return nil
}

func payloadBelow(p *Payload) *engine.Payload {
	if p == nil {
		return nil
	}
	out := new(engine.Payload)
	_ = p.into(out) // it never fails
	return out
}

func alterationOf(a *Alteration) (out engine.Alteration, err error) {
	out = engine.Alteration{Priority: a.Priority, Begin: a.Begin, Deadline: a.Deadline, Comment: a.Comment,
		NoRequeue: a.NoRequeue}
	if a.After != nil {
		after, err := dependenciesBelow(*a.After)
		if err != nil {
			return out, err
		}
		out.After = &after
	}
	if a.Payload != nil {
		out.Payload = a.Payload.into
	}
	if r := a.Request; r != nil {
		out.Name, out.User, out.Group, out.Account = &r.Name, &r.User, &r.Group, &r.Account
		out.Queue, out.Class, out.Select, out.Place = &r.Queue, &r.Class, &r.Select, &r.Place
		out.Reservation, out.Policy, out.Access = &r.Reservation, &r.Policy, &r.Access
		out.Exclude, out.Bind, out.Prefer, out.Pools = &r.Exclude, &r.Bind, &r.Prefer, &r.Pools
		out.OverLimits, out.Walltime = &r.OverLimits, &r.Walltime
	}
	return out, nil
}

func (o *CycleOptions) below() (engine.CycleSpec, error) {
	kind, err := engine.ParseBackfill(string(o.Backfill))
	if err != nil {
		err = fmt.Errorf("%w backfill %q: it is fcfs, easy, conservative or relaxed", ErrInvalid, o.Backfill)
	}
	return engine.CycleSpec{Backfill: kind, Depth: o.Depth, Enough: o.Enough}, err
}
