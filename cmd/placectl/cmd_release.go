package main

import (
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func releaseVerb() *verb {
	return &verb{
		Name:     "release",
		Category: "Placing",
		Usage:    "end running jobs and give their nodes back",
		Args:     []verbs.Arg{{Name: "JOB", Kind: verbs.KindJob, Many: true}},
		Access:   verbs.Writes,
		Example:  "placectl release 12 13",
		Run:      (*runner).release,
	}
}

func (r *runner) release(c *cli.Context) error {
	return r.changeJobs(c, (*store.Tx).Release)
}
