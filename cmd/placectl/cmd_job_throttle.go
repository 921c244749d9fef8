package main

import (
	"github.com/placectl/placectl/cmd/placectl/internal/jobref"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func jobThrottleVerb() *verb {
	return &verb{
		Name:  "throttle",
		Usage: "let only so many jobs of an array run at once",
		Args:  []verbs.Arg{{Name: "ARRAY", Kind: verbs.KindJob}, {Name: "N"}},
		Description: "As --array 100%10 of placectl submit does from the start. Jobs that run go on. With 0 none starts any more,\n" +
			"with none any number may run again.",
		Access:  verbs.Writes,
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
		p := r.jobs(tx, false, "job state start end nodes reason*")
		for _, j := range jobs {
			if j.State.Live() {
				p.Print(j)
			}
		}
		return p.Close()
	})
}
