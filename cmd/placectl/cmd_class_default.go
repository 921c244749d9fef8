package main

import (
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/urfave/cli/v2"
)

func classDefaultVerb() *verb {
	return &verb{
		Name:        "default",
		Usage:       "say which class requestors are in that no mapping matches",
		Args:        []verbs.Arg{{Name: "NAME", Kind: verbs.KindClass}},
		Description: "An empty NAME ('') stands for the class of the least load, which it is as long as nobody says otherwise.",
		Access:      verbs.Writes,
		Example:     "placectl class default tests",
		Run:         (*runner).classDefault,
	}
}

func (r *runner) classDefault(c *cli.Context) error {
	return r.changeShares(c, func(s *fairshare.Settings) error { return s.SetDefaultClass(c.Args().First()) })
}
