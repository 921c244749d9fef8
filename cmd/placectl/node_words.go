package main

import (
	"github.com/placectl/placectl/cmd/placectl/internal/nodefile"
	"github.com/placectl/placectl/index"
	"github.com/urfave/cli/v2"
)

const unitName = "unit"

// unitFlag is a flag of the verbs that read descriptions of nodes.
func unitFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: unitName, Usage: "sizes without a unit are in `U`, such as gb; mem=gb for one resource; may be repeated"}
}

// readUnits reads --unit.
func readUnits(c *cli.Context, defs *index.Defs) (*nodefile.Units, error) {
	u, err := nodefile.ParseUnits(c.StringSlice(unitName), defs)
	if err != nil {
		return nil, usagef("--unit %w", err)
	}
	return u, nil
}

// patchFromArgs reads the key=value words behind the first argument.
func patchFromArgs(c *cli.Context, defs *index.Defs) (*nodefile.Patch, error) {
	units, err := readUnits(c, defs)
	if err != nil {
		return nil, err
	}
	p, err := nodefile.ParseWords(c.Args().Tail(), defs, units)
	if err != nil {
		return nil, usagef("%w", err)
	}
	return p, nil
}
