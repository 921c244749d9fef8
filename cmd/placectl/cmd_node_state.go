package main

import (
	"errors"

	"github.com/placectl/placectl/cmd/placectl/internal/nodefile"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// nodeStateVerb makes one of the verbs drain, down, offline and resume. What
// runs on the nodes goes on under each of them.
func nodeStateVerb(name string, state index.State, usage string) *verb {
	v := &verb{
		Name:    name,
		Usage:   usage,
		Args:    []verbs.Arg{{Name: "NAMES", Kind: verbs.KindNodes}},
		Access:  verbs.Writes,
		Example: "placectl node " + name + " n[001-016]",
		Run:     func(r *runner, c *cli.Context) error { return r.nodeState(c, state) },
	}
	if state == index.Up || state == index.Drained {
		v.Flags = append(v.Flags, deviceFlag())
		v.Example += "\nplacectl node " + name + " g1 --device ngpus=3"
	}
	if state != index.Up {
		v.Flags = append(v.Flags, &cli.StringFlag{Name: "reason", Usage: "why, in `TEXT` that node list shows; without it, a reason given before stays"})
		v.Example += " --reason 'new disks'"
	}
	if state == index.Down {
		v.Flags = append(v.Flags, &cli.BoolFlag{Name: "lost", Usage: "what is executed on their hosts is lost: jobs are queued again, though a host that lives after all still executes them"})
		v.Description = "With --lost nobody waits for the host any more: use it only where the host is known to be dead."
	}
	return v
}

func (r *runner) nodeState(c *cli.Context, state index.State) error {
	if err := nodefile.CheckWord(c.String("reason")); err != nil {
		return usagef("--reason: %w", err)
	}
	if c.IsSet("device") {
		return r.deviceState(c, state)
	}
	return r.update(c, func(tx *store.Tx) error {
		return r.changeNodes(tx, c.Args().First(), func(done *nodeChanges, n *index.Node) error {
			reason := n.Reason
			if c.IsSet("reason") {
				reason = c.String("reason")
			}
			if state == index.Up {
				reason = ""
			}
			if n.State == state && n.Reason == reason {
				return errors.Join(r.lose(tx, c, n), done.note(tx, n, nodeUnchanged))
			}
			if err := errors.Join(tx.SetNodeState(n.Number, state, reason), r.lose(tx, c, n)); err != nil {
				return err
			}
			n.State, n.Reason = state, reason
			return done.note(tx, n, nodeChanged)
		})
	})
}

// lose ends what is executed on the host of a node, where --lost says that it is dead.
func (r *runner) lose(tx *store.Tx, c *cli.Context, n *index.Node) error {
	if !c.Bool("lost") {
		return nil
	}
	jobs, err := tx.Lose(n.Number, "node "+n.Name+" went down")
	for _, j := range jobs {
		r.notef("job %d is %s: %s", j.ID, j.State, j.Reason)
	}
	return err
}
