package batch

import (
	"fmt"
	"strconv"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/locality"
	"github.com/urfave/cli/v2"
)

func batchNextVerb() *session.Verb {
	return &session.Verb{
		Name:  "next",
		Usage: "give a host work, with the files to fetch and delete",
		May:   engine.Anybody,
		Args:  []verbs.Arg{{Name: "NAME", Kind: verbs.KindBatch}},
		Description: "Prints lines to carry out in order, each an action and a name: `delete FILE`, `fetch FILE`, " +
			"then `job NUMBER`\n" +
			"with its first and last file and the end of its lease. -o id prints job numbers only. If an answer was " +
			"lost, ask\n" +
			"again with the same --key. You get the same answer until the host asks for something else, or has " +
			"reported all\n" +
			"its jobs. Status 3 means no work for this host now, 4 that the batch is finished; the message says how\n" +
			"many of its jobs failed. Both print the files to delete.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "host", Required: true, Usage: "asking host `H`"},
			&cli.StringFlag{Name: "user", Usage: "user `U` of the host; no user gets two results of a job"},
			&cli.IntFlag{Name: "want", Usage: "at most `N` jobs (1)"},
			&cli.StringFlag{Name: "seconds", Usage: "as many jobs as the host can do in `S` seconds, at least one"},
			&cli.StringFlag{Name: "lease", Usage: "give the jobs to others if they are not reported within `D`"},
		},
		Exclusive: []string{"want seconds"},
		Access:    verbs.Writes,
		Asks:      true,
		Statuses:  map[int]string{exit.NotNow: "no work for this host now", exit.Never: "the batch is finished"},
		Example: "placectl batch next night-12 --host $(hostname) -o tsv --no-header | while read -r action name " +
			"rest; do ...\n" +
			"placectl batch next night-12 --host h7 --user ann --seconds 1h --lease 4h -o json",
		Run: batchNext,
	}
}

func batchNext(r *session.Run, c *cli.Context) error {
	want, err := batchWant(r, c)
	if err != nil {
		return err
	}
	var why error
	err = r.Update(c, func(tx *engine.Tx) error {
		var g *engine.BatchGrant
		g, why = tx.Batches().Next(c.Args().First(), c.String("host"), c.String("user"), want)
		if g == nil {
			return why
		}
		b, err := tx.Batches().Get(c.Args().First())
		if err != nil {
			return err
		}
		if b.Over() {
			why = exit.ErrBatchFinished
			if b.Failed > 0 {
				why = fmt.Errorf("%w: %d of %d failed", why, b.Failed, b.Jobs)
			}
		}
		if r.Rec != nil && why != nil {
			r.Rec.Refused = true // a later call may get something
		}
		return printGrant(r, g)
	})
	if err != nil {
		return err
	}
	if why != nil {
		return fmt.Errorf("batch %s, host %s: %w", c.Args().First(), c.String("host"), why)
	}
	return nil
}

func batchWant(r *session.Run, c *cli.Context) (locality.Want, error) {
	w := locality.Want{Jobs: c.Int("want")}
	switch {
	case c.IsSet("want") && w.Jobs < 1:
		return w, usage.Errorf("--want: %d jobs; at least 1", w.Jobs)
	case c.IsSet("seconds"):
		d, err := r.Duration(c, "seconds")
		if err != nil {
			return w, err
		}
		w.Seconds = int64(d / time.Second)
	case w.Jobs == 0:
		w.Jobs = 1
	}
	if c.IsSet("lease") {
		d, err := r.Duration(c, "lease")
		if err != nil {
			return w, err
		}
		if w.Lease = int64(d / time.Second); w.Lease < 1 {
			return w, usage.Errorf("--lease must be longer than 0")
		}
	}
	return w, nil
}

// printGrant prints what the host got, with -o id only the jobs.
func printGrant(r *session.Run, g *engine.BatchGrant) error {
	return r.Either(func(f output.Format) bool { return f == output.ID },
		func() error { return printGranted(r, g, false) }, func() error { return printGranted(r, g, true) })
}

func printGranted(r *session.Run, g *engine.BatchGrant, files bool) error {
	p := r.Printer(output.Result{ID: 1, Columns: []output.Column{{Name: "action"}, {Name: "name"},
		{Name: "first", Kind: output.Integer}, {Name: "last", Kind: output.Integer},
		{Name: "size", Kind: output.Size}, {Name: "until", Kind: output.Time}}})
	if files {
		for _, f := range g.Delete {
			p.Row("delete", f.Name, f.Number, f.Number, f.Size, nil)
		}
		for _, f := range g.Fetch {
			p.Row("fetch", f.Name, f.Number, f.Number, f.Size, nil)
		}
	}
	for _, j := range g.Jobs {
		p.Row("job", strconv.Itoa(j.Job), j.Files.A, j.Files.B, nil, j.Until)
	}
	return p.Close()
}

func batchExpireVerb() *session.Verb {
	return &session.Verb{
		Name:  "expire",
		Usage: "take back jobs with expired leases, of one batch or all",
		May:   engine.Anybody,
		Args:  []verbs.Arg{{Name: "NAME", Kind: verbs.KindBatch, Optional: true}},
		Description: "Hosts that no longer report also leave the sums. next does the same for its batch. Run this " +
			"from cron if\n" +
			"few hosts ask for work.",
		Access:  verbs.Writes,
		Example: "placectl batch expire",
		Run:     batchExpire,
	}
}

func batchExpire(r *session.Run, c *cli.Context) error {
	return eachBatchNamed(r, c, []output.Column{{Name: "name"}, {Name: "leases", Kind: output.Integer},
		{Name: "hosts", Kind: output.Integer}},
		func(tx *engine.Tx, p *output.Printer, name string) error {
			x, err := tx.Batches().Expire(name)
			if err != nil {
				return err
			}
			return p.Row(name, x.Leases, x.Hosts)
		})
}

func batchRecomputeVerb() *session.Verb {
	return &session.Verb{
		Name:  "recompute",
		Usage: "age host measurements and recompute sums of speeds",
		May:   engine.Anybody,
		Args:  []verbs.Arg{{Name: "NAME", Kind: verbs.KindBatch, Optional: true}},
		Description: "Measurements of a host count half after a week. Sums are always exact; this verb makes silent " +
			"hosts count less.\n" +
			"Run it from cron, once a day. Without NAME it does all batches.",
		Access:  verbs.Writes,
		Example: "placectl batch recompute",
		Run:     batchRecompute,
	}
}

func batchRecompute(r *session.Run, c *cli.Context) error {
	return eachBatchNamed(r, c, []output.Column{{Name: "name"}, {Name: "hosts", Kind: output.Integer},
		{Name: "expavg_credit", Kind: output.Number}},
		func(tx *engine.Tx, p *output.Printer, name string) error {
			if err := tx.Batches().Recompute(name); err != nil {
				return err
			}
			b, err := tx.Batches().Get(name)
			if err != nil {
				return err
			}
			return p.Row(name, b.Active, locality.Credits(b.Rate))
		})
}

// eachBatchNamed calls fn for the batch that the argument names, or for all, in one transaction, and
// prints the rows.
func eachBatchNamed(r *session.Run, c *cli.Context, columns []output.Column,
	fn func(*engine.Tx, *output.Printer, string) error) error {
	return r.Update(c, func(tx *engine.Tx) error {
		names := c.Args().Slice()
		if len(names) == 0 {
			if err := tx.Batches().Each(func(b *engine.Batch) error {
				names = append(names, b.Name)
				return nil
			}); err != nil {
				return err
			}
		}
		p := r.Printer(output.Result{Columns: columns})
		for _, name := range names {
			if err := fn(tx, p, name); err != nil {
				return err
			}
		}
		return p.Close()
	})
}
