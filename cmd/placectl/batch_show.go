package main

import (
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func batchShowVerb() *verb {
	return &verb{
		Name:  "show",
		Usage: "how far a batch is, when it may end, and how often files were sent",
		Args:  []arg{{Name: "NAME", Kind: kindBatch}},
		Description: "bound is the least number of transfers there can be: each file once for every result that is wanted;\n" +
			"ratio is the transfers so far over it, and means little before the end. end is estimated from what remains\n" +
			"and from what the hosts that work now have done so far. --jobs lists the jobs instead; --svg draws which\n" +
			"host worked where over the file sequence, over time.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "jobs", Usage: "every job, and who had it"},
			&cli.StringFlag{Name: "svg", Usage: "draw into `FILE` as SVG, - for standard output"},
			&cli.IntFlag{Name: "width", Value: 1200, Usage: "`N` pixels of the SVG"},
		},
		Access:  reads,
		Example: "placectl batch show night-12\nplacectl batch show night-12 --jobs -o csv\nplacectl batch show night-12 --svg night.svg",
		Run:     (*runner).batchShow,
	}
}

func (r *runner) batchShow(c *cli.Context) error {
	if c.String("svg") != "" {
		return r.batchSVG(c)
	}
	return r.view(func(tx *store.Tx) error {
		b, err := tx.Batch(c.Args().First())
		if err != nil {
			return err
		}
		if c.Bool("jobs") {
			return r.printBatchJobs(tx, b.Name)
		}
		return r.printBatch(tx, b)
	})
}
