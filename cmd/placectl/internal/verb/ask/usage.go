package ask

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// Usage declares the verb usage.
func Usage() *session.Verb {
	return &session.Verb{
		Name:     "usage",
		Category: "Asking",
		Usage:    "show resource usage by user, group, account or class",
		May:      engine.Anybody,
		Description: "Multiplies what jobs asked for by how long they held it: core_hours of ncpus, gpu_hours of " +
			"ngpus, node_hours of nodes. Running jobs count up to now. jobs counts those that ended in the period " +
			"and had started. waits is their total wait for their first starts, wait the mean. Days and months are " +
			"in UTC. Jobs that were archived, or dropped by the setting keep_ended, still count in whole months. " +
			"The SQL table usage has all of this by month at once, without running jobs.",
		Flags: []cli.Flag{
			verbs.Choice(&cli.StringFlag{Name: "by", Usage: "group by `WHAT`", Value: "user"}, "user", "group",
				"account", "class", "queue", "day", "month"),
			&cli.StringFlag{Name: "since", Aliases: []string{"from"}, Usage: "begin at `TIME` (the first job)"},
			&cli.StringFlag{Name: "until", Aliases: []string{"to"}, Usage: "end at `TIME` (now)"},
		},
		Access: verbs.Reads,
		Example: "placectl usage\nplacectl usage --by account --from 2026-11-01 --to 2026-12-01\nplacectl usage --by " +
			"day --from now-7d",
		Run: showUsage,
	}
}

func showUsage(r *session.Run, c *cli.Context) error {
	by, err := verbs.Chosen(c, "by")
	if err != nil {
		return err
	}
	spec := engine.UsageSpec{By: engine.UsageBy(by)}
	for flag, to := range map[string]*time.Time{"since": &spec.From, "until": &spec.To} {
		at, err := r.Time(c, flag)
		if err != nil {
			return err
		}
		*to = at
	}
	if !spec.From.IsZero() && !spec.To.IsZero() && spec.To.Before(spec.From) {
		return usage.Errorf("--to is before --from")
	}
	return r.View(func(tx *engine.Tx) error {
		report, err := tx.Usage().Total(spec)
		if err != nil {
			return err
		}
		if report.Left > 0 {
			r.Notef("archives keep only whole months; not counted: %s", text.Plural(int(report.Left), "job"))
		}
		return printUsage(r, string(spec.By), report)
	})
}

func printUsage(r *session.Run, by string, report *engine.UsageReport) error {
	people, number := r.Audience().Table, output.Number
	if people { // with one decimal
		number = output.Text
	}
	columns := []output.Column{{Name: by}, {Name: "by", Detail: true}, {Name: "jobs", Kind: output.Integer},
		{Name: "failed", Kind: output.Integer, Sparse: true}, {Name: "preempted", Kind: output.Integer, Sparse: true},
		{Name: "core_hours", Kind: number, Right: true, Sparse: true},
		{Name: "gpu_hours", Kind: number, Right: true, Sparse: true},
		{Name: "node_hours", Kind: number, Right: true, Sparse: true},
		{Name: "waits", Kind: output.Duration, Sparse: true}, {Name: "wait", Kind: output.Duration, Sparse: true}}
	if r.Audience().Document {
		columns[0].Name = "name" // the column is called name, whatever the rows are about
	}
	if by != "day" && by != "month" { // the largest first
		slices.SortStableFunc(report.Totals, func(a, b engine.UsageTotal) int {
			return cmp.Or(cmp.Compare(b.Held["ncpus"], a.Held["ncpus"]), cmp.Compare(b.Held["nodes"], a.Held["nodes"]))
		})
	}
	p := r.Printer(output.Result{Columns: columns})
	for _, t := range report.Totals {
		hours := func(name string) any {
			h := float64(t.Held[name]) / 3600
			if people {
				return strconv.FormatFloat(h, 'f', 1, 64)
			}
			return h
		}
		var wait any
		if t.Jobs > 0 {
			wait = t.Waits / time.Duration(t.Jobs)
		}
		p.Row(t.Name, by, t.Jobs, t.Failed, t.Preempted, hours("ncpus"), hours("ngpus"), hours("nodes"), t.Waits, wait)
	}
	return p.Close()
}
