package main

import (
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func doneCommand(r *runner) *cli.Command {
	return r.verb(&cli.Command{
		Name:        "done",
		Category:    "Queue",
		Usage:       "say that a running job has exited",
		ArgsUsage:   "JOB",
		Description: "With status 0 it has finished, with any other it has failed; jobs that depend on it go by that. Its nodes\nare given back.",
		Flags: []cli.Flag{&cli.IntFlag{Name: "status", Usage: "its exit status `N` (0)"},
			&cli.StringFlag{Name: "reason", Usage: "`WHY`, for others to read"}, dryRunFlag()},
		Action: func(c *cli.Context) error {
			return r.changeJobs(c, func(tx *store.Tx, id uint64) (*store.Job, error) {
				return tx.Finish(id, c.Int("status"), c.String("reason"))
			})
		},
	}, about{Example: "./simulate; placectl done $PLACECTL_JOB --status $?", Exits: writeExits})
}
