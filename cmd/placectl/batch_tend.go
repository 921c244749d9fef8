package main

import (
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func batchExpireCommand(r *runner) *cli.Command {
	return r.verb(&cli.Command{
		Name:      "expire",
		Usage:     "take back jobs whose leases are over, of one batch or of all",
		ArgsUsage: "[NAME]",
		Description: "Hosts that are not heard of any more leave the sums. next does the same for its batch: this is for cron,\n" +
			"when few hosts ask.",
		Flags:  []cli.Flag{dryRunFlag()},
		Action: r.batchExpire,
	}, about{Example: "placectl batch expire", Exits: writeExits})
}

func (r *runner) batchExpire(c *cli.Context) error {
	return r.eachBatchNamed(c, []column{{Name: "name"}, {Name: "leases", Kind: integer}, {Name: "hosts", Kind: integer}},
		func(tx *store.Tx, p *printer, name string) error {
			x, err := tx.BatchExpire(name)
			if err != nil {
				return err
			}
			return p.row(name, x.Leases, x.Hosts)
		})
}

func batchRecomputeCommand(r *runner) *cli.Command {
	return r.verb(&cli.Command{
		Name:      "recompute",
		Usage:     "age what is known of hosts and build every sum of speeds anew, of one batch or of all",
		ArgsUsage: "[NAME]",
		Description: "What a host has shown counts half after a week. Sums are kept exact all the time; this is what makes hosts\n" +
			"that say nothing count less. For cron, once a day.",
		Flags:  []cli.Flag{dryRunFlag()},
		Action: r.batchRecompute,
	}, about{Example: "placectl batch recompute", Exits: writeExits})
}

func (r *runner) batchRecompute(c *cli.Context) error {
	return r.eachBatchNamed(c, []column{{Name: "name"}, {Name: "hosts", Kind: integer}, {Name: "expavg_credit", Kind: number}},
		func(tx *store.Tx, p *printer, name string) error {
			if err := tx.BatchRecompute(name); err != nil {
				return err
			}
			b, err := tx.Batch(name)
			if err != nil {
				return err
			}
			return p.row(name, b.Active, locality.Credits(b.Rate))
		})
}

// eachBatchNamed runs fn on the batch that the argument names, or on every one, in
// one transaction, and prints its rows.
func (r *runner) eachBatchNamed(c *cli.Context, columns []column, fn func(*store.Tx, *printer, string) error) error {
	if err := wantArgs(c, 0, 1); err != nil {
		return err
	}
	return r.updateAndPrint(c, func(tx *store.Tx) error {
		names := c.Args().Slice()
		if len(names) == 0 {
			if err := tx.EachBatch(func(b *store.Batch) error {
				names = append(names, b.Name)
				return nil
			}); err != nil {
				return err
			}
		}
		p := r.printer(result{Columns: columns})
		for _, name := range names {
			if err := fn(tx, p, name); err != nil {
				return err
			}
		}
		return p.close()
	})
}
