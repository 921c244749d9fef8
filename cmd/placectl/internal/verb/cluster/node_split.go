package cluster

import (
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/urfave/cli/v2"
)

func nodeSplitVerb() *session.Verb {
	return &session.Verb{
		Name:  "split",
		Usage: "split nodes into parts, so that jobs stay inside one",
		May:   engine.Operators,
		Args:  []verbs.Arg{{Name: "NAMES", Kind: verbs.KindNodes, Many: true}},
		Description: "By numa, node g1 becomes g1.0 and g1.1, one for each group of its devices (see `node detect`). " +
			"Each gets its\n" +
			"group's devices and, by its cores, a share of what is only counted, such as memory. Their host is " +
			"g1: a job\n" +
			"larger than a part asks for chunks on one host, as 2:ngpus=2 with --place pack:group=host. A node " +
			"must have\n" +
			"nothing on it, now or planned. `node join` undoes it.",
		Flags: []cli.Flag{
			verbs.Choice(&cli.StringFlag{Name: "by", Required: true,
				Usage: "kind of part: `numa`, the groups of the devices"}, "numa")},
		Access:  verbs.Writes,
		Example: "placectl node split g1 --by numa",
		InTx:    nodeSplit,
	}
}

func nodeSplit(r *session.Run, tx *engine.Tx, c *cli.Context) error {
	if _, err := verbs.Chosen(c, "by"); err != nil {
		return err
	}
	return changeNodes(r, tx, nodesOf(c), func(done *nodeChanges, n *index.Node) error {
		if err := done.note(tx, n, nodeRemoved); err != nil {
			return err
		}
		parts, err := tx.Devices().SplitNode(n.Number)
		for _, p := range parts {
			if err == nil {
				err = done.note(tx, p, nodeAdded)
			}
		}
		return err
	})
}

func nodeJoinVerb() *session.Verb {
	return &session.Verb{
		Name:  "join",
		Usage: "undo node split: make one node of the parts",
		May:   engine.Operators,
		Args:  []verbs.Arg{{Name: "NAMES"}},
		Description: "NAMES are the nodes that were split, such as g1, the host of the parts g1.0 and g1.1. The " +
			"parts must have\n" +
			"nothing on them, now or planned. They must agree in queue, state and all that a node has once.",
		Access:  verbs.Writes,
		Example: "placectl node join g1",
		InTx:    nodeJoin,
	}
}

func nodeJoin(r *session.Run, tx *engine.Tx, c *cli.Context) error {
	names, err := namesToAdd(c.Args().First())
	if err != nil {
		return err
	}
	var done nodeChanges
	for _, name := range names {
		whole, parts, err := tx.Devices().JoinNode(name)
		if err != nil {
			return err
		}
		var made nodeChanges
		if err := made.note(tx, whole, nodeAdded); err != nil {
			return err
		}
		for _, p := range parts { // the parts were in the same state as the whole
			done = append(done, nodeChange{p.Name, made[0].state, made[0].reason, nodeRemoved})
		}
		done = append(done, made...)
	}
	return printNodeChanges(r, done)
}
