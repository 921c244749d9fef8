package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/nodefile"
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// deviceFlag is the flag of the verbs that change devices instead of nodes.
func deviceFlag() cli.Flag {
	return &cli.StringFlag{Name: "device", Usage: "only these devices of the nodes, `RES=IDS` such as ngpus=3 or ngpus=0,2-3"}
}

// readDevices reads --device.
func readDevices(c *cli.Context) (resource string, ids []string, err error) {
	resource, list, ok := strings.Cut(c.String("device"), "=")
	if !ok || resource == "" {
		return "", nil, usagef("--device %s is not RES=IDS, such as ngpus=3", spell.Quoted(c.String("device")))
	}
	if ids, err = devices.ParseIDs(list); err != nil {
		err = usagef("--device: %w", err)
	}
	return resource, ids, err
}

// deviceState drains devices, or puts them back into service.
func (r *runner) deviceState(c *cli.Context, state index.State) error {
	resource, ids, err := readDevices(c)
	if err != nil {
		return err
	}
	return r.update(c, func(tx *store.Tx) error {
		return r.changeDevices(tx, c.Args().First(), func(n *index.Node) (*index.Node, error) {
			if state == index.Up {
				return tx.ResumeDevices(n.Number, resource, ids)
			}
			return tx.DrainDevices(n.Number, resource, ids, c.String("reason"))
		})
	})
}

// cutDevices cuts devices into slices.
func (r *runner) cutDevices(tx *store.Tx, c *cli.Context) error {
	into, number, named := strings.Cut(c.String("slices"), "=")
	if !named {
		into, number = nodefile.DefaultSlices, into
	}
	n, err := strconv.Atoi(number)
	switch {
	case !c.IsSet("device") || !c.IsSet("slices"):
		return usagef("--device and --slices go together: --device ngpus=3 --slices 4")
	case c.NArg() > 1:
		return usagef("--slices is not for key=value as well")
	case err != nil:
		return usagef("--slices %s is not a number of slices", spell.Quoted(c.String("slices")))
	}
	resource, ids, err := readDevices(c)
	if err != nil {
		return err
	}
	return r.changeDevices(tx, c.Args().First(), func(node *index.Node) (*index.Node, error) {
		return tx.CutDevices(node.Number, resource, ids, n, into)
	})
}

// changeDevices changes devices of the nodes of a list, and says whose plans that has
// moved.
func (r *runner) changeDevices(tx *store.Tx, list string, fn func(*index.Node) (*index.Node, error)) error {
	err := r.changeNodes(tx, list, func(done *nodeChanges, old *index.Node) error {
		n, err := fn(old)
		switch {
		case err != nil && errors.Is(err, store.ErrInvalid):
			return usagef("%w", err)
		case err != nil:
			return err
		case index.SameDevices(old, n):
			return done.note(tx, n, nodeUnchanged)
		}
		return done.note(tx, n, nodeChanged)
	})
	if err == nil {
		r.sayMoved(tx)
	}
	return err
}

// sayMoved says whose plans were made anew because devices were taken out of service.
func (r *runner) sayMoved(tx *store.Tx) {
	for _, j := range tx.Moved() {
		what := j.State.String()
		if j.State == store.JobReserved {
			what = "starts at " + string(spell.AppendLocal(nil, j.Start.Unix(), r.loc))
		}
		r.notef("job %d %s now: %s", j.ID, strings.Replace(what, "failed", "has failed", 1), j.Reason)
	}
}
