package main

import (
	"slices"

	"github.com/placectl/placectl/cmd/placectl/internal/jobref"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func holdVerb() *verb {
	return &verb{
		Name:        "hold",
		Category:    "Queue",
		Usage:       "keep waiting jobs from starting",
		May:         store.Anybody,
		Args:        []verbs.Arg{{Name: "JOB", Kind: verbs.KindJob, Many: true}},
		Description: "What is planned for them is given up. Running jobs cannot be held: requeue them.",
		Flags:       []cli.Flag{&cli.StringFlag{Name: "reason", Usage: "`WHY`, for others to read"}},
		Access:      verbs.Writes,
		Whole:       true,
		Brief:       true,
		Example:     "placectl hold 12 '13[]'",
		Run: func(r *runner, c *cli.Context) error {
			return r.changeJobs(c, func(tx *store.Tx, id uint64) (*store.Job, error) { return tx.Hold(id, c.String("reason")) })
		},
	}
}

func unholdVerb() *verb {
	return &verb{
		Name:     "unhold",
		Category: "Queue",
		Usage:    "let held jobs wait for their turn",
		May:      store.Anybody,
		Args:     []verbs.Arg{{Name: "JOB", Kind: verbs.KindJob, Many: true}},
		Access:   verbs.Writes,
		Brief:    true,
		Description: "A job of yours that is held as not signed, in a database that others may write, is signed: look first, with\n" +
			"placectl show, at what it executes.",
		Example: "placectl unhold 12",
		Run:     func(r *runner, c *cli.Context) error { return r.changeJobs(c, r.unhold) },
	}
}

func jobThrottleVerb() *verb {
	return &verb{
		Name:  "throttle",
		Usage: "let only so many jobs of an array run at once",
		May:   store.Anybody,
		Args:  []verbs.Arg{{Name: "ARRAY", Kind: verbs.KindJob}, {Name: "N"}},
		Description: "As --array 100%10 of placectl submit does from the start. Jobs that run go on. With 0 none starts any more,\n" +
			"with none any number may run again.",
		Access:  verbs.Writes,
		Whole:   true,
		Brief:   true,
		Example: "placectl job throttle 12[] 5",
		Run:     (*runner).jobThrottle,
	}
}

func (r *runner) jobThrottle(c *cli.Context) error {
	most := int64(-1)
	if text := c.Args().Get(1); text != "none" {
		var err error
		if most, err = wholeAmount(text); err != nil {
			return usagef("%w, or none", err)
		}
	}
	return r.update(c, func(tx *store.Tx) error {
		array, err := jobref.Array(tx, c.Args().First())
		if err != nil {
			return err
		}
		if err := tx.Limits().Throttle(array, most); err != nil {
			return err
		}
		jobs, err := tx.ArrayJobs(array)
		if err != nil {
			return err
		}
		return r.printChanged(tx, slices.DeleteFunc(jobs, func(j *store.Job) bool { return !j.State.Live() }))
	})
}
