package main

import (
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func nodeSetVerb() *verb {
	return &verb{
		Name:    "set",
		Usage:   "change fields and resources of nodes; key= takes a value away",
		Args:    []verbs.Arg{{Name: "NAMES", Kind: verbs.KindNodes}, {Name: "key=value", Many: true}},
		Flags:   []cli.Flag{unitFlag()},
		Access:  verbs.Writes,
		Example: "placectl node set n[001-016] queue=fast priority=10\nplacectl node set n7 color=",
		InTx:    (*runner).nodeSet,
	}
}

func (r *runner) nodeSet(tx *store.Tx, c *cli.Context) error {
	defs, err := tx.Resources()
	if err != nil {
		return err
	}
	p, err := patchFromArgs(c, defs)
	if err != nil {
		return err
	}
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
