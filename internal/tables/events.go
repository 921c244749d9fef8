package tables

import (
	"cmp"

	"github.com/placectl/placectl/internal/attribute"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// eventsTable returns the recorded events by number. Later events, which the clock has caused,
// have no numbers yet.
func eventsTable(c *Catalog, _ int64) (tables.Table, error) {
	recorded := int64(c.src.Events)
	part := func(from, to int64) *file.Cursor { return c.src.Rows.Numbers(row.Events, from, min(to, recorded)) }
	return &orderedTable[row.Event]{rowsTable[row.Event]{
		columns: eventColumns(c),
		size:    int(recorded),
		open:    func() *file.Cursor { return part(0, recorded) },
		read: func(key, payload []byte, out []row.Event) ([]row.Event, error) {
			ev, err := row.DecodeEvent(key, payload)
			if err != nil {
				return nil, err
			}
			return append(out, *ev), nil
		},
	}, part}, nil
}

// eventColumns returns the attributes of an event that package attribute declares.
func eventColumns(c *Catalog) []getter[row.Event] {
	jobs := &eventJobs{c: c}
	columns := []getter[row.Event]{
		intColumn("id", "", func(e *row.Event) int64 { return int64(e.ID) }),
		timeColumn("time", "", func(e *row.Event) int64 { return e.Time }),
		numberColumn("job", "", func(e *row.Event) int64 { return int64(e.Job) }),
		textColumn("node", "", func(e *row.Event) string { return ifText(e.Event != reservationEvents, e.Node) }),
		wordColumn("event", "", EventWords, func(e *row.Event) string { return e.Event }),
		textColumn("old", "", func(e *row.Event) string { return e.Old }),
		textColumn("new", "", func(e *row.Event) string { return e.New }),
		textColumn("reason", "", func(e *row.Event) string { return e.Reason.String() }),
		valueColumn("uid", "", values.IntegerAffinity, tables.NoUnit, func(e *row.Event) values.Value {
			if e.By == nil {
				return values.Value{}
			}
			return values.Int(int64(*e.By))
		}),
		numberColumn("array", "", func(e *row.Event) int64 { return int64(jobs.of(e).Array) }),
		valueColumn("index", "", values.IntegerAffinity, tables.NoUnit, func(e *row.Event) values.Value {
			j := jobs.of(e)
			return ifInt(j.Array != 0, j.Index)
		}),
		textColumn("reservation", "", func(e *row.Event) string {
			// older events have the name as their reason
			return ifText(e.Event == reservationEvents, cmp.Or(e.Node, e.Reason.Text))
		}),
		numberColumn("attempt", "", func(e *row.Event) int64 { return int64(attemptOf(e)) }),
		valueColumn("exit", "", values.IntegerAffinity, tables.NoUnit, jobs.exit),
		wordColumn("reason_code", "", words(row.CauseRequest, row.CauseLeftover), func(e *row.Event) string {
			return e.Reason.Cause.String()
		}),
	}
	for i := range columns {
		columns[i].Doc = attribute.Of(attribute.Event, columns[i].Name).Doc
	}
	return columns
}

// reservationEvents is the name of events of reservations.
const reservationEvents = "reservation"

// ifText returns a text if it applies, else "".
func ifText(applies bool, text string) string {
	if !applies {
		return ""
	}
	return text
}

// attemptOf returns the number of the job's attempt that an event is about, or 0. The first
// one is not in the row.
func attemptOf(e *row.Event) int {
	running := row.JobRunning.String()
	if e.Attempt == 0 && e.Job != 0 && (e.Old == running || e.New == running) {
		return 1
	}
	return e.Attempt
}

// eventJobs reads the jobs of events. Consecutive events are often about the same job.
type eventJobs struct {
	c    *Catalog
	last row.Job
}

// of reads the job of an event. A deleted job has no attributes.
func (r *eventJobs) of(e *row.Event) *row.Job {
	if r.last.ID == e.Job {
		return &r.last
	}
	r.last = row.Job{JobFacts: row.JobFacts{ID: e.Job}}
	key := row.Key64(e.Job)
	payload, err := r.c.src.Rows.Get(row.Jobs, key)
	if err == nil && payload != nil {
		var j *row.Job
		if j, err = row.DecodeJob(key, payload); err == nil {
			r.last = *j
		}
	}
	r.c.fail(err)
	return &r.last
}

// exit returns the exit status of the attempt that an event ended.
func (r *eventJobs) exit(e *row.Event) values.Value {
	attempt, running := attemptOf(e), row.JobRunning.String()
	if attempt == 0 || e.Old == e.New || e.Old != running && e.Event != "again" {
		return values.Value{}
	}
	j := r.of(e)
	if j.State == 0 || attempt > j.CurrentAttempt() {
		return values.Value{}
	}
	a, err := r.c.src.Attempt(j, attempt)
	if r.c.fail(err); err != nil {
		return values.Value{}
	}
	return exitValue(a)
}
