package explain

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/listing"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer"
)

// jobVerdict returns the verdict on a job, in a word.
func jobVerdict(ex *engine.Explained) string {
	switch {
	case ex.Job.State == engine.JobRunning:
		return "running"
	case ex.Job.State == engine.JobReserved:
		return "planned"
	case ex.Queue == nil:
		return "ended"
	}
	switch ex.Queue.Wait {
	case engine.WaitsNever:
		return string(placer.NeverStarts)
	case engine.WaitsHeld:
		return "held"
	case engine.WaitsLate:
		return "late"
	case engine.WaitsRoom, engine.WaitsLimit:
		return string(placer.StartsLater)
	case engine.WaitsTurn:
		if len(ex.Queue.Before) == 0 {
			return string(placer.StartsNow)
		}
	}
	return "waits"
}

// jobSummary says where a job is and why, or what it waits for.
func (p *page) jobSummary(f *output.Record) {
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
	p.jobPlaced(f, j)
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
	if p.Format != output.Table { // place --explain shows it to people
		f.Add("path", output.Text, output.OrNil(withReason(path, why)))
	}
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
}

// jobPlaced says where and when a job runs, has run, or will run as far as that is known. For a job
// without a plan it adds the job's place in the queue, and the result of placing it now.
func (p *page) jobPlaced(f *output.Record, j *engine.Job) {
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
	f.Add("nodes", output.Text, output.OrNil(p.nodeList(nodes)))
	f.Add("set", output.Text, output.OrNil(set))
	if q != nil {
		f.Add("forecast", output.Prose, output.OrNil(p.forecast(q)))
		f.Add("in_queue", output.Text, output.OrNil(p.inQueue()))
		f.Add("placed_alone", output.Text, output.OrNil(p.alone()))
	}
}

// jobStands returns the verdict on a job in words.
func (p *page) jobStands(j *engine.Job) string {
	now := p.now
	in := func(at time.Time) string { return string(text.AppendAbout(nil, at.Unix()-now)) }
	switch {
	case p.ex.Queue != nil:
		return p.waits(p.ex.Queue)
	case j.State == engine.JobRunning && j.End.Unix() <= now:
		return "running, overdue by " + string(text.AppendAbout(nil, now-j.End.Unix()))
	case j.State == engine.JobRunning:
		return "running, for another " + in(j.End)
	case j.State != engine.JobReserved:
		return "ended"
	case !j.Promised.IsZero():
		return p.promised(j)
	case len(p.ex.WaitsFor) > 0:
		return "planned: starts in " + in(j.Start) + ", at the end of " + someOf(
			listing.Owners(p.ex.WaitsFor).Names()) + p.guess()
	case len(p.ex.Ahead) > 0:
		return "planned: starts in " + in(j.Start) + "; others have its nodes until shortly before" + p.guess()
	}
	return "planned: starts in " + in(j.Start) + "; its nodes are free, and kept for it"
}

// promised says by when relaxed backfilling lets a job start, and why.
func (p *page) promised(j *engine.Job) string {
	slack := j.Promised.Sub(j.Earliest).Seconds() / j.Walltime.Seconds()
	return "promised by " + p.at(j.Promised.Unix()) + " (" + p.at(j.Earliest.Unix()) + " by asked walltimes, slack " +
		strconv.FormatFloat(math.Round(slack*100)/100, 'f', -1, 64) + "), and starts sooner if it fits"
}

// jobObject returns the job, nil for a request.
func (p *page) jobObject() any {
	j, q := p.ex.Job, p.ex.Queue
	if j == nil {
		return nil
	}
	f, reason := new(output.Record), j.Reason.String()
	var waits, place, waiting, alone, priority, promised, earliest any
	expression, terms := p.ex.Priority, p.ex.Terms
	if q == nil {
		q = new(engine.Queueing)
	} else {
		reason, waits, place, waiting = q.Words(), string(q.Wait), output.OrNil(q.Place), q.Waiting
		alone = p.aloneObject()
		expression, terms = q.Priority, q.Terms
	}
	if len(terms) > 0 {
		priority = expression
	}
	if !j.Promised.IsZero() && j.State == engine.JobReserved {
		promised, earliest = j.Promised, j.Earliest
	}
	f.Must("job", output.Integer, j.ID)
	f.Must("state", output.Text, j.State.String())
	f.Add("reason", output.Text, output.OrNil(reason))
	// of a job that waits without a plan
	f.Add("waits", output.Text, waits)
	f.Add("place_in_queue", output.Integer, place)
	f.Add("in_queue", output.Integer, waiting)
	f.Add("before", output.Object, q.Before)
	f.Add("depends", output.Object, output.ObjectsOf(awaitedFields(q.Depends), len(q.Depends)))
	f.Add("placed_alone", output.Object, alone)
	// if an expression orders the queue
	f.Add("priority", output.Number, priority)
	f.Add("terms", output.Object, output.ObjectsOf(termFields(terms), len(terms)))
	f.Add("would_stop", output.Object, output.ObjectsOf(stopFields(p.ex.Stops), len(p.ex.Stops)))
	// the latest start promised by relaxed backfilling, and the earliest at the time of the promise
	f.Add("promised", output.Time, promised)
	f.Add("earliest", output.Time, earliest)
	return f.Object()
}

// stopFields are the fields of a job that would be stopped for the explained one.
func stopFields(list []engine.MadeWay) output.Fields[int] {
	return output.Fields[int]{
		{Name: "job", Kind: output.Integer, Required: true, Value: func(i int) any { return list[i].Job }},
		{Name: "becomes", Required: true, Value: func(i int) any { return list[i].Becomes.String() }},
		{Name: "until", Kind: output.Time, Required: true, Value: func(i int) any { return list[i].Until }},
		{Name: "rule", Required: true, Value: func(i int) any { return list[i].Rule }},
	}
}

// stops names the jobs that a cycle would stop for the explained one.
func (p *page) stops() string {
	var words []string
	for _, s := range p.ex.Stops {
		text := "job " + strconv.FormatUint(s.Job, 10)
		if s.Becomes != engine.JobQueued {
			text += " (then " + s.Becomes.String() + ")"
		}
		if s.Until.Unix() > p.now {
			text += " by " + p.at(s.Until.Unix())
		}
		words = append(words, text)
	}
	return "a cycle would now stop " + strings.Join(words, ", ") + " (" + p.ex.Stops[0].Rule + ")"
}

// ahead lists the jobs that use a planned job's nodes before it.
func (p *page) ahead() {
	if len(p.ex.Ahead) == 0 {
		return
	}
	p.Heading("Before it", ": jobs on its nodes until then")
	p.table(0, p.aheadFields().Pick("who until note nodes"), len(p.ex.Ahead))
}

// aheadFields are the fields of jobs and reservations on a planned job's nodes before it.
func (p *page) aheadFields() output.Fields[int] {
	return output.Fields[int]{
		{Name: "job", Kind: output.Integer, Value: func(i int) any { return output.OrNil(p.ex.Ahead[i].Job) }},
		{Name: "reservation", Value: func(i int) any { return output.OrNil(p.ex.Ahead[i].Reservation) }},
		{Name: "who", Required: true, Value: func(i int) any { return p.ex.Ahead[i].Owner.String() }},
		{Name: "until", Kind: output.Time, Required: true, Value: func(i int) any { return p.ex.Ahead[i].Until }},
		{Name: "overdue", Kind: output.Boolean, Required: true, Value: func(i int) any {
			return p.ex.Ahead[i].Overdue
		}},
		{Name: "note", Value: func(i int) any {
			if p.ex.Ahead[i].Overdue {
				return "overdue"
			}
			return nil
		}},
		{Name: "nodes", Kind: output.List, Value: func(i int) any {
			if p.Format == output.Table {
				return p.nodeList(p.ex.Ahead[i].Nodes)
			}
			return p.named(p.ex.Ahead[i].Nodes...)
		}},
	}
}
