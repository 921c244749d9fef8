package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/placer/backfill"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// writeSimGantt draws what ran where into the file that --gantt names, with the
// pictures of placectl gantt: all of it ran, from the first submission to the last end.
func (r *runner) writeSimGantt(c *cli.Context, o *simulateOptions, t *trace, run *simulated) error {
	s := backfill.Summarise(t.procs, t.jobs, run.starts)
	first := t.first()
	g := t.gantt(run)
	g.title = fmt.Sprintf("%s under %s: %s, %.1f %% of the cpus used", shownFile(o.trace), run.policy, spell.Plural(s.Jobs, "job"), 100*s.Utilisation)
	w := ganttWindow{from: first, to: max(first+s.Makespan, first+1), now: g.now}
	if err := notTrace("--gantt", o.gantt, o.trace); err != nil {
		return usagef(verbName(c), "%w", err)
	}
	return r.writeGanttSVG(c, g, w, &ganttOptions{svg: o.gantt, flag: "gantt", width: simGanttWidth})
}

// simGanttWidth is pixels.
const simGanttWidth = 1600

// gantt is the simulation as a drawing has it. Its now lies before all: nothing is
// over.
func (t *trace) gantt(run *simulated) *ganttData {
	g := &ganttData{now: t.first() - 1, nodes: make([]ganttNode, len(t.cluster.nodes))}
	for i, n := range t.cluster.nodes {
		g.nodes[i] = ganttNode{name: n.Name, bucket: n.Bucket}
	}
	for i, p := range run.placed {
		g.owners = append(g.owners, ganttOwner{Owner: store.Owner{Job: uint64(t.numbers[i])}, user: t.asks[i].User})
		end := run.starts[i] + t.jobs[i].Run
		if end == run.starts[i] {
			continue // it ran for no time that could be seen
		}
		for _, take := range p.Takings {
			n := &g.nodes[take.Node]
			n.bars = append(n.bars, ganttBar{owner: int32(i), kind: ganttRunning, start: run.starts[i], end: end, due: end})
		}
	}
	for i := range g.nodes {
		slices.SortStableFunc(g.nodes[i].bars, func(a, b ganttBar) int { return cmp.Compare(a.start, b.start) })
	}
	return g
}
