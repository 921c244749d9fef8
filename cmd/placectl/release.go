package main

import (
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func releaseCommand(r *runner) *cli.Command {
	return r.verb(&cli.Command{
		Name:      "release",
		Category:  "Placing",
		Usage:     "end running jobs and give their nodes back",
		ArgsUsage: "JOB...",
		Flags:     []cli.Flag{dryRunFlag()},
		Action:    r.release,
	}, about{Example: "placectl release 12 13", Exits: writeExits})
}

func (r *runner) release(c *cli.Context) error {
	return r.changeJobs(c, (*store.Tx).Release)
}
