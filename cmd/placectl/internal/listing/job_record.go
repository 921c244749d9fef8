package listing

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/internal/attribute"
	"github.com/placectl/placectl/internal/engine"
)

// kinds maps the types of attributes to kinds of columns.
var kinds = map[attribute.Type]output.Kind{
	attribute.Text: output.Text, attribute.Prose: output.Prose, attribute.Number: output.JobNumber,
	attribute.Integer: output.Integer,
	attribute.Ratio:   output.Number, attribute.Truth: output.Boolean, attribute.Time: output.Time,
	attribute.Duration: output.Duration,
	attribute.Size:     output.Size, attribute.Nodes: output.List, attribute.List: output.List,
	attribute.Words: output.Words, attribute.Object: output.Object,
}

// declared completes fields that come in the order of the record of a job: with the types that the
// record declares, and with the attributes that are fields of a job.
func declared(own output.Fields[*jobView]) output.Fields[*jobView] {
	all := make(output.Fields[*jobView], 0, len(attribute.Job)+1)
	for _, a := range attribute.Job {
		var f output.Field[*jobView]
		if own[0].Name == a.Name {
			f, own = own[0], own[1:]
		} else {
			f.Name, f.Value = a.Name, jobField(a)
		}
		f.Kind, f.Nodes, f.Required = kinds[a.Type], a.Type == attribute.Nodes, a.Required
		all = append(all, f)
	}
	if len(own) != 1 { // the event of a cycle is no attribute
		panic(fmt.Sprintf("placectl: field %s does not come in the order of the record", own[0].Name))
	}
	return append(all, own[0])
}

var jobType = reflect.TypeFor[engine.Job]()

// jobField reads an attribute that is a field of a job: nil for none. An answer shows few of them, so
// each is found when it is first read.
func jobField(a attribute.Attribute) func(*jobView) any {
	field := sync.OnceValue(func() []int {
		f, _ := jobType.FieldByName(attribute.FieldName(a.Name))
		return f.Index
	})
	return func(j *jobView) any {
		switch v := reflect.ValueOf(j.Job).Elem().FieldByIndex(field()); {
		case v.IsZero() && !a.Required:
			return nil
		case a.Type == attribute.Text:
			return v.String()
		default:
			return v.Interface()
		}
	}
}

// Complete replaces + in a list of columns by the attributes that are fields of a job and not in the
// list.
func Complete(columns string) string {
	named := strings.Fields(strings.ReplaceAll(columns, "*", ""))
	fields := attribute.Fields(attribute.Job, jobType)
	var others []string
	for _, a := range attribute.Job {
		if fields[a.Name] != nil && !slices.Contains(named, a.Name) {
			others = append(others, a.Name)
		}
	}
	return strings.Replace(columns, "+", strings.Join(others, " "), 1)
}

// usage is what the attempts of a job have used.
type usage struct {
	last engine.ResourceUse // of the last attempt
	cpu  time.Duration      // of all attempts
	mem  int64              // the maximum over attempts
}

// took reads what the job has used.
func (j *jobView) took() *usage {
	if j.past == nil {
		j.past = new(usage)
		err := j.tx.Attempts().Each(j.ID, func(a *engine.Attempt) error {
			j.past.last = a.Use
			j.past.cpu += a.Use.CPUUser + a.Use.CPUSystem
			j.past.mem = max(j.past.mem, cmp.Or(a.Use.MemPeak, a.Use.MaxRSS))
			return nil
		})
		if j.err == nil {
			j.err = err
		}
	}
	return j.past
}

// seconds returns a duration as a number, nil for none.
func seconds(d time.Duration) any {
	if d == 0 {
		return nil
	}
	return d.Seconds()
}

// waited returns the time from submission to start, or to now if the job still waits. It is nil for a
// job that was cancelled before it started.
func (j *jobView) waited() any {
	until := j.Start
	switch {
	case j.State == engine.JobCancelled, j.Submit.IsZero():
		return nil
	case j.State.Live() && j.State != engine.JobRunning:
		until = j.tx.Now()
	case j.Start.IsZero():
		return nil
	}
	return max(until.Sub(j.Submit), 0)
}

// ran returns the time from start to end, or to now while the job runs.
func (j *jobView) ran() any {
	until := j.End
	switch {
	case j.Start.IsZero(), j.State.Live() && j.State != engine.JobRunning:
		return nil
	case j.State == engine.JobRunning:
		until = j.tx.Now()
	}
	if until.Before(j.Start) {
		return nil
	}
	return until.Sub(j.Start)
}

// slowdown returns the time from submission to end, divided by the run time. A run of less than a second
// counts as one second.
func (j *jobView) slowdown() any {
	if j.State != engine.JobFinished && j.State != engine.JobFailed || j.Submit.IsZero() || j.Start.IsZero() ||
		j.End.Before(j.Start) {
		return nil
	}
	submit := j.Submit
	if j.Start.Before(submit) {
		submit = j.Start
	}
	return max(j.End.Sub(submit), time.Second).Seconds() / max(j.End.Sub(j.Start), time.Second).Seconds()
}

// reasonCode returns the word for the reason: what a job mainly waits for, or why it has ended as it
// did.
func (j *jobView) reasonCode() string {
	switch {
	case j.look != nil:
		return j.outlook().Code()
	case j.State == engine.JobRunning || !j.State.Live():
		return j.Reason.Cause.String()
	case j.Never:
		return string(engine.WaitsNever)
	case j.State == engine.JobHeld:
		return string(engine.WaitsHeld)
	case j.State == engine.JobReserved:
		return string(engine.WaitsPlan)
	case j.State == engine.JobLate:
		return string(engine.WaitsLate)
	}
	return ""
}
