package ask

import (
	"errors"
	"strconv"
	"time"

	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/queue"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/priorityf"
)

// Queueing is a waiting job's place in the queue.
type Queueing struct {
	Prospect
	Place   int       // in the queue, from 1; 0 for a job that is held or was placed by hand
	Waiting int       // number of jobs in the queue
	Before  []uint64  // the jobs ahead that may take nodes first
	Depends []Awaited // on other jobs

	Forecasts *queue.Forecasts // including its own; nil for none

	Priority float64 // its value of the setting job_priority
	// the terms that Priority adds up; nil if jobs wait in the order of their submitted priorities
	Terms []priorityf.Term
}

// Awaited is a job or an array that a job depends on.
type Awaited struct {
	row.Dependency
	State row.JobState // of that job; of an array, the state of the job that has come the least far
	Met   bool
	Due   time.Time // when the dependency is expected to be met; zero if unknown
}

// ExplainJob says where a job runs and why there, what a planned job waits for, or how an ended job
// ended. For a job without nodes, it explains what keeps the job from its turn, and its place in
// the queue. Then it explains the request as if no other job waited.
func (ak Ask) ExplainJob(id uint64, o placer.Explain) (*Explained, error) {
	j, err := ak.tx.Job(id)
	if err != nil {
		return nil, err
	}
	if j.State == row.JobHeld || j.State == row.JobQueued || j.State == row.JobLate {
		return explainer{ak.tx, o}.waiting(j)
	}
	out := &Explained{Request: j.Request(), Job: kernel.JobOf(j)}
	out.Request.Policy = j.Policy // the policy that it was placed by
	if !j.State.Live() {
		return out, nil
	}
	if path, why, err := AskOf(ak.tx).Route(out.Request); err == nil && path == j.Path {
		out.Why = why
	} else if err = kernel.PassOver(err); err != nil {
		return nil, err
	}
	if j.State == row.JobReserved {
		plan, err := plannedOf(ak.tx, j)
		if err != nil {
			return nil, err
		}
		if err = out.waitsFor(ak.tx, plan); err == nil {
			out.Ahead, err = explainer{ak.tx, o}.ahead(j)
		}
		if set, errSet := ak.tx.Settings(); err == nil && j.Queued && set.JobPriority != "" {
			if err = errSet; err == nil {
				out.Priority, out.Terms, err = queue.PrioritiesOf(ak.tx).Of(out.Job)
			}
		}
		return out, err
	}
	return out, nil
}

// waiting explains a job without nodes. If its request can no longer be parsed, the explanation
// says only that.
func (e explainer) waiting(j *row.Job) (*Explained, error) {
	tx := e.tx
	out := &Explained{Request: j.Request()}
	a, err := plan.AskOfJob(tx, j)
	if err == nil {
		out, err = e.request(out.Request, a)
	}
	if err = kernel.PassOver(err); err != nil {
		return nil, err
	}
	if _, err := queue.CycleOf(tx).FreshForecasts(); err != nil {
		return nil, err
	}
	look, err := AskOf(tx).Outlook()
	if err != nil {
		return nil, err
	}
	out.Job = kernel.JobOf(j)
	if out.Queue, err = look.Queueing(j); err != nil {
		return nil, err
	}
	if plan := out.Queue.Plan; plan != nil {
		err = out.waitsFor(tx, plan)
	}
	return out, err
}

// Queueing returns a job's place in the queue.
func (o *Outlook) Queueing(j *row.Job) (*Queueing, error) {
	p, err := o.Look(j)
	if err == nil {
		err = o.placed(j, &p)
	}
	if err != nil {
		return nil, err
	}
	q := &Queueing{Prospect: p}
	if q.Forecasts, err = queue.CycleOf(o.tx).Forecasts(); err != nil {
		return nil, err
	}
	if err := o.depends(j, q); err != nil {
		return nil, err
	}
	line, err := queue.InOrder(o.tx)
	if err != nil {
		return nil, err
	}
	q.Waiting = len(line)
	for i, other := range line {
		if other.ID == j.ID {
			q.Place = i + 1
			break
		}
		p, err := o.Look(other)
		if err != nil {
			return nil, err
		}
		switch p.Wait {
		case WaitsPlan: // it may be planned again where room was made since the last cycle
			if o.tx.State.Invalidations == o.tx.State.Planned {
				continue
			}
			fallthrough
		case WaitsLate, WaitsRoom, WaitsTurn:
			q.Before = append(q.Before, other.ID)
		}
	}
	if *queue.Orders.In(o.tx) != nil && q.Place > 0 {
		if q.Priority, q.Terms, err = queue.PrioritiesOf(o.tx).Of(kernel.JobOf(j)); err != nil {
			return nil, err
		}
	}
	if q.Place == 0 { // it is not in the queue, so no job is ahead of it
		q.Before = nil
	}
	return q, err
}

// depends fills in the jobs that a job depends on.
func (o *Outlook) depends(j *row.Job, q *Queueing) error {
	for _, d := range j.After {
		other, err := o.tx.Progress(d)
		if err != nil {
			return err
		}
		a := Awaited{Dependency: d, State: other.State}
		if a.Met, err = other.Met(d.When); err == nil && !a.Met {
			due, _, err := o.due(d)
			if err != nil {
				return err
			}
			a.Due = kernel.Instant(due)
		}
		q.Depends = append(q.Depends, a)
	}
	return nil
}

// WhenJob returns when a job that has not started is expected to start. It fails with a
// *placer.Refusal that says why the start is unknown, or with a Conflict if the job has
// started.
func (ak Ask) WhenJob(id uint64) (Prospect, error) {
	j, err := ak.tx.Job(id)
	if err != nil {
		return Prospect{}, err
	}
	name := "job " + strconv.FormatUint(id, 10)
	switch {
	case !j.State.Live():
		return Prospect{}, row.Clash(name, "it is "+j.State.String())
	case j.State == row.JobRunning:
		return Prospect{}, row.Clash(name, "it runs since "+kernel.Stamp(j.Start))
	}
	if _, err := queue.CycleOf(ak.tx).FreshForecasts(); err != nil {
		return Prospect{}, err
	}
	look, err := AskOf(ak.tx).Outlook()
	if err != nil {
		return Prospect{}, err
	}
	p, err := look.Look(j)
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

// planOf returns when and on which nodes a job runs or is planned.
func planOf(j *row.Job) *placer.Plan {
	plan := &placer.Plan{Path: j.Path, Policy: j.Policy, Set: j.Set, Start: j.Start, End: j.End,
		Chunks: make([]placer.Allotment, 1)}
	for _, n := range j.AllNodes() {
		plan.Chunks[0].Picks = append(plan.Chunks[0].Picks, placer.Pick{Node: n})
	}
	return plan
}

// plannedOf is planOf with what a planned job demands of pools and limits.
func plannedOf(tx *kernel.Tx, j *row.Job) (*placer.Plan, error) {
	planned := planOf(j)
	a, err := plan.AskOfJob(tx, j)
	if err == nil {
		planned.Demands = a.Demands
	}
	return planned, kernel.PassOver(err)
}

// noStart returns the error for a job without a known start.
func noStart(job string, p Prospect) error {
	r := &placer.Refusal{Kind: placer.ErrNotNow, Chunk: -1, Why: job + ": " + p.Reason}
	switch p.Wait {
	case WaitsNever:
		r.Kind = placer.ErrNever
	case WaitsHeld:
		r.Why = job + " is held"
		if p.Reason != "" {
			r.Why += ": " + p.Reason
		}
	}
	return r
}

// Next reports whether a job's turn is next: whether it is the first of the jobs that may run
// and wait for neither a time nor another job. For the first few calls, it reads the queue
// only up to a job that comes before.
func (o *Outlook) Next(j *kernel.Job) (bool, error) {
	if o.first == nil {
		set, err := o.tx.Settings()
		if err != nil {
			return false, err
		}
		if set.JobPriority != "" && o.scans < fewScans {
			r := j.Row()
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

// fewScans is how often the queue is read for a single job before it is read for all.
const fewScans = 3

// ready reports whether a job's turn may come.
func (o *Outlook) ready(j *row.Job) (bool, error) {
	if j.State != row.JobQueued && j.State != row.JobReserved || j.Never || j.Begin > o.tx.Now {
		return false, nil
	}
	waitsFor, err := jobs.Ready(o.tx, j)
	if errors.Is(err, kernel.ErrUnmet) {
		return false, nil
	}
	return waitsFor == "", err
}

// eachReady calls fn for the jobs whose turn may come, in the stored order of the queue, until
// fn returns false.
func (o *Outlook) eachReady(fn func(*row.Job) (bool, error)) error {
	return o.tx.File.Each(row.Waiting, nil, func(key, _ []byte) (bool, error) {
		j, err := o.tx.Waiting().ByKey(key)
		if err != nil {
			return false, err
		}
		if ok, err := o.ready(j); !ok || err != nil {
			return err == nil, err
		}
		return fn(j)
	})
}

// leads reports whether, by job_priority, a job comes before all others whose turn may come.
func (o *Outlook) leads(j *row.Job) (bool, error) {
	if ok, err := o.ready(j); !ok || err != nil {
		return false, err
	}
	by, err := queue.OrderOf(o.tx, nil)
	if err != nil {
		return false, err
	}
	value, err := by.Of(j)
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
		v, err := by.Of(other)
		if ok = leads(v, other.ID); !ok {
			o.rival.Value, o.rival.ID = v, other.ID
		}
		return ok, err
	})
	return ok, err
}

// foremost returns the number of the first job whose turn may come, by job_priority or in the
// stored order of the queue, or 0.
func (o *Outlook) foremost(prioritised bool) (first uint64, err error) {
	var by *queue.Order
	if prioritised {
		if by, err = queue.OrderOf(o.tx, nil); err != nil {
			return 0, err
		}
	}
	var most float64
	err = o.eachReady(func(j *row.Job) (bool, error) {
		if by == nil {
			first = j.ID
			return false, nil
		}
		v, err := by.Of(j)
		if first == 0 || v > most || v == most && j.ID < first {
			first, most = j.ID, v
		}
		return true, err
	})
	return first, err
}
