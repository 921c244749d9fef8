package main

import (
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func requeueVerb() *verb {
	return &verb{
		Name:     "requeue",
		Category: "Queue",
		Usage:    "take running jobs off their nodes and queue them again",
		Args:     []verbs.Arg{{Name: "JOB", Kind: verbs.KindJob, Many: true}},
		Description: "For jobs that were submitted. The next cycle tells those who\n" +
			"launched them to stop them. " + endsFirst,
		Flags:   []cli.Flag{&cli.StringFlag{Name: "reason", Usage: "`WHY`, for others to read"}, nowFlag()},
		Access:  verbs.Writes,
		Example: "placectl requeue 12 --reason 'node n3 went down'",
		Run: func(r *runner, c *cli.Context) error {
			return r.changeJobs(c, atOnce(c, func(tx *store.Tx, id uint64) (*store.Job, error) { return tx.Requeue(id, c.String("reason")) }))
		},
	}
}
