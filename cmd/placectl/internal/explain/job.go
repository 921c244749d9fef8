package explain

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/listing"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store"
)

// jobVerdict returns the verdict on a job, in a word.
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
	case store.WaitsRoom, store.WaitsLimit:
		return string(placer.StartsLater)
	case store.WaitsTurn:
		if len(ex.Queue.Before) == 0 {
			return string(placer.StartsNow)
		}
	}
	return "waits"
}

// jobSummary says where a job is and why, or what it waits for.
func (p *page) jobSummary(f *output.Record) error {
	j := p.ex.Job
	f.Add("job", output.JobNumber, j.ID)
	f.Add("state", output.Text, j.State.String())
	asked := j.Select + ", place " + j.Place + ", for " + string(
		text.AppendDuration(nil, int64(j.Walltime/time.Second)))
	if j.Queue != "" {
		asked += ", in queue " + j.Queue
	}
	f.Add("request", output.Text, asked)
	f.Add("verdict", output.Text, p.jobStands(j))
	if err := p.jobPlaced(f, j); err != nil {
		return err
	}
	if len(p.ex.Terms) > 0 {
		f.Add("priority", output.Prose, termWords(p.ex.Priority, p.ex.Terms))
	}
	if len(p.ex.Stops) > 0 {
		f.Add("would_stop", output.Prose, p.stops())
	}
	path, why := string(j.Path), p.ex.Why
	if p.explained {
		path, why = string(p.ex.Path), p.ex.Explanation.Why
	}
	f.Add("path", output.Text, output.OrNil(withReason(path, why)))
	policy, err := placer.ParsePolicy(j.Policy)
	if p.explained {
		policy = p.ex.Policy
	}
	if err == nil {
		f.Add("policy", output.Text, output.OrNil(withReason(policy.String(), policy.Doc())))
	}
	reason := j.Why()
	if p.ex.Queue != nil {
		reason = p.ex.Queue.Words()
	}
	f.Add("reason", output.Prose, output.OrNil(reason))
	return nil
}

// jobPlaced says where and when a job runs, has run, or will run as far as that is known. For a job
// without a plan it adds the job's place in the queue, and the result of placing it now.
func (p *page) jobPlaced(f *output.Record, j *store.Job) error {
	start, end, set, nodes := j.Start, j.End, j.Set, j.NodeNumbers()
	q := p.ex.Queue
	if q != nil {
		start, end = q.Start, q.End
	}
	if q != nil && q.Plan != nil {
		set, nodes = q.Plan.Set, q.Plan.NodeNumbers()
	}
	f.Add("start", output.Time, output.OrNil(start))
	f.Add("end", output.Time, output.OrNil(end))
	names, err := p.nodeList(nodes)
	f.Add("nodes", output.Text, output.OrNil(names))
	f.Add("set", output.Text, output.OrNil(set))
	if q != nil {
		f.Add("forecast", output.Prose, output.OrNil(p.forecast(q)))
		f.Add("in_queue", output.Text, output.OrNil(p.inQueue()))
		f.Add("placed_alone", output.Text, output.OrNil(p.alone()))
	}
	return err
}

// jobStands returns the verdict on a job in words.
func (p *page) jobStands(j *store.Job) string {
	now := p.now
	in := func(at time.Time) string { return string(text.AppendAbout(nil, at.Unix()-now)) }
	switch {
	case p.ex.Queue != nil:
		return p.waits(p.ex.Queue)
	case j.State == store.JobRunning && j.End.Unix() <= now:
		return "running, overdue by " + string(text.AppendAbout(nil, now-j.End.Unix()))
	case j.State == store.JobRunning:
		return "running, for another " + in(j.End)
	case j.State != store.JobReserved:
		return "ended"
	case !j.Promised.IsZero():
		return p.promised(j)
	case len(p.ex.WaitsFor) > 0:
		return "planned: starts in " + in(j.Start) + ", at the end of " + someOf(
			listing.OwnersOf(p.ex.WaitsFor).Names()) + p.guess()
	case len(p.ex.Ahead) > 0:
		return "planned: starts in " + in(j.Start) + "; others have its nodes until shortly before" + p.guess()
	}
	return "planned: starts in " + in(j.Start) + "; its nodes are free, and kept for it"
}

// promised says by when relaxed backfilling lets a job start, and why.
func (p *page) promised(j *store.Job) string {
	slack := j.Promised.Sub(j.Earliest).Seconds() / j.Walltime.Seconds()
	return "promised by " + p.at(j.Promised.Unix()) + " (" + p.at(j.Earliest.Unix()) + " by asked walltimes, slack " +
		strconv.FormatFloat(math.Round(slack*100)/100, 'f', -1, 64) + "), and starts sooner if it fits"
}

type jobObject struct {
	Job          uint64  `json:"job"`
	State        string  `json:"state"`
	Reason       *string `json:"reason"`
	*queueObject         // for a job that waits without a plan

	Priority *float64     `json:"priority,omitempty"` // if an expression orders the queue
	Terms    []termObject `json:"terms,omitempty"`

	Stops []stopObject `json:"would_stop,omitempty"`

	Promised *string `json:"promised"` // the latest start promised by relaxed backfilling
	Earliest *string `json:"earliest"` // its earliest start at the time of the promise
}

// stopObject is a job that would be stopped for the explained one.
type stopObject struct {
	Job     uint64 `json:"job"`
	Becomes string `json:"becomes"`
	Until   any    `json:"until"`
	Rule    string `json:"rule"`
}

// stops names the jobs that a cycle would stop for the explained one.
func (p *page) stops() string {
	var words []string
	for _, s := range p.ex.Stops {
		text := "job " + strconv.FormatUint(s.Job, 10)
		if s.Becomes != store.JobQueued {
			text += " (then " + s.Becomes.String() + ")"
		}
		if s.Until.Unix() > p.now {
			text += " by " + p.at(s.Until.Unix())
		}
		words = append(words, text)
	}
	return "a cycle would now stop " + strings.Join(words, ", ") + " (" + p.ex.Stops[0].Rule + ")"
}

func (p *page) stopObjects() (list []stopObject) {
	for _, s := range p.ex.Stops {
		list = append(list, stopObject{s.Job, s.Becomes.String(), string(text.AppendRFC3339(nil, s.Until.Unix())),
			s.Rule})
	}
	return list
}

func (p *page) jobObject() any {
	if p.ex.Job == nil {
		return nil
	}
	reason := p.ex.Job.Reason.String()
	if p.ex.Queue != nil {
		reason = p.ex.Queue.Words()
	}
	o := jobObject{Job: p.ex.Job.ID, State: p.ex.Job.State.String(), Reason: word(reason), queueObject: p.queueObject(),
		Stops: p.stopObjects()}
	if promised := p.ex.Job.Promised; !promised.IsZero() && p.ex.Job.State == store.JobReserved {
		latest, earliest := string(text.AppendRFC3339(nil, promised.Unix())),
			string(text.AppendRFC3339(nil, p.ex.Job.Earliest.Unix()))
		o.Promised, o.Earliest = &latest, &earliest
	}
	priority, terms := p.ex.Priority, p.ex.Terms
	if q := p.ex.Queue; q != nil {
		priority, terms = q.Priority, q.Terms
	}
	if len(terms) > 0 {
		o.Priority, o.Terms = &priority, termObjects(terms)
	}
	return o
}

// ahead lists the jobs that use a planned job's nodes before it.
func (p *page) ahead() error {
	if len(p.ex.Ahead) == 0 {
		return nil
	}
	p.Heading("Before it", ": jobs on its nodes until then")
	var rows [][]any
	for _, a := range p.ex.Ahead {
		names, err := p.nodeList(a.Nodes)
		if err != nil {
			return err
		}
		var late any
		if a.Overdue {
			late = "overdue"
		}
		rows = append(rows, []any{a.Owner.String(), a.Until, late, names})
	}
	return p.Table([]output.Column{{Name: "who"}, {Name: "until", Kind: output.Time}, {Name: "note"}, {Name: "nodes"}},
		rows)
}

type aheadObject struct {
	listing.Owner
	Who     string   `json:"who"`
	Until   string   `json:"until"`
	Overdue bool     `json:"overdue"`
	Nodes   []string `json:"nodes"`
}

func (p *page) aheadObjects() (any, error) {
	out := []aheadObject{}
	for _, a := range p.ex.Ahead {
		names, err := p.names.Names(a.Nodes)
		if err != nil {
			return nil, err
		}
		out = append(out, aheadObject{listing.Owner(a.Owner), a.Owner.String(),
			string(text.AppendRFC3339(nil, a.Until.Unix())), a.Overdue, names})
	}
	return out, nil
}
