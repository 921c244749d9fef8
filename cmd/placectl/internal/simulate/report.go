package simulate

import (
	"math"
	"slices"
	"strconv"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/trends"
	"github.com/placectl/placectl/placer/backfill"
)

// Result describes the answer with a row for each run under some rules: see Row. record says that there
// is only one run.
func (t *Trace) Result(rules []Rule, record bool) output.Result {
	res := output.Result{Record: record, Many: true, Columns: []output.Column{{Name: "policy"},
		{Name: "jobs", Kind: output.Integer}, {Name: "skipped", Kind: output.Integer},
		{Name: "avg_wait", Kind: output.Duration}, {Name: "avg_slowdown", Kind: output.Number},
		{Name: "max_wait", Kind: output.Duration}, {Name: "utilisation", Kind: output.Number},
		{Name: "makespan", Kind: output.Duration}, {Name: "procs", Kind: output.Integer, Detail: true}}}
	res.Columns = append(res.Columns, output.Column{Name: "nodes", Kind: output.Integer, Detail: true},
		output.Column{Name: "node_policy", Detail: true},
		output.Column{Name: "preempted", Kind: output.Integer, Detail: t.ranks == nil},
		output.Column{Name: "lost", Kind: output.Number, Detail: true},
		output.Column{Name: "classes", Kind: output.Object, Detail: true, Required: true})
	promises := slices.ContainsFunc(rules, Rule.promise)
	res.Columns = append(res.Columns, output.Column{Name: "p99_wait", Kind: output.Duration, Detail: true},
		output.Column{Name: "later_4h", Kind: output.Number, Detail: record},
		output.Column{Name: "promised", Kind: output.Integer, Detail: !promises},
		output.Column{Name: "slack_used", Kind: output.Integer, Detail: !promises},
		output.Column{Name: "broken", Kind: output.Integer, Detail: !promises})
	return res
}

// promise reports whether a rule promises jobs a start.
func (r Rule) promise() bool { return r.Policy == backfill.Relaxed }

// fourHours is the delay in seconds, compared with the first policy, above which a job counts as later.
const fourHours = 4 * 3600

// laterThan returns the percentage of jobs that start more than four hours later than in another run.
func (run *Run) laterThan(first *Run) float64 {
	n := 0
	for i, at := range run.starts {
		if at > first.starts[i]+fourHours {
			n++
		}
	}
	return math.Round(1e4*float64(n)/float64(len(run.starts))) / 100
}

// p99 returns the wait in seconds that one of a hundred jobs exceeds.
func (t *Trace) p99(run *Run) int64 {
	waits := make([]int64, len(t.jobs))
	for i, j := range t.jobs {
		waits[i] = run.starts[i] - j.Submit
	}
	slices.Sort(waits)
	return waits[(len(waits)*99+99)/100-1]
}

// Row returns the row of the i-th of the runs.
func (t *Trace) Row(runs []*Run, i int, record bool) []any {
	run := runs[i]
	s := backfill.Summarise(t.procs, t.jobs, run.starts)
	row := []any{run.Rule.String(), s.Jobs, t.skipped, s.AvgWait, s.AvgSlowdown, s.MaxWait, s.Utilisation, s.Makespan,
		t.procs}
	var nodes, policy, cut, given, classes any
	if t.cluster != nil {
		nodes, policy = len(t.cluster.nodes), t.cluster.policy.String()
	}
	if t.ranks != nil {
		lost := int64(0)
		for _, c := range run.cut {
			lost += (c.at - c.Start) * t.jobs[c.Owner].Procs
		}
		cut, given = len(run.cut), float64(lost)/3600
	}
	if t.shares != nil {
		classes = t.shares.classes(t, run)
	}
	var later, made, used, broken any
	if !record {
		later = run.laterThan(runs[0])
	}
	if p := run.promises; run.Rule.promise() {
		made, used, broken = p.Made, p.Used, p.Broken
	}
	return append(row, nodes, policy, cut, given, classes, t.p99(run), later, made, used, broken)
}

// Compared is the mean wait in seconds of some jobs in each of several runs.
type Compared struct {
	Name  string
	Jobs  int
	Waits []float64
}

// Waits sums up a run by group.
func (t *Trace) Waits(run *Run, by string) []trends.Group {
	return trends.Waits(t.Trends(run), math.MinInt64, math.MaxInt64, trends.By(by))
}

// Compare sums up runs by group. The group that used
// most comes first.
func (t *Trace) Compare(runs []*Run, by string) (list []Compared) {
	places := make(map[string]int)
	for n, run := range runs {
		for _, g := range t.Waits(run, by) {
			at, known := places[g.Name]
			if !known {
				at = len(list)
				places[g.Name] = at
				list = append(list, Compared{Name: g.Name, Jobs: g.Jobs, Waits: make([]float64, len(runs))})
			}
			list[at].Waits[n] = g.Wait.Mean
		}
	}
	return list
}

// AppendStarts appends CSV of whole numbers, with the columns of predictsim's results. New columns may
// only be added at the end. On a cluster the nodes follow. With preemption, so does how often each job
// made way, and its start is its last one.
func (t *Trace) AppendStarts(b []byte, run *Run) []byte {
	b = append(b, "job,submit,start,run,procs,req_time"...)
	if t.cluster != nil {
		b = append(b, ",nodes"...)
	}
	times := run.times(len(t.jobs))
	if t.ranks != nil {
		b = append(b, ",preempted"...)
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
		if t.ranks != nil {
			b = strconv.AppendInt(append(b, ','), int64(times[i]), 10)
		}
		b = append(b, '\n')
	}
	return b
}
