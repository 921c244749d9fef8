package main

import (
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/urfave/cli/v2"
)

func classMapCommand(r *runner) *cli.Command {
	return r.verb(&cli.Command{
		Name:      "map",
		Usage:     "map requestors to classes; of several that match, the first counts",
		ArgsUsage: "NAME=REGEXP...",
		Description: "REGEXP (Go's, which is RE2) is looked for anywhere in the requestor, a job's user, unless it says ^ and $. New\n" +
			"mappings go behind those there are. --replace without any forgets all.",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "replace", Usage: "these are all mappings there are to be"},
			&cli.BoolFlag{Name: "first", Usage: "put these in front of those there are"}, dryRunFlag()},
		Action: r.classMap,
	}, about{Example: "placectl class map tests='^ci-' teaching='^(course|exam)' research=.*", Exits: writeExits})
}

func (r *runner) classMap(c *cli.Context) error {
	least := 1
	if c.Bool("replace") {
		least = 0
	}
	if err := wantArgs(c, least, -1); err != nil {
		return err
	}
	if countSet(c, "replace", "first") > 1 {
		return usagef(verbName(c), "--replace and --first exclude each other")
	}
	pairs, err := classPairs(c.Args().Slice(), "REGEXP")
	if err != nil {
		return usagef(verbName(c), "%w", err)
	}
	var given []fairshare.Mapping
	for _, p := range pairs {
		given = append(given, fairshare.Mapping{Class: p.class, Requestor: p.value})
	}
	return r.changeShares(c, func(s *fairshare.Settings) error {
		switch {
		case c.Bool("replace"):
			return s.SetRequestorMap(given)
		case c.Bool("first"):
			return s.SetRequestorMap(append(given, s.RequestorMap()...))
		}
		return s.SetRequestorMap(append(s.RequestorMap(), given...))
	})
}
