// Package requests remembers what jobs that ask for the same have in common: whether that can
// ever run, why it does not now, and the earliest starts that were found. A list of many jobs
// costs so what their different requests cost.
package requests

import (
	"slices"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store/internal/row"
)

// Source is what they are made of.
type Source struct {
	Now      int64                            // Unix seconds
	Kind     func(j *row.Job) (string, error) // the same for jobs that ask for the same
	Ask      func(j *row.Job) (placer.Ask, error)
	Snapshot func(queue string) (*placer.Snapshot, error)
	Refusal  func(err error) bool // the error is about the request, not about the store
	Often    func()               // is told that starts are searched for again and again
}

// Requests are what jobs that wait ask for, each kind once.
type Requests struct {
	Source
	known     map[string]*Request
	snapshots map[string]*placer.Snapshot // by queue
	searches  int                         // for starts
}

// New knows of none.
func New(src Source) *Requests {
	return &Requests{Source: src, known: make(map[string]*Request), snapshots: make(map[string]*placer.Snapshot)}
}

// Request is what jobs that ask for the same have in common.
type Request struct {
	Ask    placer.Ask
	Never  error  // why it can never run
	short  string // why it does not fit now, once that was asked
	starts []start
}

// start is an earliest start that was found: that from any instant of after..plan.Start on.
type start struct {
	after   int64
	plan    *placer.Plan
	refused error
}

// Of finds what is known of a job's request.
func (rs *Requests) Of(j *row.Job) (*Request, error) {
	key, err := rs.Kind(j)
	if err != nil {
		return nil, err
	}
	if w := rs.known[key]; w != nil {
		return w, nil
	}
	w := new(Request)
	if err := rs.read(w, j); err != nil && !rs.Refusal(err) {
		return nil, err
	} else if err != nil {
		w.Never = err
	}
	rs.known[key] = w
	return w, nil
}

// read reads a request, and makes sure that it can run at all.
func (rs *Requests) read(w *Request, j *row.Job) (err error) {
	if w.Ask, err = rs.Ask(j); err != nil {
		return err
	}
	w.Ask.Since = j.Submit
	snap := rs.snapshots[j.Queue]
	if snap == nil {
		if snap, err = rs.Snapshot(j.Queue); err != nil {
			return err
		}
		rs.snapshots[j.Queue] = snap
	}
	return snap.Possible(w.Ask)
}

// Earliest finds the earliest start of a job's request from an instant on; refused says why
// there is none.
func (rs *Requests) Earliest(j *row.Job, after int64) (plan *placer.Plan, refused, err error) {
	w, err := rs.Of(j)
	if err != nil {
		return nil, nil, err
	}
	at := slices.IndexFunc(w.starts, func(s start) bool { return s.after <= after && (s.plan == nil || after <= s.plan.Start) })
	if at >= 0 {
		return w.starts[at].plan, w.starts[at].refused, nil
	}
	if rs.searches++; rs.searches == 2 {
		rs.Often()
	}
	plan, err = rs.snapshots[j.Queue].Earliest(w.Ask, after)
	if err != nil && !rs.Refusal(err) {
		return nil, nil, err
	}
	w.starts = append(w.starts, start{after, plan, err})
	return plan, err, nil
}

// Short says why a job's request does not fit now, "" if it does.
func (rs *Requests) Short(j *row.Job) (string, error) {
	w, err := rs.Of(j)
	if err != nil || w.short != "" {
		return w.short, err
	}
	_, err = rs.snapshots[j.Queue].Place(w.Ask, rs.Now)
	if err != nil && rs.Refusal(err) {
		w.short, err = err.Error(), nil
	}
	return w.short, err
}
