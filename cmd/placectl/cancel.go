package main

import (
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func cancelCommand(r *runner) *cli.Command {
	return r.verb(&cli.Command{
		Name:      "cancel",
		Category:  "Queue",
		Usage:     "end jobs, wherever they are",
		ArgsUsage: "JOB...",
		Description: "Waiting jobs leave the queue, running ones give their nodes back. The next cycle tells those who\n" +
			"launched them to stop them.",
		Flags: []cli.Flag{&cli.StringFlag{Name: "reason", Usage: "`WHY`, for others to read"}, dryRunFlag()},
		Action: func(c *cli.Context) error {
			return r.changeJobs(c, func(tx *store.Tx, id uint64) (*store.Job, error) { return tx.Cancel(id, c.String("reason")) })
		},
	}, about{Example: "placectl cancel 12\nplacectl cancel '40[]'", Exits: writeExits})
}
