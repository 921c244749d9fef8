package main

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/urfave/cli/v2"
)

func classSetVerb() *verb {
	return &verb{
		Name:  "set",
		Usage: "give classes their loads, and make those that are new",
		Args:  []verbs.Arg{{Name: "NAME=LOAD", Many: true}},
		Description: "LOAD is a whole number from 0 on, relative to the others: 2 and 1 are the same as 60 and 30. A class of load 0\n" +
			"gets what nobody else wants. Classes that are not named keep theirs.",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "replace", Usage: "these are all classes there are to be"},
			&cli.StringFlag{Name: "allow", Usage: "only these may ask for the classes that are named, `user:U,group:G` ('': anybody)"}},
		Access:  verbs.Writes,
		Example: "placectl class set research=60 teaching=30 tests=10\nplacectl class set --replace day=2 night=1",
		Run:     (*runner).classSet,
	}
}

func (r *runner) classSet(c *cli.Context) error {
	given, err := classLoads(c)
	if err != nil {
		return err
	}
	return r.changeShares(c, func(s *fairshare.Settings) error {
		var loads []fairshare.ClassLoad
		if !c.Bool("replace") {
			loads = s.ClassLoads()
		}
		for _, g := range given {
			at := slices.IndexFunc(loads, func(l fairshare.ClassLoad) bool { return l.Class == g.Class })
			if at < 0 {
				loads = append(loads, g)
			} else {
				loads[at] = g
			}
		}
		if c.IsSet("allow") {
			for _, g := range given {
				s.SetAllowed(g.Class, splitList(c.String("allow")))
			}
		}
		return s.SetClassLoads(loads)
	})
}

// classLoads reads NAME=LOAD, each name once.
func classLoads(c *cli.Context) ([]fairshare.ClassLoad, error) {
	pairs, err := classPairs(c.Args().Slice(), "LOAD")
	if err != nil {
		return nil, usagef("%w", err)
	}
	var loads []fairshare.ClassLoad
	for _, p := range pairs {
		load, err := parseClassLoad(p)
		if err != nil {
			return nil, usagef("%w", err)
		}
		if slices.ContainsFunc(loads, func(l fairshare.ClassLoad) bool { return l.Class == p.class }) {
			return nil, usagef("class %s is given two loads", spell.Quoted(p.class))
		}
		loads = append(loads, load)
	}
	return loads, nil
}

func parseClassLoad(p classPair) (fairshare.ClassLoad, error) {
	n, err := strconv.Atoi(p.value)
	if err != nil || n < 0 || n > fairshare.MaxCount {
		return fairshare.ClassLoad{}, fmt.Errorf("load of %s: %s is not a whole number from 0 to %d", p.class, spell.Quoted(p.value), int64(fairshare.MaxCount))
	}
	return fairshare.ClassLoad{Class: p.class, Load: n}, nil
}
