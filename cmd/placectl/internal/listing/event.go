package listing

import (
	"errors"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/internal/attribute"
	"github.com/placectl/placectl/internal/engine"
)

// eventView is an event as shown in answers.
type eventView struct {
	*engine.Event
	jobs *eventJobs
}

// eventJobs reads the jobs of events. Many successive events are about the same job.
type eventJobs struct {
	tx   *engine.Tx
	last *engine.Job
	err  error
}

// of reads a job. A job that no longer exists has no attributes.
func (e *eventJobs) of(id uint64) *engine.Job {
	if e.last == nil || e.last.ID != id {
		e.last = new(engine.Job)
		e.last.ID = id
		switch j, err := e.tx.Jobs().Get(id); {
		case err == nil:
			e.last = j
		case !errors.Is(err, engine.ErrNotFound) && e.err == nil:
			e.err = err
		}
	}
	return e.last
}

// exit returns the exit status of the attempt that an event ended.
func (e *eventView) exit() any {
	if e.Job == 0 || e.Attempt == 0 || !e.EndsAttempt() {
		return nil
	}
	var out any
	err := e.jobs.tx.Attempts().Each(e.Job, func(a *engine.Attempt) error {
		if a.Number == e.Attempt && a.HasExit() {
			out = a.Exit
		}
		return nil
	})
	if err != nil && !errors.Is(err, engine.ErrNotFound) && e.jobs.err == nil {
		e.jobs.err = err
	}
	return out
}

// eventFields read the attributes of an event that package attribute declares.
var eventFields = func() output.Fields[*eventView] {
	fields := output.Fields[*eventView]{
		{Name: "id", Value: func(e *eventView) any { return e.ID }},
		{Name: "time", Value: func(e *eventView) any { return e.Time }},
		{Name: "job", Value: func(e *eventView) any { return output.OrNil(e.Job) }},
		{Name: "node", Value: func(e *eventView) any { return output.OrNil(e.Node) }},
		{Name: "event", Value: func(e *eventView) any { return e.Event.Event }},
		{Name: "old", Value: func(e *eventView) any { return output.OrNil(e.Old) }},
		{Name: "new", Value: func(e *eventView) any { return output.OrNil(e.New) }},
		{Name: "reason", Value: func(e *eventView) any { return output.OrNil(e.Reason.String()) }},
		{Name: "array", Detail: true, Value: func(e *eventView) any { return output.OrNil(e.jobs.of(e.Job).Array) }},
		{Name: "index", Detail: true, Value: func(e *eventView) any { return arrayIndex(e.jobs.of(e.Job)) }},
		{Name: "reservation", Detail: true, Value: func(e *eventView) any { return output.OrNil(e.Reservation) }},
		{Name: "attempt", Detail: true, Value: func(e *eventView) any { return output.OrNil(e.Attempt) }},
		{Name: "exit", Detail: true, Value: (*eventView).exit},
		{Name: "reason_code", Detail: true, Value: func(e *eventView) any {
			return output.OrNil(e.Reason.Cause.String())
		}},
	}
	for i := range fields {
		f := &fields[i]
		a := attribute.Of(attribute.Event, f.Name)
		f.Kind, f.Required = kinds[a.Type], a.Required
	}
	return fields
}()

// EventColumns returns the columns of an answer of events.
func EventColumns() []output.Column { return eventFields.Columns() }

// EventPrinter prints events of a transaction as rows of an answer.
func EventPrinter(p *output.Printer, tx *engine.Tx) func(*engine.Event) error {
	jobs := &eventJobs{tx: tx}
	return func(ev *engine.Event) error {
		if err := eventFields.Print(p, &eventView{ev, jobs}); err != nil {
			return err
		}
		return jobs.err
	}
}

// EventObjects returns events for use within a document.
func EventObjects(tx *engine.Tx, list []*engine.Event) output.Objects {
	out := output.Objects{Columns: EventColumns()}
	for _, ev := range list {
		view, row := &eventView{ev, &eventJobs{tx: tx}}, make([]any, len(eventFields))
		for i, f := range eventFields {
			row[i] = f.Value(view)
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}
