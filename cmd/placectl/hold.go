package main

import (
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func holdCommand(r *runner) *cli.Command {
	return r.verb(&cli.Command{
		Name:        "hold",
		Category:    "Queue",
		Usage:       "keep waiting jobs from starting",
		ArgsUsage:   "JOB...",
		Description: "What is planned for them is given up. Running jobs cannot be held: requeue them.",
		Flags:       []cli.Flag{&cli.StringFlag{Name: "reason", Usage: "`WHY`, for others to read"}, dryRunFlag()},
		Action: func(c *cli.Context) error {
			return r.changeJobs(c, func(tx *store.Tx, id uint64) (*store.Job, error) { return tx.Hold(id, r.heldBy(c.String("reason"))) })
		},
	}, about{Example: "placectl hold 12 '13[]'", Exits: writeExits})
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

func unholdCommand(r *runner) *cli.Command {
	return r.verb(&cli.Command{
		Name:      "unhold",
		Category:  "Queue",
		Usage:     "let held jobs wait for their turn",
		ArgsUsage: "JOB...",
		Flags:     []cli.Flag{dryRunFlag()},
		Action:    func(c *cli.Context) error { return r.changeJobs(c, (*store.Tx).Unhold) },
	}, about{Example: "placectl unhold 12", Exits: writeExits})
}
