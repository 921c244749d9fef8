package main

import (
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func nodeSetVerb() *verb {
	return &verb{
		Name:  "set",
		Usage: "change fields and resources of nodes; key= takes a value away",
		Args:  []verbs.Arg{{Name: "NAMES", Kind: verbs.KindNodes}, {Name: "key=value", Optional: true, Many: true}},
		Flags: []cli.Flag{unitFlag(), deviceFlag(),
			&cli.StringFlag{Name: "slices", Usage: "cut the devices into `N` equal slices, which are devices of gslices; RES=N for another resource; 0 makes them whole"}},
		Access:  verbs.Writes,
		Example: "placectl node set n[001-016] queue=fast priority=10\nplacectl node set n7 color=\nplacectl node set g1 ngpus=0-1@0+2-3@1\nplacectl node set g1 --device ngpus=3 --slices 4",
		InTx:    (*runner).nodeSet,
	}
}

func (r *runner) nodeSet(tx *store.Tx, c *cli.Context) error {
	switch {
	case c.IsSet("device") || c.IsSet("slices"):
		return r.cutDevices(tx, c)
	case c.NArg() < 2:
		return usagef("wants at least 2 arguments: NAMES key=value..., such as n1 ncpus=8")
	}
	defs, err := tx.Resources()
	if err != nil {
		return err
	}
	p, err := patchFromArgs(c, defs)
	if err != nil {
		return err
	}
	defer r.sayMoved(tx)
	return r.changeNodes(tx, c.Args().First(), func(done *nodeChanges, old *index.Node) error {
		n, changed, err := p.Change(old)
		if err != nil {
			return usagef("node %s: %w", n.Name, err)
		}
		if !changed {
			return done.note(tx, n, nodeUnchanged)
		}
		if _, err := tx.PutNode(n); err != nil {
			return queueHint(err, p.Queue)
		}
		return done.note(tx, n, nodeChanged)
	})
}
