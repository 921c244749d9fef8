package cluster

import (
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// Node declares the verb node.
func Node() *session.Verb {
	return &session.Verb{
		Name:        "node",
		Category:    "Cluster",
		Usage:       "manage the nodes of the cluster",
		Description: "NAMES is a node list, such as node[001-128,200],rack2-n7, or all.",
		Example:     "placectl node add n[01-16] ncpus=8 mem=32gb\nplacectl node list",
		Verbs: []*session.Verb{
			nodeImportVerb(), nodeAddVerb(), nodeSetVerb(), nodeRemoveVerb(),
			nodeListVerb(), nodeShowVerb(), nodeDetectVerb(), nodeSplitVerb(), nodeJoinVerb(),
			nodeStateVerb("drain", index.Drained, "let nodes finish what they run, and take nothing new"),
			nodeStateVerb("down", index.Down, "mark nodes as failed"),
			nodeStateVerb("offline", index.Offline, "take nodes out of service"),
			nodeStateVerb("resume", index.Up, "let nodes take jobs again"),
			nodeLoadVerb(),
			nodeResetUsageVerb(),
		},
	}
}

// nodeFields is help on key=value.
const nodeFields = "In key=value, the key is queue, priority, state, speed, procspeed, load, usage, features (a|b), " +
	"access, sharing,\n" +
	"priorityf, reason, or a declared resource in any case. access is shared, singleuser, singlejob or singletask;\n" +
	"sharing is default_shared, default_excl, default_exclhost, ignore_excl, force_excl or force_exclhost, as in PBS."

// nodeChange is a change that a verb made to a node.
type nodeChange struct {
	name, state, reason string
	change              string
}

// The words for changes of nodes.
const (
	nodeAdded     = "added"
	nodeChanged   = "changed"
	nodeUnchanged = "unchanged"
	nodeRemoved   = "removed"
)

// nodeChanges lists a verb's changes, node by node.
type nodeChanges []nodeChange

// note adds a node as it is after a change.
func (list *nodeChanges) note(tx *engine.Tx, n *index.Node, change string) error {
	on, err := tx.Nodes().Occupancy(n)
	*list = append(*list, nodeChange{n.Name, on.State.String(), n.Reason, change})
	return err
}

// changeNodes calls fn for every node of a list, and prints the changes that fn notes.
func changeNodes(r *session.Run, tx *engine.Tx, list string, fn func(*nodeChanges, *index.Node) error) error {
	var done nodeChanges
	if err := session.EachNamed(tx, list, func(n *index.Node) error { return fn(&done, n) }); err != nil {
		return err
	}
	return printNodeChanges(r, done)
}

var nodeChangeFields = output.Fields[nodeChange]{
	{Name: "name", Value: func(c nodeChange) any { return c.name }},
	{Name: "state", Value: func(c nodeChange) any { return c.state }},
	{Name: "reason", Value: func(c nodeChange) any { return output.OrNil(c.reason) }},
	{Name: "change", Value: func(c nodeChange) any { return c.change }},
}

// printNodeChanges prints changes of nodes. People get one line for all nodes with the same change.
func printNodeChanges(r *session.Run, changes nodeChanges) error {
	print := func(columns string) func() error {
		return func() error { return session.PrintAll(r, nodeChangeFields.Pick(columns), changes...) }
	}
	all, short := print("name state reason change"), print("name state reason* change")
	if slices.ContainsFunc(changes, func(c nodeChange) bool { return c.reason != "" }) {
		short = all
	}
	return r.Either(session.IsTable, func() error { return printAlike(r, changes) }, func() error {
		return r.Either(brief, short, all)
	})
}

// alikeNodes are nodes with the same change.
type alikeNodes struct {
	nodeChange
	names []string
}

var alikeFields = output.Fields[*alikeNodes]{
	{Name: "nodes", Kind: output.List, Nodes: true, Value: func(a *alikeNodes) any { return a.names }},
	{Name: "count", Kind: output.Integer, Value: func(a *alikeNodes) any { return len(a.names) }},
	{Name: "state", Value: func(a *alikeNodes) any { return a.state }},
	{Name: "change", Value: func(a *alikeNodes) any { return a.change }},
	{Name: "reason", Value: func(a *alikeNodes) any { return output.OrNil(a.reason) }},
}

func printAlike(r *session.Run, changes nodeChanges) error {
	var order []*alikeNodes
	by := make(map[nodeChange]*alikeNodes)
	columns := "nodes count state change"
	for _, c := range changes {
		name := c.name
		if c.name = ""; by[c] == nil {
			by[c] = &alikeNodes{nodeChange: c}
			order = append(order, by[c])
		}
		if c.reason != "" {
			columns = "nodes count state change reason"
		}
		by[c].names = append(by[c].names, name)
	}
	return session.PrintAll(r, alikeFields.Pick(columns), order...)
}

// brief reports whether a form is for people, and leaves out what says nothing.
func brief(f output.Format) bool { return f.Traits().Brief }

// NodeStates returns the words for the states of nodes. See docs/states.md.
func NodeStates() []string {
	var out []string
	for state := range engine.NodeStates {
		out = append(out, state.String())
	}
	return out
}

// foldNames lists names for a message. It cuts a long list and says so.
func foldNames(names []string) string {
	const most = 20
	if len(names) <= most {
		return index.FoldNodeList(names)
	}
	if s := index.FoldNodeList(names); strings.Count(s, ",") < most {
		return s
	}
	return index.FoldNodeList(names[:most]) + " and " + text.Plural(len(names)-most, "other")
}

func nodeSetVerb() *session.Verb {
	return &session.Verb{
		Name:  "set",
		Usage: "change fields and resources of nodes",
		May:   engine.Operators,
		Args:  []verbs.Arg{{Name: "NAMES", Kind: verbs.KindNodes}, {Name: "key=value", Optional: true, Many: true}},
		Flags: []cli.Flag{session.UnitFlag(), deviceFlag(),
			&cli.StringFlag{Name: "slices", Usage: "cut the devices into `N` equal slices, devices of gslices (RES=N " +
				"for another resource); 0 makes them whole"}},
		Description: nodeFields + " key= removes the value.",
		Access:      verbs.Writes,
		Example: "placectl node set n[001-016] queue=fast priority=10\nplacectl node set n7 color=\nplacectl " +
			"node set g1 ngpus=0-1@0+2-3@1\nplacectl node set g1 --device ngpus=3 --slices 4",
		InTx: nodeSet,
	}
}

func nodeSet(r *session.Run, tx *engine.Tx, c *cli.Context) error {
	switch {
	case c.IsSet("device") || c.IsSet("slices"):
		return cutDevices(r, tx, c)
	case c.NArg() < 2:
		return usage.Errorf("wants at least 2 arguments: NAMES key=value..., such as n1 ncpus=8")
	}
	defs, err := tx.Config().Resources()
	if err != nil {
		return err
	}
	p, err := patchFromArgs(c, defs)
	if err != nil {
		return err
	}
	defer r.SayMoved(tx)
	return changeNodes(r, tx, c.Args().First(), func(done *nodeChanges, old *index.Node) error {
		n, changed, err := p.Change(old)
		if err != nil {
			return usage.Errorf("node %s: %w", n.Name, err)
		}
		if !changed {
			return done.note(tx, n, nodeUnchanged)
		}
		if _, err := tx.Nodes().Put(n); err != nil {
			return queueHint(err, p.Queue)
		}
		return done.note(tx, n, nodeChanged)
	})
}

func nodeRemoveVerb() *session.Verb {
	return &session.Verb{
		Name:    "rm",
		Usage:   "delete nodes without jobs or plans",
		May:     engine.Operators,
		Args:    []verbs.Arg{{Name: "NAMES", Kind: verbs.KindNodes, Many: true}},
		Access:  verbs.Writes,
		Example: "placectl node rm n[100-128]",
		InTx:    nodeRemove,
	}
}

func nodeRemove(r *session.Run, tx *engine.Tx, c *cli.Context) error {
	return changeNodes(r, tx, nodesOf(c), func(done *nodeChanges, n *index.Node) error {
		if err := done.note(tx, n, nodeRemoved); err != nil {
			return err
		}
		return tx.Nodes().Remove(n.Number)
	})
}

// nodesOf returns the arguments of a verb that takes nodes as one list.
func nodesOf(c *cli.Context) string { return strings.Join(c.Args().Slice(), ",") }
