package cluster

import (
	"cmp"
	"errors"
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/nodefile"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// nodeStateVerb makes one of the verbs drain, down, offline and resume. None of them stops what runs
// on the nodes.
func nodeStateVerb(name string, state index.State, usage string) *session.Verb {
	v := &session.Verb{
		Name:    name,
		Usage:   usage,
		May:     engine.Operators,
		Args:    []verbs.Arg{{Name: "NAMES", Kind: verbs.KindNodes, Many: true}},
		Access:  verbs.Writes,
		Example: "placectl node " + name + " n[001-016]",
		Run:     func(r *session.Run, c *cli.Context) error { return nodeState(r, c, state) },
	}
	said := "reason `TEXT` to show in node list (an earlier one stays)"
	if state == index.Up {
		said = "reason `TEXT` to show in events"
	}
	v.Flags = append(v.Flags, &cli.StringFlag{Name: "reason", Usage: said})
	v.Example += " --reason 'new disks'"
	if state == index.Up || state == index.Drained {
		v.Flags = append(v.Flags, deviceFlag())
		v.Example += "\nplacectl node " + name + " g1 --device ngpus=3"
	}
	if state == index.Down {
		v.Flags = append(v.Flags, &cli.BoolFlag{Name: "lost", Usage: "give up on their attempts: queue the jobs " +
			"again, even if the host is alive and still executes them"})
		v.Description = "--lost gives up on what the host executes: use it only if the host is dead."
	}
	return v
}

func nodeState(r *session.Run, c *cli.Context, state index.State) error {
	if err := nodefile.CheckWord(c.String("reason")); err != nil {
		return usage.Errorf("--reason: %w", err)
	}
	if c.IsSet("device") {
		if state == index.Up && c.IsSet("reason") {
			return usage.Errorf("--reason is for nodes: devices keep no reason when they are resumed")
		}
		return deviceState(r, c, state)
	}
	return r.Update(c, func(tx *engine.Tx) error {
		return changeNodes(r, tx, nodesOf(c), func(done *nodeChanges, n *index.Node) error {
			reason := n.Reason
			if c.IsSet("reason") {
				reason = c.String("reason")
			}
			if state == index.Up {
				reason = ""
				if err := sayDrained(r, tx, n); err != nil {
					return err
				}
			}
			if n.State == state && n.Reason == reason {
				return errors.Join(lose(r, tx, c, n), done.note(tx, n, nodeUnchanged))
			}
			if err := errors.Join(tx.Nodes().SetState(n.Number, state, cmp.Or(reason, c.String("reason"))),
				lose(r, tx, c, n)); err != nil {
				return err
			}
			n.State, n.Reason = state, reason
			return done.note(tx, n, nodeChanged)
		})
	})
}

// sayDrained names a node's devices that stay drained when the node is resumed.
func sayDrained(r *session.Run, tx *engine.Tx, n *index.Node) error {
	defs, err := tx.Config().Resources()
	if err != nil {
		return err
	}
	for i := range n.Devices {
		def, _ := defs.Get(n.Devices[i].Res)
		for _, d := range n.Devices[i].Set {
			if d.Drained {
				r.Notef("node %s: %s=%s stays drained: placectl node resume %s --device %s=%s", n.Name, def.Name, d.ID,
					n.Name, def.Name, d.ID)
			}
		}
	}
	return nil
}

// lose ends the attempts on a node's host if --lost says that the host is dead.
func lose(r *session.Run, tx *engine.Tx, c *cli.Context, n *index.Node) error {
	if !c.Bool("lost") {
		return nil
	}
	jobs, err := tx.Attempts().Lose(n.Number, "node "+n.Name+" went down")
	for _, j := range jobs {
		r.Notef("job %d %s: %s", j.ID, j.State.Is(), j.Reason)
	}
	return err
}

// deviceFlag returns --device, with which verbs change devices instead of nodes.
func deviceFlag() cli.Flag {
	return &cli.StringFlag{Name: "device",
		Usage: "only these devices of the nodes, `RES=IDS` such as ngpus=3 or ngpus=0,2-3"}
}

// readDevices reads --device.
func readDevices(c *cli.Context) (resource string, ids []string, err error) {
	resource, list, ok := strings.Cut(c.String("device"), "=")
	if !ok || resource == "" {
		return "", nil, usage.Errorf("--device %s is not RES=IDS, such as ngpus=3", text.Quoted(c.String("device")))
	}
	if ids, err = devices.ParseIDs(list); err != nil {
		err = usage.Errorf("--device: %w", err)
	}
	return resource, ids, err
}

// deviceState drains devices, or puts them back into service.
func deviceState(r *session.Run, c *cli.Context, state index.State) error {
	resource, ids, err := readDevices(c)
	if err != nil {
		return err
	}
	return r.Update(c, func(tx *engine.Tx) error {
		return changeDevices(r, tx, nodesOf(c), func(n *index.Node) (*index.Node, error) {
			if state == index.Up {
				return tx.Devices().Resume(n.Number, resource, ids)
			}
			return tx.Devices().Drain(n.Number, resource, ids, c.String("reason"))
		})
	})
}

// cutDevices cuts devices into slices.
func cutDevices(r *session.Run, tx *engine.Tx, c *cli.Context) error {
	into, number, named := strings.Cut(c.String("slices"), "=")
	if !named {
		into, number = nodefile.DefaultSlices, into
	}
	n, err := strconv.Atoi(number)
	switch {
	case !c.IsSet("device") || !c.IsSet("slices"):
		return usage.Errorf("--device and --slices go together: --device ngpus=3 --slices 4")
	case c.NArg() > 1:
		return usage.Errorf("--slices excludes key=value")
	case err != nil:
		return usage.Errorf("--slices %s is not a number of slices", text.Quoted(c.String("slices")))
	}
	resource, ids, err := readDevices(c)
	if err != nil {
		return err
	}
	return changeDevices(r, tx, nodesOf(c), func(node *index.Node) (*index.Node, error) {
		return tx.Devices().Cut(node.Number, resource, ids, n, into)
	})
}

// changeDevices changes devices of the nodes of a list, and names the jobs that were planned again.
func changeDevices(r *session.Run, tx *engine.Tx, list string, fn func(*index.Node) (*index.Node, error)) error {
	err := changeNodes(r, tx, list, func(done *nodeChanges, old *index.Node) error {
		n, err := fn(old)
		switch {
		case err != nil && errors.Is(err, engine.ErrInvalid):
			return usage.Errorf("%w", err)
		case err != nil:
			return err
		case index.SameDevices(old, n):
			return done.note(tx, n, nodeUnchanged)
		}
		return done.note(tx, n, nodeChanged)
	})
	if err == nil {
		r.SayMoved(tx)
	}
	return err
}
