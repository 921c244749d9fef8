package main

import (
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/urfave/cli/v2"
)

func classDefaultCommand(r *runner) *cli.Command {
	return r.verb(&cli.Command{
		Name:        "default",
		Usage:       "say which class requestors are in that no mapping matches",
		ArgsUsage:   "NAME",
		Description: "An empty NAME ('') stands for the class of the least load, which it is as long as nobody says otherwise.",
		Flags:       []cli.Flag{dryRunFlag()},
		Action:      r.classDefault,
	}, about{Example: "placectl class default tests", Exits: writeExits})
}

func (r *runner) classDefault(c *cli.Context) error {
	if err := wantArgs(c, 1, 1); err != nil {
		return err
	}
	return r.changeShares(c, func(s *fairshare.Settings) error { return s.SetDefaultClass(c.Args().First()) })
}
