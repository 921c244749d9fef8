package main

import (
	"github.com/placectl/placectl/cmd/placectl/internal/nodefile"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// nodeStateCommand makes one of the verbs drain, down, offline and resume. What
// runs on the nodes goes on under each of them.
func nodeStateCommand(r *runner, name string, state index.State, usage string) *cli.Command {
	cmd := &cli.Command{Name: name, Usage: usage, ArgsUsage: "NAMES", Flags: []cli.Flag{dryRunFlag()}}
	example := "placectl node " + name + " n[001-016]"
	if state != index.Up {
		cmd.Flags = append(cmd.Flags, &cli.StringFlag{Name: "reason", Usage: "why, in `TEXT` that node list shows; without it, a reason given before stays"})
		example += " --reason 'new disks'"
	}
	cmd.Action = func(c *cli.Context) error {
		if err := wantArgs(c, 1, 1); err != nil {
			return err
		}
		return r.nodeState(c, state)
	}
	return r.verb(cmd, about{Example: example, Exits: writeExits})
}

func (r *runner) nodeState(c *cli.Context, state index.State) error {
	if err := nodefile.CheckWord(c.String("reason")); err != nil {
		return usagef(verbName(c), "--reason: %w", err)
	}
	var changes []nodeChange
	if err := r.update(c, func(tx *store.Tx) error {
		changes = nil
		return eachNamed(tx, c.Args().First(), func(n *index.Node) error {
			change := nodeUnchanged
			reason := n.Reason
			if c.IsSet("reason") {
				reason = c.String("reason")
			}
			if state == index.Up {
				reason = ""
			}
			if n.State != state || n.Reason != reason {
				change = nodeChanged
				if err := tx.SetNodeState(n.Number, state, reason); err != nil {
					return err
				}
				n.State, n.Reason = state, reason
			}
			changes = append(changes, changeOf(tx, n, change))
			return nil
		})
	}); err != nil {
		return err
	}
	return r.printNodeChanges(changes)
}
