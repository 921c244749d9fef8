package main

import (
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func nodeRemoveCommand(r *runner) *cli.Command {
	return r.verb(&cli.Command{
		Name:      "rm",
		Usage:     "forget nodes on which nothing is, now or planned; all or none",
		ArgsUsage: "NAMES",
		Flags:     []cli.Flag{dryRunFlag()},
		Action:    r.nodeRemove,
	}, about{Example: "placectl node rm n[100-128]", Exits: writeExits})
}

func (r *runner) nodeRemove(c *cli.Context) error {
	if err := wantArgs(c, 1, 1); err != nil {
		return err
	}
	var changes []nodeChange
	if err := r.update(c, func(tx *store.Tx) error {
		changes = nil
		return eachNamed(tx, c.Args().First(), func(n *index.Node) error {
			changes = append(changes, changeOf(tx, n, nodeRemoved))
			return tx.RemoveNode(n.Number)
		})
	}); err != nil {
		return err
	}
	return r.printNodeChanges(changes)
}
