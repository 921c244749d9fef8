package queue

import (
	"fmt"
	"slices"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/listing"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
)

// fate is a line of wait's answer for people: a job, or jobs of an array.
type fate []*engine.Job

var fateFields = output.Fields[fate]{
	{Name: "job", Value: func(f fate) any { return f.name() }},
	{Name: "state", Value: func(f fate) any { return f.states() }},
	{Name: "start", Kind: output.Time, Value: func(f fate) any {
		return output.OrNil(f.among(func(j *engine.Job) time.Time { return j.Start }, time.Time.Before))
	}},
	{Name: "end", Kind: output.Time, Value: func(f fate) any {
		return output.OrNil(f.among(func(j *engine.Job) time.Time { return j.End }, time.Time.After))
	}},
	{Name: "reason", Kind: output.Prose, Value: func(f fate) any { return output.OrNil(f.reason()) }},
}

// printWaited prints the awaited jobs. People get a line for each array, or with -q for each that ended badly.
func printWaited(r *session.Run, jobs []*engine.Job, bad badly) error {
	return r.Either(session.IsTable, func() error {
		if r.Columns == "" {
			list := fates(jobs)
			if r.Hushed() {
				list = bad.each(jobs)
			}
			return session.PrintAll(r, fateFields, list...)
		}
		return printEach(r, jobs)
	}, func() error { return printEach(r, jobs) })
}

func printEach(r *session.Run, jobs []*engine.Job) error {
	p := r.Jobs(nil, false, "job state start end reason exit* reason_code* array* index*")
	for _, j := range jobs {
		p.Print(j)
	}
	return p.Close()
}

// fates groups jobs by array, in the order of their first.
func fates(jobs []*engine.Job) (list []fate) {
	at := make(map[uint64]int)
	for _, j := range jobs {
		i, known := at[j.Array]
		switch {
		case j.Array == 0 || !known:
			at[j.Array] = len(list)
			list = append(list, fate{j})
		default:
			list[i] = append(list[i], j)
		}
	}
	return list
}

// name returns 12, or 12[0-4,7] for several of an array.
func (f fate) name() string {
	if len(f) == 1 {
		return listing.JobName(f[0])
	}
	indices := make([]int, len(f))
	for i, j := range f {
		indices[i] = j.Index
	}
	return fmt.Sprintf("%d[%s]", f[0].Array, text.Ranges(indices))
}

// states returns the jobs' state, or how many are in each.
func (f fate) states() string {
	count := make(map[engine.JobState]int)
	for _, j := range f {
		count[j.State]++
	}
	if len(count) == 1 {
		return f[0].State.String()
	}
	words := ""
	for _, s := range engine.JobStates() {
		if count[s] > 0 {
			words += fmt.Sprintf(", %d %s", count[s], s)
		}
	}
	return words[2:]
}

// among returns the time of one of the jobs that goes first, the zero time if none has one.
func (f fate) among(of func(*engine.Job) time.Time, first func(time.Time, time.Time) bool) (at time.Time) {
	for _, j := range f {
		if t := of(j); !t.IsZero() && (at.IsZero() || first(t, at)) {
			at = t
		}
	}
	return at
}

// reason says why the first job that ended badly did, or else the first.
func (f fate) reason() string {
	i := max(slices.IndexFunc(f, hasFailed), 0)
	why := f[i].Why()
	if why == "" || len(f) == 1 {
		return why
	}
	return listing.JobName(f[i]) + ": " + why
}
