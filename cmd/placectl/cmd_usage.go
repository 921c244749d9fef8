package main

import (
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func usageVerb() *verb {
	return &verb{
		Name:     "usage",
		Category: "Asking",
		Usage:    "who has had how much",
		May:      store.Anybody,
		Description: "What jobs asked for, times how long they held it: core_hours of ncpus, gpu_hours of ngpus, node_hours of nodes,\n" +
			"what runs up to now included. jobs are those that ended in the time and had begun, waits for how long all of them\n" +
			"together had waited for their first starts, wait one of them. Days and months are those of UTC. What was archived, or dropped by the setting\n" +
			"keep_ended, still counts in whole months. The SQL table usage has it by month, user, account, class and queue at\n" +
			"once, without what runs.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "by", Usage: "a row for each `WHAT`: user, account, class, queue, day or month", Value: "user"},
			&cli.StringFlag{Name: "from", Aliases: []string{"since"}, Usage: "from `TIME` on (the first job)"},
			&cli.StringFlag{Name: "to", Aliases: []string{"until"}, Usage: "up to `TIME` (now)"},
		},
		Access:  verbs.Reads,
		Example: "placectl usage\nplacectl usage --by account --from 2026-11-01 --to 2026-12-01\nplacectl usage --by day --from now-7d",
		Run:     (*runner).usage,
	}
}

func (r *runner) usage(c *cli.Context) error {
	spec := store.UsageSpec{By: store.UsageBy(c.String("by"))}
	switch spec.By {
	case store.UsageByUser, store.UsageByAccount, store.UsageByClass, store.UsageByQueue, store.UsageByDay, store.UsageByMonth:
	default:
		return usagef("--by %s: there are user, account, class, queue, day and month", text.Quoted(c.String("by")))
	}
	for flag, to := range map[string]*time.Time{"from": &spec.From, "to": &spec.To} {
		if !c.IsSet(flag) {
			continue
		}
		at, err := r.time(c, flag)
		if err != nil {
			return err
		}
		*to = at
	}
	if !spec.From.IsZero() && !spec.To.IsZero() && spec.To.Before(spec.From) {
		return usagef("--to is before --from")
	}
	return r.view(func(tx *store.Tx) error {
		report, err := tx.Usage().Total(spec)
		if err != nil {
			return err
		}
		if report.Left > 0 {
			r.notef("archived, and perhaps of that time: %s, of which only whole months are known", text.Plural(int(report.Left), "job"))
		}
		return r.printUsage(string(spec.By), report)
	})
}

func (r *runner) printUsage(by string, report *store.UsageReport) error {
	first := output.Column{Name: by}
	if r.audience().Document {
		first.Name = "name" // it is there whatever the rows are of
	}
	p := r.printer(output.Result{Columns: []output.Column{first, {Name: "by", Detail: true}, {Name: "jobs", Kind: output.Integer}, {Name: "failed", Kind: output.Integer},
		{Name: "preempted", Kind: output.Integer}, {Name: "core_hours", Kind: output.Number}, {Name: "gpu_hours", Kind: output.Number}, {Name: "node_hours", Kind: output.Number},
		{Name: "waits", Kind: output.Duration}, {Name: "wait", Kind: output.Duration}}})
	for _, t := range report.Totals {
		hours := func(name string) float64 { return float64(t.Held[name]) / 3600 }
		var wait any
		if t.Jobs > 0 {
			wait = t.Waits / time.Duration(t.Jobs)
		}
		p.Row(t.Name, by, t.Jobs, t.Failed, t.Preempted, hours("ncpus"), hours("ngpus"), hours("nodes"), t.Waits, wait)
	}
	return p.Close()
}
