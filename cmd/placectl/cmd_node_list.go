package main

import (
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/nouns"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func nodeListVerb() *verb {
	return &verb{
		Name:  "list",
		Usage: "nodes, and what is free of them",
		Args:  []verbs.Arg{{Name: "NAMES", Kind: verbs.KindNodes, Optional: true}},
		Description: "A node is free (nothing is on it now; FREE_UNTIL says when that changes), partly (in use, and jobs could have some\n" +
			"of it), busy (in use otherwise), down, offline or drained: docs/states.md has the words for everything.\n" +
			"One column for each resource that a listed node has, and NAME_free for those that jobs use up. A table leaves\n" +
			"out the columns that say nothing of any listed node.",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "state", Usage: "only nodes in a state `S`: " + strings.Join(nodeStates(), ", ") + ", or up for the first three; S,S or repeated for any of several"},
			&cli.StringFlag{Name: "queue", Usage: "only nodes of queue `Q`; '' for those of none"},
			&cli.StringSliceFlag{Name: "feature", Usage: "only nodes with feature `F`; F,F or repeated for all of several"},
		},
		Access:  verbs.Reads,
		Example: "placectl node list --state free,partly --feature ssd\nplacectl node list n[001-016] -o json",
		Run:     (*runner).nodeList,
	}
}

// nodeFilter says which nodes are wanted.
type nodeFilter struct {
	states   []string // any of them; all when empty
	byQueue  bool
	queue    string
	features []string // all of them
}

func readNodeFilter(c *cli.Context) (nodeFilter, error) {
	f := nodeFilter{byQueue: c.IsSet("queue"), queue: c.String("queue")}
	for _, list := range c.StringSlice("feature") {
		f.features = append(f.features, splitList(list)...)
	}
	for _, list := range c.StringSlice("state") {
		for _, s := range splitList(list) {
			switch {
			case s == "up":
				f.states = append(f.states, "free", "partly", "busy")
			case slices.Contains(nodeStates(), s):
				f.states = append(f.states, s)
			default:
				return f, usagef("--state: %w", spell.NotOneOf(s, append([]string{"up"}, nodeStates()...)))
			}
		}
	}
	return f, nil
}

// takes reports whether a node is wanted, so far as its row tells.
func (f *nodeFilter) takes(n *index.Node) bool {
	if f.byQueue && n.Queue != f.queue {
		return false
	}
	for _, w := range f.features {
		if !slices.Contains(n.Features, w) {
			return false
		}
	}
	return true
}

func (r *runner) nodeList(c *cli.Context) error {
	filter, err := readNodeFilter(c)
	if err != nil {
		return err
	}
	var rows []nouns.Node
	var defs *index.Defs
	// The rows are gathered first, so that a slow reader of them does not keep
	// writers away from the database.
	if err := r.view(func(tx *store.Tx) (err error) {
		if defs, err = tx.Resources(); err != nil {
			return err
		}
		rows, err = gatherNodes(tx, c.Args().First(), &filter)
		return err
	}); err != nil {
		return err
	}
	cols := nouns.NodeFields.Pick(nouns.NodeListColumns)
	if r.audience().Brief {
		cols = nouns.DropSpare(cols, rows)
	} else if nouns.SomeNamed(rows) {
		cols = append(cols, nouns.DeviceField(false))
	}
	cols = append(cols, nouns.ResourceColumns(defs, rows)...)
	if a := r.audience(); a.table && a.width > 0 && len(rows) > 0 {
		var out []string
		if cols, out = nouns.FitNodes(r.printer(output.Result{}), cols, rows, a.width); len(out) > 0 {
			r.notef("no room for the columns %s: -o line shows all", strings.Join(out, ", "))
		}
	}
	return r.printNodeRows(false, cols, rows)
}

// gatherNodes reads the nodes of a list, or all, that the filter takes.
func gatherNodes(tx *store.Tx, names string, f *nodeFilter) ([]nouns.Node, error) {
	if f.byQueue && f.queue != "" {
		if _, err := tx.Queue(f.queue); err != nil {
			return nil, err
		}
	}
	var rows []nouns.Node
	take := func(n *index.Node) error {
		if !f.takes(n) {
			return nil
		}
		on, err := tx.Occupancy(n)
		if err != nil {
			return err
		}
		row := nouns.Node{Node: n, Occupancy: on}
		if row.Devices, err = tx.DevicesOfNode(n); err != nil {
			return err
		}
		if len(f.states) == 0 || slices.Contains(f.states, row.Occupancy.State.String()) {
			rows = append(rows, row)
		}
		return nil
	}
	var err error
	if names == "" {
		err = tx.EachNode(take)
	} else {
		err = eachNamed(tx, names, take)
	}
	return rows, err
}

// printNodeRows prints rows in columns, the name first.
func (r *runner) printNodeRows(record bool, cols output.Fields[*nouns.Node], rows []nouns.Node) error {
	p := r.printer(output.Result{Record: record, Columns: cols.Columns()})
	for i := range rows {
		if err := cols.Print(p, &rows[i]); err != nil {
			return err
		}
	}
	return p.Close()
}
