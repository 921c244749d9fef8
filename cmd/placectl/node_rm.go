package main

import (
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func nodeRemoveVerb() *verb {
	return &verb{
		Name:    "rm",
		Usage:   "forget nodes on which nothing is, now or planned; all or none",
		Args:    []arg{{Name: "NAMES", Kind: kindNodes}},
		Access:  writes,
		Example: "placectl node rm n[100-128]",
		Run:     (*runner).nodeRemove,
	}
}

func (r *runner) nodeRemove(c *cli.Context) error {
	var changes nodeChanges
	if err := r.update(c, func(tx *store.Tx) error {
		changes = nil
		return eachNamed(tx, c.Args().First(), func(n *index.Node) error {
			if err := changes.note(tx, n, nodeRemoved); err != nil {
				return err
			}
			return tx.RemoveNode(n.Number)
		})
	}); err != nil {
		return err
	}
	return r.printNodeChanges(changes)
}
