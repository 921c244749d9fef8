package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/chart"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/placer/backfill"
)

// printSimulations prints a row for each policy, or the only one as a record.
func (r *runner) printSimulations(o *simulateOptions, t *trace, runs []*simulated) error {
	res := output.Result{Record: !o.compare, Columns: []output.Column{{Name: "policy"},
		{Name: "jobs", Kind: output.Integer}, {Name: "skipped", Kind: output.Integer}, {Name: "avg_wait", Kind: output.Number}, {Name: "avg_slowdown", Kind: output.Number},
		{Name: "max_wait", Kind: output.Duration}, {Name: "utilisation", Kind: output.Number}, {Name: "makespan", Kind: output.Duration}, {Name: "procs", Kind: output.Integer, Detail: true}}}
	var where []any
	if t.cluster != nil {
		res.Columns = append(res.Columns, output.Column{Name: "nodes", Kind: output.Integer, Detail: true}, output.Column{Name: "node_policy", Detail: true})
		where = []any{len(t.cluster.nodes), o.nodePolicy.String()}
	}
	if t.shares != nil {
		res.Columns = append(res.Columns, output.Column{Name: "classes", Kind: output.Object, Detail: true})
	}
	p := r.printer(res)
	for _, run := range runs {
		s := backfill.Summarise(t.procs, t.jobs, run.starts)
		row := append([]any{run.policy.String(), s.Jobs, t.skipped, s.AvgWait, s.AvgSlowdown, s.MaxWait, s.Utilisation, s.Makespan, t.procs}, where...)
		if t.shares != nil {
			row = append(row, t.shares.classes(t, run))
		}
		p.Row(row...)
	}
	return p.Close()
}

// writeStarts writes when each job starts, in the order of the trace.
func (r *runner) writeStarts(o *simulateOptions, t *trace, run *simulated) error {
	if err := notTrace("--out", o.out, o.trace); err != nil {
		return usagef("%w", err)
	}
	return r.writeFile("out", o.out, appendStarts(nil, t, run))
}

// notTrace refuses to write over what was read.
func notTrace(flag, path, trace string) error {
	from, err := os.Stat(trace)
	if err != nil {
		return nil
	}
	if to, err := os.Stat(path); err == nil && os.SameFile(from, to) && to.Mode().IsRegular() {
		return fmt.Errorf("%s %s would write over the trace", flag, spell.Quoted(path))
	}
	return nil
}

// appendStarts appends CSV of whole numbers, with the columns that predictsim's
// results have; more may follow them one day, none may go between. On a cluster the
// nodes follow.
func appendStarts(b []byte, t *trace, run *simulated) []byte {
	b = append(b, "job,submit,start,run,procs,req_time"...)
	if t.cluster != nil {
		b = append(b, ",nodes"...)
	}
	b = append(b, '\n')
	for i, j := range t.jobs {
		for k, n := range [...]int64{t.numbers[i], j.Submit, run.starts[i], j.Run, j.Procs, j.Request} {
			if k > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, n, 10)
		}
		if t.cluster != nil {
			b = append(append(append(b, ",\""...), t.cluster.nodeList(run.placed[i])...), '"')
		}
		b = append(b, '\n')
	}
	return b
}

// writeSimGantt draws what ran where into the file that --gantt names, with the
// pictures of placectl gantt: all of it ran, from the first submission to the last end.
func (r *runner) writeSimGantt(o *simulateOptions, t *trace, run *simulated) error {
	if err := notTrace("--gantt", o.gantt, o.trace); err != nil {
		return usagef("%w", err)
	}
	s := backfill.Summarise(t.procs, t.jobs, run.starts)
	first := t.first()
	g := t.gantt(run)
	g.Title = fmt.Sprintf("%s under %s: %s, %.1f %% of the cpus used", shownFile(o.trace), run.policy, spell.Plural(s.Jobs, "job"), 100*s.Utilisation)
	w := g.Window(time.Unix(first, 0), time.Unix(max(first+s.Makespan, first+1), 0))
	return r.writeFile("gantt", o.gantt, g.SVG(w, &chart.Options{Width: simGanttWidth, Zone: r.loc}))
}

// simGanttWidth is pixels.
const simGanttWidth = 1600

// gantt is the simulation as a drawing has it. Its now lies before all: nothing is
// over.
func (t *trace) gantt(run *simulated) *chart.Gantt {
	g := &chart.Gantt{Now: t.first() - 1, Nodes: make([]chart.Node, len(t.cluster.nodes))}
	for i, n := range t.cluster.nodes {
		g.Nodes[i].Name = n.Name
	}
	for i, p := range run.placed {
		g.Owners = append(g.Owners, chart.Owner{Job: uint64(t.numbers[i]), User: t.asks[i].User})
		end := run.starts[i] + t.jobs[i].Run
		if end == run.starts[i] {
			continue // it ran for no time that could be seen
		}
		for _, take := range p.Takings {
			n := &g.Nodes[take.Node]
			n.Bars = append(n.Bars, chart.Bar{Owner: int32(i), Kind: chart.Running, Start: run.starts[i], End: end, Due: end})
		}
	}
	for i := range g.Nodes {
		slices.SortStableFunc(g.Nodes[i].Bars, func(a, b chart.Bar) int { return cmp.Compare(a.Start, b.Start) })
	}
	return g
}
