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
		May:      store.Anybody,
		Args:     []verbs.Arg{{Name: "JOB", Kind: verbs.KindJob, Many: true}},
		Description: "Waiting jobs leave the queue, running ones give their nodes back. The next cycle tells those who\n" +
			"launched them to stop them. " + endsFirst,
		Flags:   []cli.Flag{&cli.StringFlag{Name: "reason", Usage: "`WHY`, for others to read"}, nowFlag()},
		Access:  verbs.Writes,
		Brief:   true,
		Example: "placectl cancel 12\nplacectl cancel '40[]'",
		Run: func(r *runner, c *cli.Context) error {
			return r.changeJobs(c, atOnce(c, func(tx *store.Tx, id uint64) (*store.Job, error) { return tx.Cancel(id, c.String("reason")) }))
		},
	}
}

func requeueVerb() *verb {
	return &verb{
		Name:     "requeue",
		Category: "Queue",
		Usage:    "take running jobs off their nodes and queue them again",
		May:      store.Anybody,
		Args:     []verbs.Arg{{Name: "JOB", Kind: verbs.KindJob, Many: true}},
		Description: "For jobs that were submitted. The next cycle tells those who\n" +
			"launched them to stop them. " + endsFirst,
		Flags:   []cli.Flag{&cli.StringFlag{Name: "reason", Usage: "`WHY`, for others to read"}, nowFlag()},
		Access:  verbs.Writes,
		Brief:   true,
		Example: "placectl requeue 12 --reason 'node n3 went down'",
		Run: func(r *runner, c *cli.Context) error {
			return r.changeJobs(c, atOnce(c, func(tx *store.Tx, id uint64) (*store.Job, error) { return tx.Requeue(id, c.String("reason")) }))
		},
	}
}

func releaseVerb() *verb {
	return &verb{
		Name:        "release",
		Category:    "Placing",
		Usage:       "end running jobs and give their nodes back",
		May:         store.Anybody,
		Args:        []verbs.Arg{{Name: "JOB", Kind: verbs.KindJob, Many: true}},
		Description: endsFirst,
		Flags:       []cli.Flag{nowFlag()},
		Access:      verbs.Writes,
		Brief:       true,
		Example:     "placectl release 12 13",
		Run:         (*runner).release,
	}
}

func (r *runner) release(c *cli.Context) error {
	return r.changeJobs(c, atOnce(c, (*store.Tx).Release))
}

// endsFirst says of a verb that a job whose command is executed here ends in its own time.
const endsFirst = "A job whose command a supervisor or run executes is ending first: it keeps its nodes until the command has\n" +
	"ended, at the latest when the job's grace is over."

// nowFlag is of the verbs that take jobs off their nodes.
func nowFlag() cli.Flag {
	return &cli.BoolFlag{Name: "now", Usage: "give the nodes back at once, whatever is still executed there (the time is written --now=TIME here)"}
}

// atOnce has a job give its nodes back without waiting for its command, where --now says
// so.
func atOnce(c *cli.Context, change func(*store.Tx, uint64) (*store.Job, error)) func(*store.Tx, uint64) (*store.Job, error) {
	if !c.Bool("now") {
		return change
	}
	return func(tx *store.Tx, id uint64) (*store.Job, error) {
		j, err := change(tx, id)
		if err == nil && j.Ending {
			return tx.GiveBack(id)
		}
		return j, err
	}
}
