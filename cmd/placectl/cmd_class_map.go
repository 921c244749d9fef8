package main

import (
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/urfave/cli/v2"
)

func classMapVerb() *verb {
	return &verb{
		Name:  "map",
		Usage: "map requestors to classes; of several that match, the first counts",
		Args:  []verbs.Arg{{Name: "NAME=REGEXP", Many: true, Unless: "replace"}},
		Description: "REGEXP (Go's, which is RE2) is looked for anywhere in the requestor, a job's user, unless it says ^ and $. New\n" +
			"mappings go behind those there are. --replace without any forgets all.",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "replace", Usage: "these are all mappings there are to be"},
			&cli.BoolFlag{Name: "first", Usage: "put these in front of those there are"}},
		Exclusive: []string{"replace first"},
		Access:    verbs.Writes,
		Example:   "placectl class map tests='^ci-' teaching='^(course|exam)' research=.*",
		Run:       (*runner).classMap,
	}
}

func (r *runner) classMap(c *cli.Context) error {
	pairs, err := classPairs(c.Args().Slice(), "REGEXP")
	if err != nil {
		return usagef("%w", err)
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
