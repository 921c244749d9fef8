package explain

import (
	"fmt"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/listing"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer"
)

func (p *page) requestSummary(f *output.Record) {
	ex := p.ex
	f.Add("request", output.Text, p.asked(ex.Request))
	f.Add("verdict", output.Text, p.placing())
	if len(ex.Counters) > 0 {
		f.Add("pools", output.Text, strings.Join(ex.Counters, "; "))
	}
	if ex.Together {
		f.Add("note", output.Text, "each chunk would fit by itself, not all of them together")
	}
	if ex.Verdict == placer.StartsLater {
		f.Add("earliest", output.Text, p.start(ex.Plan, listing.Owners(ex.WaitsFor).Names()))
	}
	p.planned(f, ex.Plan)
	f.Add("policy", output.Text, fmt.Sprintf("%s: %s", ex.Policy, ex.Policy.Doc()))
}

// placing returns the verdict on placing the request now.
func (p *page) placing() string {
	switch p.ex.Verdict {
	case placer.StartsNow:
		return "starts now"
	case placer.StartsLater:
		return "not now: " + p.ex.Refusal.Why
	}
	return "never: " + p.ex.Refusal.Why
}

// planned says where the request starts by a plan.
func (p *page) planned(f *output.Record, plan *placer.Plan) {
	if plan == nil {
		return
	}
	f.Add("nodes", output.Text, p.nodeList(plan.NodeNumbers()))
	f.Add("set", output.Text, output.OrNil(plan.Set))
}

// start says when it starts, and for what it waits.
func (p *page) start(plan *placer.Plan, waitsFor []string) string {
	if plan == nil {
		return "not known"
	}
	words := fmt.Sprintf("%s, in %s", text.AppendLocal(nil, plan.Start, p.Zone),
		text.AppendAbout(nil, plan.Start-p.now))
	if len(waitsFor) > 0 {
		words += ", at the end of " + someOf(waitsFor)
	}
	return words + p.guess()
}

// guess says that the start is a guess, if it is one.
func (p *page) guess() string { return string(text.AppendGuess(nil, p.ex.Guess)) }

// requestObject returns the request, or a job's.
func (p *page) requestObject() output.Objects {
	f, q, pools := new(output.Record), p.ex.Request, p.ex.Request.Pools
	if j := p.ex.Job; j != nil {
		f.Must("select", output.Text, j.Select)
		f.Must("place", output.Text, j.Place)
		f.Must("walltime", output.Integer, j.Walltime)
	} else {
		pools = p.ex.Ask.Spec.Pools
		f.Must("select", output.Text, p.ex.Ask.Text(p.defs))
		f.Must("place", output.Text, p.ex.Ask.Spec.Place.Format(p.defs))
		f.Must("walltime", output.Integer, p.ex.Ask.Duration)
	}
	f.Add("user", output.Text, output.OrNil(q.User))
	f.Add("queue", output.Text, output.OrNil(q.Queue))
	f.Add("policy", output.Text, output.OrNil(q.Policy))
	f.Add("reservation", output.Text, output.OrNil(q.Reservation))
	f.Add("pools", output.Text, output.OrNil(placer.FormatPools(pools)))
	return f.Object()
}

// verdictFields adds the verdict, its reason, and where and when the request starts.
func (p *page) verdictFields(f *output.Record) {
	var verdict, why, start, end, path, pathWhy, policy, set any
	var numbers []uint32
	if j := p.ex.Job; j != nil {
		verdict, why, start, end = jobVerdict(&p.ex), output.OrNil(j.Reason.String()), output.OrNil(j.Start),
			output.OrNil(j.End)
		path, pathWhy, policy, set = string(j.Path), output.OrNil(p.ex.Why), output.OrNil(j.Policy), output.OrNil(j.Set)
		numbers = j.NodeNumbers()
	}
	if q := p.ex.Queue; q != nil {
		why, start, end = output.OrNil(q.Words()), output.OrNil(q.Start), output.OrNil(q.End)
		if q.Plan != nil {
			set, numbers = output.OrNil(q.Plan.Set), q.Plan.NodeNumbers()
		}
	}
	if p.explained {
		path, pathWhy, policy = string(p.ex.Path), p.ex.Explanation.Why, p.ex.Policy.String()
	}
	if p.ex.Job == nil {
		verdict = string(p.ex.Verdict)
		if p.ex.Refusal != nil {
			why = p.ex.Refusal.Why
		}
		if plan := p.ex.Plan; plan != nil {
			start, end, set, numbers = plan.Start, plan.End, output.OrNil(plan.Set), plan.NodeNumbers()
		}
	}
	f.Add("verdict", output.Text, verdict)
	f.Add("why", output.Text, why)
	f.Add("start", output.Time, start)
	f.Add("end", output.Time, end)
	f.Add("waits_for", output.Object, listing.Owners(p.ex.WaitsFor))
	f.Add("guess", output.Integer, output.OrNil(p.ex.Guess))
	f.Add("nodes", output.List, p.named(numbers...))
	f.Add("path", output.Text, path)
	f.Add("path_why", output.Text, pathWhy)
	f.Add("policy", output.Text, policy)
	f.Add("set", output.Text, set)
	if p.explained {
		f.Add("pools", output.List, p.ex.Counters)
	} else {
		f.Add("pools", output.List, []string(nil))
	}
}

// asked formats a request on one line.
func (p *page) asked(q placer.Request) string {
	words := p.ex.Ask.Text(p.defs)
	if p.ex.Ask.Spec.Place != (placer.Place{}) {
		words += ", place " + p.ex.Ask.Spec.Place.Format(p.defs)
	}
	if len(p.ex.Ask.Spec.Pools) > 0 {
		words += ", pools " + placer.FormatPools(p.ex.Ask.Spec.Pools)
	}
	words += ", for " + string(text.AppendDuration(nil, p.ex.Ask.Duration))
	for _, x := range []struct{ name, value string }{{"in queue", q.Queue}, {"in reservation", q.Reservation},
		{"access", q.Access}} {
		if x.value != "" {
			words += ", " + x.name + " " + x.value
		}
	}
	return words
}
