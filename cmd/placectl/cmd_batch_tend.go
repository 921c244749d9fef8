package main

import (
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func batchExpireVerb() *verb {
	return &verb{
		Name:  "expire",
		Usage: "take back jobs whose leases are over, of one batch or of all",
		Args:  []verbs.Arg{{Name: "NAME", Kind: verbs.KindBatch, Optional: true}},
		Description: "Hosts that are not heard of any more leave the sums. next does the same for its batch: this is for cron,\n" +
			"when few hosts ask.",
		Access:  verbs.Writes,
		Example: "placectl batch expire",
		Run:     (*runner).batchExpire,
	}
}

func (r *runner) batchExpire(c *cli.Context) error {
	return r.eachBatchNamed(c, []output.Column{{Name: "name"}, {Name: "leases", Kind: output.Integer}, {Name: "hosts", Kind: output.Integer}},
		func(tx *store.Tx, p *output.Printer, name string) error {
			x, err := tx.BatchExpire(name)
			if err != nil {
				return err
			}
			return p.Row(name, x.Leases, x.Hosts)
		})
}

func batchRecomputeVerb() *verb {
	return &verb{
		Name:  "recompute",
		Usage: "age what is known of hosts and build every sum of speeds anew, of one batch or of all",
		Args:  []verbs.Arg{{Name: "NAME", Kind: verbs.KindBatch, Optional: true}},
		Description: "What a host has shown counts half after a week. Sums are kept exact all the time; this is what makes hosts\n" +
			"that say nothing count less. For cron, once a day.",
		Access:  verbs.Writes,
		Example: "placectl batch recompute",
		Run:     (*runner).batchRecompute,
	}
}

func (r *runner) batchRecompute(c *cli.Context) error {
	return r.eachBatchNamed(c, []output.Column{{Name: "name"}, {Name: "hosts", Kind: output.Integer}, {Name: "expavg_credit", Kind: output.Number}},
		func(tx *store.Tx, p *output.Printer, name string) error {
			if err := tx.BatchRecompute(name); err != nil {
				return err
			}
			b, err := tx.Batch(name)
			if err != nil {
				return err
			}
			return p.Row(name, b.Active, locality.Credits(b.Rate))
		})
}

// eachBatchNamed runs fn on the batch that the argument names, or on every one, in
// one transaction, and prints its rows.
func (r *runner) eachBatchNamed(c *cli.Context, columns []output.Column, fn func(*store.Tx, *output.Printer, string) error) error {
	return r.update(c, func(tx *store.Tx) error {
		names := c.Args().Slice()
		if len(names) == 0 {
			if err := tx.EachBatch(func(b *store.Batch) error {
				names = append(names, b.Name)
				return nil
			}); err != nil {
				return err
			}
		}
		p := r.printer(output.Result{Columns: columns})
		for _, name := range names {
			if err := fn(tx, p, name); err != nil {
				return err
			}
		}
		return p.Close()
	})
}
