package cluster

import (
	"fmt"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/listing"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

func nodeShowVerb() *session.Verb {
	return &session.Verb{
		Name:        "show",
		Usage:       "show nodes, their jobs and what is planned on them",
		May:         engine.Anybody,
		Args:        []verbs.Arg{{Name: "NAMES", Kind: verbs.KindNodes, Many: true}},
		Description: "With -o json a single name gives an object, and a node list an array.",
		Access:      verbs.Reads,
		Example:     "placectl node show n7",
		InTx:        nodeShow,
	}
}

func nodeShow(r *session.Run, tx *engine.Tx, c *cli.Context) error {
	names := nodesOf(c)
	defs, err := tx.Config().Resources()
	if err != nil {
		return err
	}
	about := listing.NewSurvey(defs, listing.NodeFields.Pick(listing.NodeListColumns+" priorityf"), nil)
	more := listing.NewSurvey(defs, output.Fields[*listing.Node]{listing.DeviceField(r.Audience().People),
		{Name: "allocations", Kind: output.Object, Value: func(n *listing.Node) any { return allocationValue(r, n) }}},
		nil)
	count := 0
	each := func(fn func(*listing.Node) error) error {
		return eachNode(tx, names, &nodeFilter{}, func(n *listing.Node) (err error) {
			if n.Allocations, err = tx.Nodes().Allocations(n.Number); err != nil {
				return err
			}
			return fn(n)
		})
	}
	err = each(func(n *listing.Node) error {
		count++
		about.See(n)
		more.See(n)
		return nil
	})
	if err != nil {
		return err
	}
	table := r.Audience().Table
	last := more.Columns(table)
	if !table && !about.Named {
		last = last[1:]
	}
	// In a table, the lines of one node follow those of another.
	single := table || count == 1 && !strings.ContainsAny(names, "[,")
	cols := slices.Concat(about.Columns(table), about.Resources(), last)
	p := r.Printer(output.Result{Record: single, Many: true, Columns: cols.Columns()})
	if err := each(func(n *listing.Node) error { return cols.Print(p, n) }); err != nil {
		return err
	}
	return p.Close()
}

// allocationValue returns what is allocated on a node, in the form of the output.
func allocationValue(r *session.Run, n *listing.Node) any {
	if r.Audience().People {
		return allocationText(r, n.Allocations)
	}
	list := n.Allocations
	return output.ObjectsOf(output.Fields[int]{
		{Name: "job", Kind: output.Integer, Value: func(i int) any { return output.OrNil(list[i].Job) }},
		{Name: "reservation", Value: func(i int) any { return output.OrNil(list[i].Reservation) }},
		{Name: "start", Kind: output.Time, Required: true, Value: func(i int) any { return list[i].Start }},
		{Name: "end", Kind: output.Time, Required: true, Value: func(i int) any { return list[i].End }},
		{Name: "now", Kind: output.Boolean, Required: true, Value: func(i int) any { return list[i].Now }},
	}, len(list))
}

// allocationText describes what is allocated on a node in words, nil for nothing.
func allocationText(r *session.Run, list []engine.Allocation) any {
	var parts []string
	for _, a := range list {
		parts = append(parts, fmt.Sprintf("%s from %s to %s", a.Owner, text.AppendLocal(nil, a.Start.Unix(), r.Loc),
			text.AppendLocal(nil, a.End.Unix(), r.Loc)))
	}
	return output.OrNil(strings.Join(parts, "; "))
}
