package main

import (
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func nodeSetVerb() *verb {
	return &verb{
		Name:    "set",
		Usage:   "change fields and resources of nodes; key= takes a value away",
		Args:    []arg{{Name: "NAMES", Kind: kindNodes}, {Name: "key=value", Many: true}},
		Flags:   []cli.Flag{unitFlag()},
		Access:  writes,
		Example: "placectl node set n[001-016] queue=fast priority=10\nplacectl node set n7 color=",
		Run:     (*runner).nodeSet,
	}
}

func (r *runner) nodeSet(c *cli.Context) error {
	var changes nodeChanges
	if err := r.update(c, func(tx *store.Tx) error {
		changes = nil
		defs, err := tx.Resources()
		if err != nil {
			return err
		}
		p, err := patchFromArgs(c, defs)
		if err != nil {
			return err
		}
		return eachNamed(tx, c.Args().First(), func(old *index.Node) error {
			n, changed, err := p.Change(old)
			if err != nil {
				return usagef("node %s: %w", n.Name, err)
			}
			if !changed {
				return changes.note(tx, n, nodeUnchanged)
			}
			if _, err := tx.PutNode(n); err != nil {
				return queueHint(err, p.Queue)
			}
			return changes.note(tx, n, nodeChanged)
		})
	}); err != nil {
		return err
	}
	return r.printNodeChanges(changes)
}
