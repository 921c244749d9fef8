package ask

import (
	"errors"
	"slices"

	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
)

// requests caches the facts that jobs with equal requests share: whether the request can ever
// run, why it does not fit now, and the earliest starts found. So a list of many jobs costs
// only as much as their different requests.
type requests struct {
	of        *Outlook
	known     map[string]*request         // by kind
	snapshots map[string]*placer.Snapshot // by queue
	searches  int                         // number of searches for starts
}

func newRequests(of *Outlook) *requests {
	return &requests{of: of, known: make(map[string]*request), snapshots: make(map[string]*placer.Snapshot)}
}

// request holds the facts that jobs with equal requests share.
type request struct {
	ask    placer.Ask
	never  error // why it can never run
	absent error // why it cannot run before nodes are back in service
	short  error // why it does not fit now, once computed
	starts []start
}

// start is an earliest start: the plan is the earliest from any instant of after..plan.Start
// on.
type start struct {
	after   int64
	plan    *placer.Plan
	refused error
}

// find returns what is known of a job's request.
func (rs *requests) find(j *row.Job) (*request, error) {
	key, err := rs.of.kind(j)
	if err != nil {
		return nil, err
	}
	if w := rs.known[key]; w != nil {
		return w, nil
	}
	w := new(request)
	switch err := rs.read(w, j); {
	case errors.Is(err, placer.ErrAbsent):
		w.absent = err
	case err != nil && !kernel.IsRefusal(err):
		return nil, err
	default:
		w.never = err
	}
	rs.known[key] = w
	return w, nil
}

// read reads a request, and makes sure that it can run at all.
func (rs *requests) read(w *request, j *row.Job) (err error) {
	if w.ask, err = plan.AskingOfJob(rs.of.tx, j).Read(); err != nil {
		return err
	}
	snap := rs.snapshots[j.Queue]
	if snap == nil {
		if snap, err = plan.Snapshot(rs.of.tx, j.Queue); err != nil {
			return err
		}
		rs.snapshots[j.Queue] = snap
	}
	return snap.Possible(w.ask)
}

// earliest finds the earliest start of a job's request from an instant on. refused says why
// there is none.
func (rs *requests) earliest(j *row.Job, after int64) (plan *placer.Plan, refused, err error) {
	w, err := rs.find(j)
	if err != nil {
		return nil, nil, err
	}
	at := slices.IndexFunc(w.starts, func(s start) bool {
		return s.after <= after && (s.plan == nil || after <= s.plan.Start)
	})
	if at >= 0 {
		return w.starts[at].plan, w.starts[at].refused, nil
	}
	if rs.searches++; rs.searches == 2 {
		rs.of.tx.Loaded.Releases.Often = true
	}
	plan, err = rs.snapshots[j.Queue].Earliest(w.ask, after)
	if err != nil && !kernel.IsRefusal(err) {
		return nil, nil, err
	}
	w.starts = append(w.starts, start{after, plan, err})
	return plan, err, nil
}

// short says why a job's request does not fit now, or returns nil if it does.
func (rs *requests) short(j *row.Job) (why, err error) {
	w, err := rs.find(j)
	if err != nil {
		return nil, err
	}
	if w.short != nil {
		return w.short, err
	}
	_, err = rs.snapshots[j.Queue].Place(w.ask, rs.of.tx.Now)
	if err != nil && kernel.IsRefusal(err) {
		w.short, err = err, nil
	}
	return w.short, err
}
