package explain

import (
	"fmt"
	"strconv"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/listing"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/priorityf"
)

// inQueue returns a job's place in the queue.
func (p *page) inQueue() string {
	q := p.ex.Queue
	if q.Place == 0 {
		return "" // held, or placed by hand
	}
	place := fmt.Sprintf("%d of %d", q.Place, q.Waiting)
	if len(q.Before) > 0 {
		place += "; before it " + someOf(jobWords(q.Before)) + " may take nodes"
	}
	if len(q.Terms) > 0 {
		place += "; priority " + termWords(q.Priority, q.Terms)
	}
	return place
}

// termWords formats a priority with its terms.
func termWords(priority float64, terms []priorityf.Term) string {
	text := decimal(priority) + ":"
	for i, t := range terms {
		if i > 0 {
			text += ","
		}
		text += " " + t.Text + " is " + decimal(t.Value)
	}
	return text
}

// decimal writes a number as people read it.
func decimal(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// alone says what would happen if the job were placed now and only room mattered.
func (p *page) alone() string {
	if !p.explained {
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

// waits says what a job without a plan waits for, and for how long.
func (p *page) waits(q *engine.Queueing) string {
	label := p.waitsFor(q)
	switch {
	case q.Wait == engine.WaitsNever, q.Wait == engine.WaitsHeld, q.Wait == engine.WaitsLate,
		q.Wait == engine.WaitsUser,
		q.Wait == engine.WaitsTurn:
		return label
	case q.Start.IsZero():
		return label + "; its start is unknown"
	}
	label += "; expected to start in " + string(text.AppendAbout(nil, q.Start.Unix()-p.now))
	if len(p.ex.WaitsFor) > 0 {
		label += ", at the end of " + someOf(listing.Owners(p.ex.WaitsFor).Names())
	}
	return label + p.guess()
}

func (p *page) waitsFor(q *engine.Queueing) string {
	switch q.Wait {
	case engine.WaitsNever:
		return "never: " + q.Reason
	case engine.WaitsHeld:
		return withReason("held", q.Reason)
	case engine.WaitsLate:
		return "late: the next command that writes plans it anew"
	case engine.WaitsBegin:
		return "waits: it is to begin at " + p.at(p.ex.Job.Begin.Unix())
	case engine.WaitsJob:
		return "waits: it " + q.Reason
	case engine.WaitsUser:
		return "waits " + q.Reason
	case engine.WaitsClass:
		return "waits: " + q.Reason
	case engine.WaitsTurn:
		if len(q.Before) == 0 {
			return "the next cycle starts it"
		}
		return "waits for its turn: it would fit now, and " + text.Plural(len(q.Before), "job") + " may go before it"
	}
	return withReason("not now", q.Reason)
}

// forecast says when a job is likely to start, and by when it will almost certainly have started.
func (p *page) forecast(q *engine.Queueing) string {
	if q.Forecasts == nil || q.Likely.IsZero() {
		return ""
	}
	kept, of := q.Forecasts.Record()
	doubt := listing.Doubt{Few: true} // here a safe start is always worth saying
	said := doubt.Start(q.Likely, q.Safe, func(t time.Time) string { return p.at(t.Unix()) }) + " (as of " +
		p.at(q.Forecasts.AsOf.Unix())
	switch {
	case of >= engine.RecordEnough:
		said += fmt.Sprintf("; of the last %d, %d started by their safe start); by asked walltimes %s", of, kept,
			p.at(q.Asked.Unix()))
	case !q.Safe.After(q.Likely):
		said += "; too few jobs have ended to estimate better)"
	default:
		said += ")"
	}
	if q.Place > 0 {
		said += "; " + ordinal(q.Place) + " in the queue"
	}
	return said
}

// ordinal writes 1 as 1st.
func ordinal(n int) string {
	ending := "th"
	if tens := n / 10 % 10; tens != 1 {
		switch n % 10 {
		case 1:
			ending = "st"
		case 2:
			ending = "nd"
		case 3:
			ending = "rd"
		}
	}
	return strconv.Itoa(n) + ending
}

// depends lists a job's dependencies and their states.
func (p *page) depends() {
	if p.ex.Queue == nil || len(p.ex.Queue.Depends) == 0 {
		return
	}
	p.Heading("Depends on", "")
	var rows [][]any
	for _, d := range p.ex.Queue.Depends {
		note := "not yet"
		if d.Met {
			note = "met"
		}
		rows = append(rows, []any{"job " + strconv.FormatUint(d.Job, 10), d.When.String(), d.State.String(), note,
			output.OrNil(d.Due)})
	}
	p.failed(p.Table([]output.Column{{Name: "job"}, {Name: "when"}, {Name: "state"}, {Name: "note"},
		{Name: "expected", Kind: output.Time}}, rows))
}

// awaitedFields are the fields of what a job depends on.
func awaitedFields(list []engine.Awaited) output.Fields[int] {
	return output.Fields[int]{
		{Name: "job", Kind: output.Integer, Required: true, Value: func(i int) any { return list[i].Job }},
		{Name: "when", Required: true, Value: func(i int) any { return list[i].When.String() }},
		{Name: "state", Required: true, Value: func(i int) any { return list[i].State.String() }},
		{Name: "met", Kind: output.Boolean, Required: true, Value: func(i int) any { return list[i].Met }},
		{Name: "expected", Kind: output.Time, Value: func(i int) any { return output.OrNil(list[i].Due) }},
	}
}

// aloneObject returns the result of placing a waiting job now, nil if its request can no longer be
// parsed.
func (p *page) aloneObject() any {
	if !p.explained {
		return nil
	}
	var why, start any
	if p.ex.Refusal != nil {
		why = output.OrNil(p.ex.Refusal.Why)
	}
	if p.ex.Plan != nil {
		start = p.ex.Plan.Start
	}
	f := new(output.Record)
	f.Must("verdict", output.Text, string(p.ex.Verdict))
	f.Add("why", output.Text, why)
	f.Add("start", output.Time, start)
	return f.Object()
}
