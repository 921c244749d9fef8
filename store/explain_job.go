package store

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/priorityf"
	"github.com/placectl/placectl/store/internal/row"
)

// Queueing is where a job stands that waits for its turn.
type Queueing struct {
	Prospect
	Place   int       // in the queue, from 1 on; 0 for a job that is held, or was placed by hand
	Waiting int       // how many are in the queue
	Before  []uint64  // those ahead of it that may take nodes first
	Depends []Awaited // on other jobs

	Forecasts *Forecasts // including its own; nil for none

	Priority float64          // what the setting job_priority comes to for it
	Terms    []priorityf.Term // of that, those that it adds up; nil where jobs wait in the order of what they were submitted with
}

// Awaited is a job that another depends on.
type Awaited struct {
	Dependency
	State JobState // of that job
	Met   bool
	Due   time.Time // when it is expected to be met, zero if unknown
}

// ExplainJob says where a job runs and why there, what a planned one waits for, or
// what has become of it. One that has no nodes yet is explained by what keeps it
// from its turn, then by its place in the queue, then as its request, as if nobody
// else waited.
func (tx *Tx) ExplainJob(id uint64, o placer.Explain) (*Explained, error) {
	j, err := tx.job(id)
	if err != nil {
		return nil, err
	}
	if j.State == JobHeld || j.State == JobQueued || j.State == JobLate {
		return explainer{tx, o}.waiting(j)
	}
	out := &Explained{Request: j.Request(), Job: jobOf(j)}
	out.Request.Policy = j.Policy // the one that it was placed by
	if !j.State.Live() {
		return out, nil
	}
	if path, why, err := tx.Route(out.Request); err == nil && path == j.Path {
		out.Why = why
	} else if err = passOver(err); err != nil {
		return nil, err
	}
	if j.State == JobReserved {
		plan := planOf(j)
		if a, errAsk := tx.askOf(j); errAsk == nil {
			plan.Demands = a.Demands
		} else if err = passOver(errAsk); err != nil {
			return nil, err
		}
		out.WaitsFor, err = tx.WaitsFor(plan)
		if err == nil {
			out.Ahead, err = explainer{tx, o}.ahead(j)
		}
		if set, errSet := tx.settings(); err == nil && j.Queued && set.JobPriority != "" {
			if err = errSet; err == nil {
				out.Priority, out.Terms, err = PrioritiesOf(tx).Of(out.Job)
			}
		}
	}
	return out, err
}

// waiting explains a job without nodes. A request that is not understood any more has no
// explanation but that.
func (e explainer) waiting(j *row.Job) (*Explained, error) {
	tx := e.tx
	out := &Explained{Request: j.Request()}
	a, err := tx.askOf(j)
	if err == nil {
		out, err = e.request(out.Request, a)
	}
	if err = passOver(err); err != nil {
		return nil, err
	}
	if _, err := tx.FreshForecasts(); err != nil {
		return nil, err
	}
	look, err := tx.Outlook()
	if err != nil {
		return nil, err
	}
	out.Job = jobOf(j)
	if out.Queue, err = look.queueing(j); err != nil {
		return nil, err
	}
	if plan := out.Queue.Plan; plan != nil {
		out.WaitsFor, err = tx.WaitsFor(plan)
	}
	return out, err
}

// queueing finds where a job stands in the queue.
func (o *Outlook) queueing(j *row.Job) (*Queueing, error) {
	p, err := o.look(j)
	if err == nil {
		err = o.placed(j, &p)
	}
	if err != nil {
		return nil, err
	}
	q := &Queueing{Prospect: p}
	if q.Forecasts, err = o.tx.Forecasts(); err != nil {
		return nil, err
	}
	if err := o.depends(j, q); err != nil {
		return nil, err
	}
	line, err := o.tx.waiting().line()
	if err != nil {
		return nil, err
	}
	q.Waiting = len(line)
	for i, other := range line {
		if other.ID == j.ID {
			q.Place = i + 1
			break
		}
		p, err := o.look(other)
		if err != nil {
			return nil, err
		}
		switch p.Wait {
		case WaitsPlan: // it may be planned anew where room was made since the last cycle
			if o.tx.state.Invalidations == o.tx.state.Planned {
				continue
			}
			fallthrough
		case WaitsLate, WaitsRoom, WaitsTurn:
			q.Before = append(q.Before, other.ID)
		}
	}
	if *orders.In(&o.tx.loaded.kept) != nil && q.Place > 0 {
		if q.Priority, q.Terms, err = PrioritiesOf(o.tx).Of(jobOf(j)); err != nil {
			return nil, err
		}
	}
	if q.Place == 0 { // it is not in the queue, so no job is ahead of it
		q.Before = nil
	}
	return q, err
}

// depends finds out about the jobs that a job depends on.
func (o *Outlook) depends(j *row.Job, q *Queueing) error {
	for _, d := range j.After {
		other, err := o.tx.job(d.Job)
		if err != nil {
			return err
		}
		a := Awaited{Dependency: Dependency(d), State: other.State}
		if a.Met, err = met(d, other); err == nil && !a.Met {
			due, _, err := o.due(d)
			if err != nil {
				return err
			}
			a.Due = instant(due)
		}
		q.Depends = append(q.Depends, a)
	}
	return nil
}

// WhenJob finds when a job that has not started is expected to. A *placer.Refusal says
// why nobody knows, a Conflict that it has started.
func (tx *Tx) WhenJob(id uint64) (Prospect, error) {
	j, err := tx.job(id)
	if err != nil {
		return Prospect{}, err
	}
	name := "job " + strconv.FormatUint(id, 10)
	switch {
	case !j.State.Live():
		return Prospect{}, row.Clash(name, "it is "+j.State.String())
	case j.State == JobRunning:
		return Prospect{}, row.Clash(name, "it runs since "+stamp(j.Start))
	}
	if _, err := tx.FreshForecasts(); err != nil {
		return Prospect{}, err
	}
	look, err := tx.Outlook()
	if err != nil {
		return Prospect{}, err
	}
	p, err := look.look(j)
	if err == nil {
		err = look.placed(j, &p)
	}
	if err == nil && p.Start.IsZero() {
		err = noStart(name, p)
	}
	if p.Plan == nil {
		p.Plan = planOf(j)
	}
	return p, err
}

// planOf is when and on which nodes a job runs, or is planned to.
func planOf(j *row.Job) *placer.Plan {
	plan := &placer.Plan{Path: j.Path, Policy: j.Policy, Set: j.Set, Start: j.Start, End: j.End, Chunks: make([]placer.Allotment, 1)}
	for _, n := range j.AllNodes() {
		plan.Chunks[0].Picks = append(plan.Chunks[0].Picks, placer.Pick{Node: n})
	}
	return plan
}

// noStart refuses to name the start of a job.
func noStart(job string, p Prospect) error {
	r := &placer.Refusal{Kind: placer.ErrNotNow, Chunk: -1, Why: job + ": " + p.Reason}
	switch p.Wait {
	case WaitsNever:
		r.Kind, r.Why = placer.ErrNever, job+": "+strings.TrimPrefix(p.Reason, placer.ErrNever.Error()+": ")
	case WaitsHeld:
		r.Why = job + " is held"
		if p.Reason != "" {
			r.Why += ": " + p.Reason
		}
	}
	return r
}

// Next reports whether a job's turn is next: whether of the jobs that wait for neither a
// time nor another job, and may run at all, it is the first. Asked of a few jobs the queue is
// read no further than to one that is before them.
func (o *Outlook) Next(j *Job) (bool, error) {
	if o.first == nil {
		set, err := o.tx.settings()
		if err != nil {
			return false, err
		}
		if set.JobPriority != "" && o.scans < fewScans {
			r := j.row()
			return o.leads(&r)
		}
		first, err := o.foremost(set.JobPriority != "")
		if err != nil {
			return false, err
		}
		o.first = &first
	}
	return *o.first == j.ID, nil
}

// fewScans is how often the queue is read for one job, before it is for all of them.
const fewScans = 3

// ready reports whether a job's turn may come.
func (o *Outlook) ready(j *row.Job) (bool, error) {
	if j.State != JobQueued && j.State != JobReserved || j.Never || j.Begin > o.tx.now {
		return false, nil
	}
	waitsFor, err := o.tx.waiting().ready(j)
	if errors.Is(err, errUnmet) {
		return false, nil
	}
	return waitsFor == "", err
}

// eachReady calls fn for the jobs whose turn may come, in the order in which the queue is
// kept, until it returns false.
func (o *Outlook) eachReady(fn func(*row.Job) (bool, error)) error {
	ws := o.tx.waiting()
	return ws.file.Each(row.Waiting, nil, func(key, _ []byte) (bool, error) {
		j, err := ws.byKey(key)
		if err != nil {
			return false, err
		}
		if ok, err := o.ready(j); !ok || err != nil {
			return err == nil, err
		}
		return fn(j)
	})
}

// leads reports whether by job_priority no job whose turn may come is before another.
func (o *Outlook) leads(j *row.Job) (bool, error) {
	if ok, err := o.ready(j); !ok || err != nil {
		return false, err
	}
	by, err := o.tx.waiting().order(nil)
	if err != nil {
		return false, err
	}
	value, err := by.of(j)
	if err != nil {
		return false, err
	}
	leads := func(v float64, id uint64) bool { return v < value || v == value && id >= j.ID }
	if o.rival.ID != 0 && !leads(o.rival.Value, o.rival.ID) {
		return false, nil
	}
	o.scans++
	ok := true
	err = o.eachReady(func(other *row.Job) (bool, error) {
		v, err := by.of(other)
		if ok = leads(v, other.ID); !ok {
			o.rival.Value, o.rival.ID = v, other.ID
		}
		return ok, err
	})
	return ok, err
}

// foremost is the number of the first job whose turn may come, by job_priority or as the
// queue is kept; 0 for none.
func (o *Outlook) foremost(prioritised bool) (first uint64, err error) {
	var by *order
	if prioritised {
		if by, err = o.tx.waiting().order(nil); err != nil {
			return 0, err
		}
	}
	var most float64
	err = o.eachReady(func(j *row.Job) (bool, error) {
		if by == nil {
			first = j.ID
			return false, nil
		}
		v, err := by.of(j)
		if first == 0 || v > most || v == most && j.ID < first {
			first, most = j.ID, v
		}
		return true, err
	})
	return first, err
}
