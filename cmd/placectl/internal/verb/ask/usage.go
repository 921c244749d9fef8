package ask

import (
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// Usage declares the verb usage.
func Usage() *session.Verb {
	return &session.Verb{
		Name:     "usage",
		Category: "Asking",
		Usage:    "show resource usage by user, account or class",
		May:      store.Anybody,
		Description: "Multiplies what jobs asked for by how long they held it: core_hours of ncpus, gpu_hours of " +
			"ngpus, node_hours of\n" +
			"nodes. Running jobs count up to now. jobs counts those that ended in the period and had started. " +
			"waits is their\n" +
			"total wait for their first starts, wait the mean. Days and months are in UTC. Jobs that were " +
			"archived, or\n" +
			"dropped by the setting keep_ended, still count in whole months. The SQL table usage has all this by " +
			"month, user,\n" +
			"account, class and queue at once, without running jobs.",
		Flags: []cli.Flag{
			verbs.Choice(&cli.StringFlag{Name: "by", Usage: "group by `WHAT`", Value: "user"}, "user", "account",
				"class", "queue", "day", "month"),
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
	spec := store.UsageSpec{By: store.UsageBy(by)}
	for flag, to := range map[string]*time.Time{"since": &spec.From, "until": &spec.To} {
		if !c.IsSet(flag) {
			continue
		}
		at, err := r.Time(c, flag)
		if err != nil {
			return err
		}
		*to = at
	}
	if !spec.From.IsZero() && !spec.To.IsZero() && spec.To.Before(spec.From) {
		return usage.Errorf("--to is before --from")
	}
	return r.View(func(tx *store.Tx) error {
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

func printUsage(r *session.Run, by string, report *store.UsageReport) error {
	first := output.Column{Name: by}
	if r.Audience().Document {
		first.Name = "name" // the column is called name, whatever the rows are about
	}
	p := r.Printer(
		output.Result{Columns: []output.Column{first, {Name: "by", Detail: true}, {Name: "jobs", Kind: output.Integer},
			{Name: "failed", Kind: output.Integer},
			{Name: "preempted", Kind: output.Integer}, {Name: "core_hours", Kind: output.Number},
			{Name: "gpu_hours", Kind: output.Number}, {Name: "node_hours", Kind: output.Number},
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
