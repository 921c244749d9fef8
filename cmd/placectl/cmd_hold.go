package main

import (
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func holdVerb() *verb {
	return &verb{
		Name:        "hold",
		Category:    "Queue",
		Usage:       "keep waiting jobs from starting",
		Args:        []verbs.Arg{{Name: "JOB", Kind: verbs.KindJob, Many: true}},
		Description: "What is planned for them is given up. Running jobs cannot be held: requeue them.",
		Flags:       []cli.Flag{&cli.StringFlag{Name: "reason", Usage: "`WHY`, for others to read"}},
		Access:      verbs.Writes,
		Example:     "placectl hold 12 '13[]'",
		Run: func(r *runner, c *cli.Context) error {
			return r.changeJobs(c, func(tx *store.Tx, id uint64) (*store.Job, error) { return tx.Hold(id, r.heldBy(c.String("reason"))) })
		},
	}
}

// heldBy is the reason of a hold: why, if that was said, and by whom.
func (r *runner) heldBy(why string) string {
	who := r.userName()
	switch {
	case who == "":
		return why
	case why == "":
		return "by " + who
	}
	return why + " (" + who + ")"
}

func unholdVerb() *verb {
	return &verb{
		Name:     "unhold",
		Category: "Queue",
		Usage:    "let held jobs wait for their turn",
		Args:     []verbs.Arg{{Name: "JOB", Kind: verbs.KindJob, Many: true}},
		Access:   verbs.Writes,
		Example:  "placectl unhold 12",
		Run:      func(r *runner, c *cli.Context) error { return r.changeJobs(c, (*store.Tx).Unhold) },
	}
}
