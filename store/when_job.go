package store

import (
	"strconv"
	"strings"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store/internal/row"
)

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
		return Prospect{}, &Conflict{name, "it is " + j.State.String()}
	case j.State == JobRunning:
		return Prospect{}, &Conflict{name, "it runs since " + stamp(j.Start)}
	}
	look, err := tx.Outlook()
	if err != nil {
		return Prospect{}, err
	}
	p, err := look.look(j)
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
