package cluster

import (
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/listing"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

func nodeListVerb() *session.Verb {
	return &session.Verb{
		Name:  "list",
		Usage: "list nodes and what is free on them",
		May:   engine.Anybody,
		Args:  []verbs.Arg{{Name: "NAMES", Kind: verbs.KindNodes, Optional: true, Many: true}},
		Description: "A node is free (nothing is on it; FREE_UNTIL says until when), partly (in use, and jobs could " +
			"have some of\n" +
			"it), busy (in use otherwise), down, offline or drained: docs/states.md defines all the words. Each " +
			"resource of\n" +
			"a listed node has a column, and NAME_free if jobs use it up. A table leaves out columns that say " +
			"nothing about\n" +
			"the listed nodes.",
		Flags: []cli.Flag{
			verbs.Choices(&cli.StringSliceFlag{Name: "state", Usage: "only nodes in a state `S`: " + strings.Join(
				NodeStates(), ", ") + ", or up for the first three; S,S or repeated for any of several"},
				append(NodeStates(), "up")...),
			&cli.StringFlag{Name: "queue", Usage: "only nodes of queue `Q`; '' for nodes without one"},
			&cli.StringSliceFlag{Name: "feature",
				Usage: "only nodes with feature `F`; F,F or repeated: with all of them"},
		},
		Access:  verbs.Reads,
		Example: "placectl node list --state free,partly --feature ssd\nplacectl node list n[001-016] -o json",
		Run:     nodeList,
	}
}

// nodeFilter selects nodes.
type nodeFilter struct {
	states   []string // any of them; all when empty
	byQueue  bool
	queue    string
	features []string // all of them
}

func readNodeFilter(c *cli.Context) (nodeFilter, error) {
	f := nodeFilter{byQueue: c.IsSet("queue"), queue: c.String("queue")}
	for _, list := range c.StringSlice("feature") {
		f.features = append(f.features, text.SplitList(list)...)
	}
	for _, list := range c.StringSlice("state") {
		for _, s := range text.SplitList(list) {
			switch {
			case s == "up":
				f.states = append(f.states, "free", "partly", "busy")
			case slices.Contains(NodeStates(), s):
				f.states = append(f.states, s)
			default:
				return f, usage.Errorf("--state: %w", text.NotOneOf(s, append([]string{"up"}, NodeStates()...)))
			}
		}
	}
	return f, nil
}

// takes reports whether a node is selected as far as its row tells.
func (f *nodeFilter) takes(n *index.Node) bool {
	if f.byQueue && n.Queue != f.queue {
		return false
	}
	lacks := func(w string) bool { return !slices.Contains(n.Features, w) }
	return !slices.ContainsFunc(f.features, lacks)
}

func nodeList(r *session.Run, c *cli.Context) error {
	filter, err := readNodeFilter(c)
	if err != nil {
		return err
	}
	return r.View(func(tx *engine.Tx) error {
		return printNodes(r, tx, nodesOf(c), &filter)
	})
}

// printNodes reads the nodes of a list, or all, twice: to find the columns, and to print.
func printNodes(r *session.Run, tx *engine.Tx, names string, filter *nodeFilter) error {
	defs, err := tx.Config().Resources()
	if err != nil {
		return err
	}
	a := r.Audience()
	var measure *output.Printer
	if a.Table && a.Width > 0 {
		measure = r.Printer(output.Result{})
	}
	survey, some := listing.NewSurvey(defs, listing.NodeFields.Pick(listing.NodeListColumns), measure), false
	err = eachNode(tx, names, filter, func(n *listing.Node) error {
		some = true
		survey.See(n)
		return nil
	})
	if err != nil {
		return err
	}
	cols := survey.Columns(a.Brief)
	if a.Document || !a.Brief && survey.Named {
		cols = append(cols, listing.DeviceField(false))
	}
	cols = append(cols, survey.Resources()...)
	if measure != nil && some {
		var out []string
		if cols, out = survey.Fit(cols, a.Width); len(out) > 0 {
			r.Notef("no room for the columns %s: -o line shows all", strings.Join(out, ", "))
		}
	}
	p := r.Printer(output.Result{Columns: cols.Columns()})
	if err := eachNode(tx, names, filter, func(n *listing.Node) error { return cols.Print(p, n) }); err != nil {
		return err
	}
	return p.Close()
}

// eachNode calls fn for the nodes of a list, or all, that the filter selects. A node is valid until
// fn returns.
func eachNode(tx *engine.Tx, names string, f *nodeFilter, fn func(*listing.Node) error) error {
	if f.byQueue && f.queue != "" {
		if _, err := tx.Queues().Get(f.queue); err != nil {
			return err
		}
	}
	var row listing.Node
	take := func(n *index.Node) (err error) {
		if !f.takes(n) {
			return nil
		}
		row = listing.Node{Node: n}
		if row.Occupancy, err = tx.Nodes().Occupancy(n); err != nil {
			return err
		}
		if len(f.states) > 0 && !slices.Contains(f.states, row.Occupancy.State.String()) {
			return nil
		}
		if row.Devices, err = tx.Devices().OfNode(n); err != nil {
			return err
		}
		return fn(&row)
	}
	if names == "" {
		return tx.Nodes().Scan(take)
	}
	return session.EachNamed(tx, names, take)
}
