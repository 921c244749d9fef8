package main

import (
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func doneVerb() *verb {
	return &verb{
		Name:        "done",
		Category:    "Queue",
		Usage:       "say that a running job has exited",
		Args:        []verbs.Arg{{Name: "JOB", Kind: verbs.KindJob, Many: true}},
		Description: "With status 0 it has finished, with any other it has failed; jobs that depend on it go by that. Its nodes\nare given back.",
		Flags: []cli.Flag{&cli.IntFlag{Name: "status", Usage: "its exit status `N` (0)"},
			&cli.StringFlag{Name: "reason", Usage: "`WHY`, for others to read"}},
		Access:  verbs.Writes,
		Example: "./simulate; placectl done $PLACECTL_JOB --status $?",
		Run: func(r *runner, c *cli.Context) error {
			return r.changeJobs(c, func(tx *store.Tx, id uint64) (*store.Job, error) {
				return tx.Finish(id, c.Int("status"), c.String("reason"))
			})
		},
	}
}
