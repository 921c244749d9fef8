package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store"
)

// jobVerdict is the verdict on a job, in a word.
func jobVerdict(ex *store.Explained) string {
	switch {
	case ex.Job.State == store.JobRunning:
		return "running"
	case ex.Job.State == store.JobReserved:
		return "planned"
	case ex.Queue == nil:
		return "ended"
	}
	switch ex.Queue.Wait {
	case store.WaitsNever:
		return string(placer.NeverStarts)
	case store.WaitsHeld:
		return "held"
	case store.WaitsLate:
		return "late"
	case store.WaitsRoom:
		return string(placer.StartsLater)
	case store.WaitsTurn:
		if len(ex.Queue.Before) == 0 {
			return string(placer.StartsNow)
		}
	}
	return "waits"
}

// jobSummary says where a job is and why, or what it waits for.
func (p *explainPage) jobSummary(add func(string, output.Kind, any)) error {
	j := p.ex.Job
	add("job", output.Text, jobID(j))
	add("state", output.Text, j.State.String())
	asked := j.Select + ", place " + j.Place + ", for " + string(spell.AppendDuration(nil, j.Walltime))
	if j.Queue != "" {
		asked += ", in queue " + j.Queue
	}
	add("request", output.Text, asked)
	add("verdict", output.Text, p.jobStands(j))
	if err := p.jobPlaced(add, j); err != nil {
		return err
	}
	path, why := string(j.Path), p.ex.Why
	if p.ex.Explanation != nil {
		path, why = string(p.ex.Path), p.ex.Explanation.Why
	}
	add("path", output.Text, orNil(withReason(path, why)))
	policy, err := placer.ParsePolicy(j.Policy)
	if p.ex.Explanation != nil {
		policy = p.ex.Policy
	}
	if err == nil {
		add("policy", output.Text, orNil(withReason(policy.String(), policy.Doc())))
	}
	reason := j.Reason
	if p.ex.Queue != nil {
		reason = p.ex.Queue.Reason
	}
	add("reason", output.Prose, orNil(reason))
	return nil
}

// jobPlaced is where and when a job runs, has run, or is to run as far as that is
// known; of one without a plan also its place in the queue, and what would come of
// placing it now.
func (p *explainPage) jobPlaced(add func(string, output.Kind, any), j *store.Job) error {
	start, end, set, nodes := j.Start, j.End, j.Set, j.NodeNumbers()
	q := p.ex.Queue
	if q != nil {
		start, end = q.Start, q.End
	}
	if q != nil && q.Plan != nil {
		set, nodes = q.Plan.Set, q.Plan.NodeNumbers()
	}
	add("start", output.Time, instant(start))
	add("end", output.Time, instant(end))
	names, err := p.names(nodes)
	add("nodes", output.Text, orNil(names))
	add("set", output.Text, orNil(set))
	if q != nil {
		add("in_queue", output.Text, orNil(p.inQueue()))
		add("placed_alone", output.Text, orNil(p.alone()))
	}
	return err
}

// inQueue is a job's place in the queue.
func (p *explainPage) inQueue() string {
	q := p.ex.Queue
	if q.Place == 0 {
		return "" // it is held, or was placed by hand
	}
	place := fmt.Sprintf("%d of %d", q.Place, q.Waiting)
	if len(q.Before) > 0 {
		place += "; before it " + someOf(jobWords(q.Before)) + " may take nodes"
	}
	return place
}

// alone is what would come of placing a job now, if nothing but room mattered.
func (p *explainPage) alone() string {
	if p.ex.Explanation == nil {
		return ""
	}
	text := p.placing()
	if p.ex.Together {
		text += "; each chunk would fit by itself, not all of them together"
	}
	if p.ex.Verdict == placer.StartsLater {
		text += "; earliest " + p.start(p.ex.Plan, nil)
	}
	return text
}

func jobWords(ids []uint64) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = "job " + strconv.FormatUint(id, 10)
	}
	return out
}

// jobStands is a job's verdict in words.
func (p *explainPage) jobStands(j *store.Job) string {
	now := p.w.tx.Now()
	in := func(at int64) string { return string(spell.AppendDuration(nil, at-now)) }
	switch {
	case p.ex.Queue != nil:
		return p.waits(p.ex.Queue)
	case j.State == store.JobRunning && j.End <= now:
		return "running, overdue by " + string(spell.AppendDuration(nil, now-j.End))
	case j.State == store.JobRunning:
		return "running, for another " + in(j.End)
	case j.State != store.JobReserved:
		return "ended"
	case len(p.ex.WaitsFor) > 0:
		return "planned: starts in " + in(j.Start) + ", at the end of " + someOf(p.ex.WaitsFor)
	case len(p.ex.Ahead) > 0:
		return "planned: starts in " + in(j.Start) + "; others have its nodes until shortly before"
	}
	return "planned: starts in " + in(j.Start) + "; its nodes are free, and kept for it"
}

// waits says what a job without a plan waits for, and for how long.
func (p *explainPage) waits(q *store.Queueing) string {
	text := p.waitsFor(q)
	switch {
	case q.Wait == store.WaitsNever, q.Wait == store.WaitsHeld, q.Wait == store.WaitsLate, q.Wait == store.WaitsTurn:
		return text
	case q.Start == 0:
		return text + "; nobody knows when it will start"
	}
	text += "; expected to start in " + string(spell.AppendDuration(nil, q.Start-p.w.tx.Now()))
	if len(p.ex.WaitsFor) > 0 {
		text += ", at the end of " + someOf(p.ex.WaitsFor)
	}
	return text
}

func (p *explainPage) waitsFor(q *store.Queueing) string {
	switch q.Wait {
	case store.WaitsNever:
		return "never: " + strings.TrimPrefix(q.Reason, placer.ErrNever.Error()+": ")
	case store.WaitsHeld:
		return withReason("held", q.Reason)
	case store.WaitsLate:
		return "late: the next command that writes plans it anew"
	case store.WaitsBegin:
		return "waits: it is to begin at " + p.w.at(p.ex.Job.Begin)
	case store.WaitsJob:
		return "waits: it " + q.Reason
	case store.WaitsClass:
		return "waits: " + q.Reason
	case store.WaitsTurn:
		if len(q.Before) == 0 {
			return "the next cycle starts it"
		}
		return "waits for its turn: it would fit now, and " + spell.Plural(len(q.Before), "job") + " may go before it"
	}
	return withReason("not now", strings.TrimPrefix(q.Reason, placer.ErrNotNow.Error()+": "))
}

// depends is what a job depends on, and how far that is.
func (p *explainPage) depends() error {
	if p.ex.Queue == nil || len(p.ex.Queue.Depends) == 0 {
		return nil
	}
	p.heading("Depends on", "")
	var rows [][]any
	for _, d := range p.ex.Queue.Depends {
		note := "not yet"
		if d.Met {
			note = "met"
		}
		rows = append(rows, []any{"job " + strconv.FormatUint(d.Job, 10), d.When.String(), d.State.String(), note, instant(d.Due)})
	}
	return p.table([]output.Column{{Name: "job"}, {Name: "when"}, {Name: "state"}, {Name: "note"}, {Name: "expected", Kind: output.Time}}, rows)
}
