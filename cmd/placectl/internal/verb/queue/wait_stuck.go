package queue

import (
	"fmt"
	"sync"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
)

// obstacle is what keeps awaited jobs from ever starting, in words, "" for nothing.
type obstacle struct{ found, said string }

// find looks for an obstacle of one of the jobs, and counts the jobs that it keeps.
func (o *obstacle) find(r *session.Run, tx *engine.Tx, jobs []*engine.Job) error {
	o.found = ""
	look, err := tx.Ask().Outlook()
	if err != nil {
		return err
	}
	uncycled := sync.OnceValues(func() (string, error) { return r.Uncycled(tx, submittedFirst(jobs)) })
	var first string
	var ids []uint64
	for _, j := range jobs {
		if !j.State.Live() || j.State == engine.JobRunning || j.State == engine.JobReserved {
			continue
		}
		why, err := keeps(look, j, uncycled)
		if err != nil {
			return err
		}
		if why != "" && (first == "" || why == first) {
			first, ids = why, append(ids, j.ID)
		}
	}
	switch {
	case first == "" || first == session.NoCycles:
		o.found = first
	case len(ids) == 1:
		o.found = fmt.Sprintf("job %d %s", ids[0], first)
	default:
		o.found = fmt.Sprintf("%s, %s, wait: each %s", text.Plural(len(ids), "job"), text.Ranges(ids), first)
	}
	return nil
}

// keeps says why a waiting job will not start unless a user acts, or "".
func keeps(look *engine.Outlook, j *engine.Job, uncycled func() (string, error)) (string, error) {
	p, err := look.Keeps(j)
	switch {
	case err != nil:
		return "", err
	case p.Wait == engine.WaitsHeld && p.Reason == "":
		return "is held", nil
	case p.Wait == engine.WaitsHeld:
		return "is held: " + p.Reason, nil
	case p.Wait == engine.WaitsNever:
		if len(j.After) > 0 && !j.Never { // for what it depends on: the next cycle cancels it, if there is one
			if none, err := uncycled(); none == "" || err != nil {
				return "", err
			}
		}
		return "can never run: " + p.Reason, nil
	case p.Wait == engine.WaitsUser:
		return "waits for a process of its user: " + p.Reason, nil
	}
	return uncycled()
}

// submittedFirst returns when the first of some jobs was submitted that wait for a cycle.
func submittedFirst(jobs []*engine.Job) (first time.Time) {
	for _, j := range jobs {
		if session.StartsByCycle(j) && (first.IsZero() || j.Submit.Before(first)) {
			first = j.Submit
		}
	}
	return first
}

// say tells an obstacle once, with -q too: all is not well.
func (o *obstacle) say(r *session.Run) {
	if o.found != "" && o.found != o.said {
		r.Loudf("%s", o.found)
	}
	o.said = o.found
}
