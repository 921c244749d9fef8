package simulate

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/placectl/placectl/cmd/placectl/internal/report"
	"github.com/placectl/placectl/cmd/placectl/internal/trends"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/backfill"
	"github.com/placectl/placectl/placer/backfill/swf"
)

// origin is where a job came from, in the log's names.
type origin struct{ user, group, queue string }

func originOf(j swf.Job) origin {
	o := origin{user: strconv.FormatInt(j.User, 10), group: strconv.FormatInt(j.Group, 10),
		queue: strconv.FormatInt(j.Queue, 10)}
	if n := len(j.Extra); n >= 2 { // logs of MetaCentrum have names of queues
		o.queue = j.Extra[n-2]
	}
	return o
}

// Trends returns the jobs of a run for sums over time. Instants are Unix seconds if the log says when it
// began.
func (t *Trace) Trends(run *Run) []trends.Job {
	move := t.move()
	out := make([]trends.Job, len(t.jobs))
	for i, j := range t.jobs {
		start := run.starts[i] + move
		out[i] = trends.Job{Submit: j.Submit + move, Start: start, End: start + j.Run, CPUs: j.Procs,
			User: t.origins[i].user, Group: t.origins[i].group, Queue: t.origins[i].queue}
		if t.shares != nil {
			out[i].Class = t.shares.settings.Loads[t.shares.class[i]].Class
		}
	}
	return out
}

// mostSteps is the greatest number of steps in a series.
const mostSteps = 31 * 24

// Series sums up a run over time, from the first submission to the last end.
func (t *Trace) Series(run *Run) *trends.Series {
	jobs := t.Trends(run)
	from, to := jobs[0].Submit, jobs[0].End
	for i := range jobs {
		from, to = min(from, jobs[i].Submit), max(to, jobs[i].End)
	}
	s := trends.Over(jobs, from, to, max(trends.StepFor(from, to, mostSteps), 60), t.procs)
	s.Undated = !t.isDated()
	return s
}

// Page returns a run as a page.
func (t *Trace) Page(run *Run) *report.Page {
	jobs, s := t.Trends(run), t.Series(run)
	sum := backfill.Summarise(t.procs, t.jobs, run.starts)
	p := &report.Page{Title: fmt.Sprintf("%s under %s", t.name, run.Rule), From: s.From,
		To: s.From + s.Step*int64(len(s.Points)), Series: s,
		Tables: report.Tables(jobs, math.MinInt64, math.MaxInt64, "user"),
		Tiles: [][2]string{{fmt.Sprint(len(jobs)), "jobs"}, {fmt.Sprint(t.procs), "cpus"},
			{fmt.Sprintf("%.1f %%", 100*sum.Utilisation), "used"},
			{string(text.AppendAbout(nil, int64(sum.AvgWait))), "mean wait"},
			{string(text.AppendAbout(nil, sum.MaxWait)), "longest wait"},
			{fmt.Sprintf("%.1f", sum.AvgSlowdown), "mean slowdown"}}}
	p.Now, p.Until = p.To, p.To
	if t.cluster == nil {
		return p
	}
	for _, n := range t.cluster.nodes {
		p.Nodes = append(p.Nodes, report.Node{Name: n.Name, Up: true})
	}
	move := jobs[0].Submit - t.jobs[0].Submit
	add := func(i int, state string, start, end int64, takings []placer.Taking) {
		var on []uint32
		for _, take := range takings {
			on = append(on, take.Node)
		}
		slices.Sort(on)
		p.Jobs = append(p.Jobs, report.Job{ID: uint64(t.numbers[i]), User: jobs[i].User, Queue: jobs[i].Queue,
			State:  state,
			Submit: jobs[i].Submit, Start: start, End: end, CPUs: jobs[i].CPUs, Nodes: slices.Compact(on)})
	}
	for i, placed := range run.placed {
		add(i, "finished", jobs[i].Start, jobs[i].End, placed.Takings)
	}
	for _, c := range run.cut {
		add(int(c.Owner), "preempted", c.Start+move, c.at+move, c.Takings)
	}
	return p
}
