package cluster

import (
	"errors"
	"fmt"

	"github.com/placectl/placectl/cmd/placectl/internal/nodefile"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/urfave/cli/v2"
)

func nodeAddVerb() *session.Verb {
	return &session.Verb{
		Name:  "add",
		Usage: "add nodes with the same values, all or none",
		May:   engine.Operators,
		Args: []verbs.Arg{{Name: "NAMES", Kind: verbs.KindNodes},
			{Name: "key=value", Optional: true, Many: true}},
		Flags:       []cli.Flag{session.UnitFlag()},
		Access:      verbs.Writes,
		Description: nodeFields,
		Example:     "placectl node add n[001-128] ncpus=8 mem=32gb 'features=ssd|ib'",
		Run:         nodeAdd,
	}
}

func nodeAdd(r *session.Run, c *cli.Context) error {
	names, err := namesToAdd(c.Args().First())
	if err != nil {
		return err
	}
	return r.Update(c, func(tx *engine.Tx) error {
		defs, err := tx.Config().Resources()
		if err != nil {
			return err
		}
		p, err := patchFromArgs(c, defs)
		if err != nil {
			return err
		}
		changes, err := addNodes(tx, names, p)
		if err != nil {
			return err
		}
		return printNodeChanges(r, changes)
	})
}

// namesToAdd writes out the names of new nodes.
func namesToAdd(list string) ([]string, error) {
	names, err := index.ExpandNodeList(list)
	if err != nil {
		return nil, usage.Errorf("%w", err)
	}
	if err := noPartOfNode(list); err != nil {
		return nil, err
	}
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if err := nodefile.CheckName(name); err != nil {
			return nil, usage.Errorf("%w", err)
		}
		if seen[name] {
			return nil, usage.Errorf("%s appears in the list twice", name)
		}
		seen[name] = true
	}
	return names, nil
}

// noPartOfNode refuses g1[0]: PBS means a part of the node g1 by it, but as a node list it is g10.
func noPartOfNode(list string) error {
	items, _ := index.SplitNodeList(list)
	for _, item := range items {
		if node, number, is := nodefile.Part(item); is {
			return usage.Errorf("%s would be the node %s%s: write that, or %[2]s.%[3]s for a part of %[2]s", item, node,
				number)
		}
	}
	return nil
}

func addNodes(tx *engine.Tx, names []string, p *nodefile.Patch) (nodeChanges, error) {
	var taken []string
	changes := make(nodeChanges, 0, len(names))
	for _, name := range names {
		_, exists, err := tx.Nodes().Number(name)
		if err != nil {
			return nil, err
		}
		if exists {
			taken = append(taken, name)
		}
		if len(taken) > 0 {
			continue // go on, to name them all
		}
		n, err := p.Create(name)
		if err != nil {
			return nil, usage.Errorf("%w", err)
		}
		if _, err := tx.Nodes().Put(n); err != nil {
			return nil, queueHint(err, n.Queue)
		}
		if err := changes.note(tx, n, nodeAdded); err != nil {
			return nil, err
		}
	}
	if len(taken) > 0 {
		what := "node "
		if len(taken) > 1 {
			what = "nodes "
		}
		return nil, fmt.Errorf("%s%s: %w; nothing was added", what, foldNames(taken), engine.ErrExists)
	}
	return changes, nil
}

// queueHint adds to an unknown queue's error how to make it.
func queueHint(err error, queue string) error {
	if queue == "" || !errors.Is(err, engine.ErrNotFound) {
		return err
	}
	return &hinted{err, "; to make it: placectl queue add " + queue}
}

// hinted is an error followed by a piece of advice.
type hinted struct {
	error
	hint string
}

func (e *hinted) Error() string { return e.error.Error() + e.hint }

func (e *hinted) Unwrap() error { return e.error }

// readUnits reads --unit.
func readUnits(c *cli.Context, defs *index.Defs) (*nodefile.Units, error) {
	u, err := nodefile.ParseUnits(c.StringSlice(session.UnitName), defs)
	if err != nil {
		return nil, usage.Errorf("--unit %w", err)
	}
	return u, nil
}

// patchFromArgs reads the key=value words behind the first argument.
func patchFromArgs(c *cli.Context, defs *index.Defs) (*nodefile.Patch, error) {
	units, err := readUnits(c, defs)
	if err != nil {
		return nil, err
	}
	p, err := nodefile.ParseWords(c.Args().Tail(), defs, units)
	if err != nil {
		return nil, usage.Errorf("%w", err)
	}
	return p, nil
}
