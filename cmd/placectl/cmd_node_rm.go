package main

import (
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func nodeRemoveVerb() *verb {
	return &verb{
		Name:    "rm",
		Usage:   "forget nodes on which nothing is, now or planned; all or none",
		Args:    []verbs.Arg{{Name: "NAMES", Kind: verbs.KindNodes}},
		Access:  verbs.Writes,
		Example: "placectl node rm n[100-128]",
		InTx:    (*runner).nodeRemove,
	}
}

func (r *runner) nodeRemove(tx *store.Tx, c *cli.Context) error {
	return r.changeNodes(tx, c.Args().First(), func(done *nodeChanges, n *index.Node) error {
		if err := done.note(tx, n, nodeRemoved); err != nil {
			return err
		}
		return tx.RemoveNode(n.Number)
	})
}
