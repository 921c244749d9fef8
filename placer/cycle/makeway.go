package cycle

import (
	"errors"
	"slices"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/preempt"
)

// If the rules say so, running jobs make way for one that does not fit. The jobs to stop are found by
// trial: candidates are taken off their nodes and put back, until a set is left that cannot be
// smaller. They are stopped in the pass in which the job starts, or gets a plan for the instant when
// they have given their nodes back. If the job gets neither, none is stopped. Plans of jobs that it
// precedes are no obstacle: they are made again, as for a job that comes first in the queue. If only
// such plans are in the way, no job is stopped.
//
// A start in this pass may block a job that has its turn later and that it would make way for. So
// such starts are held until the pass is over, and taken back before any running job is stopped.
// Stopped jobs wait again and may have left room for others, so the pass starts over.

// Preempter is a host on which jobs can be preempted.
type Preempter interface {
	// Below returns the jobs that could be stopped for one now, or nil if it may preempt none.
	// Jobs for which the same jobs could be stopped get the same value.
	Below(*Job) (*Below, error)
	// Before reports whether a job goes before another waiting job.
	Before(j, other *Job) (bool, error)
	// Yields reports whether a job that starts now may have to make way for one that waits.
	Yields(*Job) (bool, error)
	// TakesBack reports whether a start that is held is taken back for a job.
	TakesBack(j, held *Job) (bool, error)
	// Try takes a candidate off its nodes from the end of its grace on, as if it were stopped.
	// Untry puts it back.
	Try(*preempt.Candidate) error
	Untry(*preempt.Candidate) error
	// Stop stops a candidate for a job, after Try.
	Stop(*preempt.Candidate, *Job) error
}

// Below are jobs that could be stopped, in the order of preempt.Order.
type Below struct {
	Candidates []preempt.Candidate
}

// vain is the key of jobs for which stopping others is known not to help.
type vain struct {
	*kind
	*Below
}

// makeWay stops jobs for one that does not fit. done means that the job has its start, and
// blocked that this start is later than now.
func (p *Pass) makeWay(j *Job, k *kind) (done, blocked bool, err error) {
	below, err := p.spec.Preempter.Below(j)
	if below == nil || err != nil {
		return false, false, err
	}
	if at, known := p.vain[vain{k, below}]; known && at == p.freed.times {
		return false, false, nil
	}
	a := k.asked(j)
	if a.Demands.Short(p.now, a.Duration, true) != nil || a.Demands.Short(p.now, a.Duration, false) != nil {
		return false, false, nil // it is short of something other than nodes
	}
	t := &trial{pass: p, job: j, ask: &a}
	if err := t.candidates(below); len(t.list) == 0 || err != nil {
		return false, false, err
	}
	alone := j.Planned && !p.lifted[j]
	if alone {
		if err := p.lift(j); err != nil {
			return false, false, err
		}
	}
	chosen, err := t.choose()
	var displaced []*Job
	if err == nil && len(chosen) == 0 {
		if displaced, err = p.displace(j); err == nil && len(displaced) > 0 {
			chosen, err = t.choose()
		}
	}
	if err != nil {
		return false, false, err
	}
	fits := false
	if len(chosen) == 0 && len(displaced) > 0 {
		if _, fits, err = t.Start(p.now); err != nil { // only plans were in its way
			return false, false, err
		}
	}
	if len(chosen) == 0 && !fits {
		return false, false, p.wayNotMade(j, vain{k, below}, alone, displaced)
	}
	if err := t.carryOut(chosen); err != nil {
		return false, false, err
	}
	p.bounds, p.anew = nil, true // there is room where there was none
	delete(p.lifted, j)
	if err := p.take(j, &a, t.plan); err != nil {
		return false, false, err
	}
	if j.Planned {
		p.planned++
	}
	return true, j.Planned, p.replace(displaced)
}

// wayNotMade undoes the trial.
func (p *Pass) wayNotMade(j *Job, v vain, alone bool, displaced []*Job) error {
	if p.vain == nil {
		p.vain = make(map[vain]int)
	}
	p.vain[v] = p.freed.times
	if alone {
		displaced = append(displaced, j)
	}
	for _, o := range displaced {
		if err := p.restore(o); err != nil {
			return err
		}
	}
	return nil
}

// displace takes the plans that a job precedes off their nodes, except those of jobs for which others
// are stopped in this pass: these get the nodes given back.
func (p *Pass) displace(j *Job) (displaced []*Job, err error) {
	for _, o := range p.queue {
		if !o.Planned || p.lifted[o] || p.served[o.ID] || o == j {
			continue
		}
		before, err := p.spec.Preempter.Before(j, o)
		if err != nil {
			return nil, err
		}
		if before {
			displaced = append(displaced, o)
			if err := p.lift(o); err != nil {
				return nil, err
			}
		}
	}
	return displaced, nil
}

// replace puts displaced plans back if their room is still free.
func (p *Pass) replace(displaced []*Job) error {
	for _, o := range displaced {
		back, err := p.host.PutBack(o)
		if err != nil {
			return err
		}
		if back {
			delete(p.lifted, o)
			p.taken++
		}
	}
	return nil
}

// trial is the state in which candidates are stopped for a job. It implements preempt.Trial.
type trial struct {
	pass *Pass
	job  *Job
	ask  *placer.Ask
	held []*Job // jobs whose starts are taken back: the first candidates, latest start first
	list []preempt.Candidate
	plan *placer.Plan // the last one found for the job
}

// candidates lists the starts that are taken back for the job, then the jobs that could be stopped.
func (t *trial) candidates(below *Below) error {
	for _, o := range slices.Backward(t.pass.held) {
		takes, err := t.pass.spec.Preempter.TakesBack(t.job, o)
		if err != nil {
			return err
		}
		if takes {
			t.held = append(t.held, o)
			t.list = append(t.list, preempt.Candidate{ID: o.ID, Owner: o.Owner, Start: t.pass.now})
		}
	}
	t.list = append(t.list, below.Candidates...)
	return nil
}

// choose leaves the jobs to stop off their nodes, and puts all others back.
func (t *trial) choose() ([]int, error) {
	chosen, start, err := preempt.Choose(t.list, t.pass.now, t)
	if err != nil || len(chosen) == 0 {
		return nil, err
	}
	_, ok, err := t.Start(start)
	if err == nil && !ok {
		err = errors.New("jobs were to make way, and there is no room")
	}
	if err == nil && t.plan.Start > t.pass.now && chosen[len(chosen)-1] < len(t.held) {
		return nil, t.keep(chosen) // a plan takes no start back: it would be lifted for it again
	}
	return chosen, err
}

func (t *trial) keep(chosen []int) error {
	for _, i := range chosen {
		if err := t.Keep(i); err != nil {
			return err
		}
	}
	return nil
}

// carryOut stops the chosen jobs, or takes their starts back.
func (t *trial) carryOut(chosen []int) error {
	p := t.pass
	for _, i := range chosen {
		if i >= len(t.held) {
			p.served[t.job.ID] = true
			if err := p.spec.Preempter.Stop(&t.list[i], t.job); err != nil {
				return err
			}
			continue
		}
		o := t.held[i]
		o.Start = 0
		p.held = slices.DeleteFunc(p.held, func(h *Job) bool { return h == o })
		if err := p.host.Drop(o); err != nil {
			return err
		}
	}
	return nil
}

func (t *trial) Stop(i int) error {
	if i < len(t.held) {
		return t.pass.host.Lift(t.held[i])
	}
	return t.pass.spec.Preempter.Try(&t.list[i])
}

func (t *trial) Keep(i int) error {
	if i >= len(t.held) {
		return t.pass.spec.Preempter.Untry(&t.list[i])
	}
	back, err := t.pass.host.PutBack(t.held[i])
	if err == nil && !back {
		err = errors.New("a start could not be taken back: its room is lost")
	}
	return err
}

func (t *trial) Start(latest int64) (start int64, ok bool, err error) {
	snap, err := t.pass.host.Snapshot(t.job)
	if err != nil {
		return 0, false, err
	}
	now := t.pass.now
	plan, err := snap.Place(*t.ask, now)
	if errors.Is(err, placer.ErrNotNow) && latest > now {
		plan, err = snap.Earliest(*t.ask, now)
	}
	switch {
	case err != nil && isRefusal(err):
		return 0, false, nil
	case err != nil:
		return 0, false, err
	case plan.Start > latest || t.job.Deadline != 0 && plan.End > t.job.Deadline:
		return 0, false, nil
	}
	t.plan = plan
	return plan.Start, true, nil
}
