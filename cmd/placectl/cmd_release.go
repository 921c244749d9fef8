package main

import (
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func releaseVerb() *verb {
	return &verb{
		Name:     "release",
		Category: "Placing",
		Usage:    "end running jobs and give their nodes back",
		Args:     []arg{{Name: "JOB", Kind: kindJob, Many: true}},
		Access:   writes,
		Example:  "placectl release 12 13",
		Run:      (*runner).release,
	}
}

func (r *runner) release(c *cli.Context) error {
	return r.changeJobs(c, (*store.Tx).Release)
}
