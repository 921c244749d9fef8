package main

import (
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func cancelVerb() *verb {
	return &verb{
		Name:     "cancel",
		Category: "Queue",
		Usage:    "end jobs, wherever they are",
		Args:     []verbs.Arg{{Name: "JOB", Kind: verbs.KindJob, Many: true}},
		Description: "Waiting jobs leave the queue, running ones give their nodes back. The next cycle tells those who\n" +
			"launched them to stop them. " + endsFirst,
		Flags:   []cli.Flag{&cli.StringFlag{Name: "reason", Usage: "`WHY`, for others to read"}, nowFlag()},
		Access:  verbs.Writes,
		Example: "placectl cancel 12\nplacectl cancel '40[]'",
		Run: func(r *runner, c *cli.Context) error {
			return r.changeJobs(c, atOnce(c, func(tx *store.Tx, id uint64) (*store.Job, error) { return tx.Cancel(id, c.String("reason")) }))
		},
	}
}
