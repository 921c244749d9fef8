package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/nouns"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func nodeShowVerb() *verb {
	return &verb{
		Name:        "show",
		Usage:       "all that is known of nodes, what is on them and what is planned",
		Args:        []verbs.Arg{{Name: "NAMES", Kind: verbs.KindNodes}},
		Description: "With -o json a single name is answered with an object, and a node list with an array.",
		Access:      verbs.Reads,
		Example:     "placectl node show n7",
		InTx:        (*runner).nodeShow,
	}
}

func (r *runner) nodeShow(tx *store.Tx, c *cli.Context) error {
	names := c.Args().First()
	defs, err := tx.Resources()
	if err != nil {
		return err
	}
	rows, err := gatherNodes(tx, names, &nodeFilter{})
	if err != nil {
		return err
	}
	for i := range rows {
		if rows[i].Allocations, err = tx.Allocations(rows[i].Number); err != nil {
			return err
		}
	}
	about := nouns.NodeFields.Pick(nouns.NodeListColumns + " priorityf")
	allocations := output.Fields[*nouns.Node]{{Name: "allocations", Kind: output.Object, Value: r.allocationValue}}
	if nouns.SomeNamed(rows) {
		allocations = slices.Insert(allocations, 0, nouns.DeviceField(r.audience().People))
	}
	single := len(rows) == 1 && !strings.ContainsAny(names, "[,")
	if r.audience().table {
		about, allocations = nouns.DropSpare(about, rows), nouns.DropSpare(allocations, rows)
		single = true // the lines of one node after those of another
	}
	return r.printNodeRows(single, slices.Concat(about, nouns.ResourceColumns(defs, rows), allocations), rows)
}

// allocationValue is what is on a node as the form of output wants it.
func (r *runner) allocationValue(n *nouns.Node) any {
	if r.audience().People {
		return r.allocationText(n.Allocations)
	}
	type entry struct {
		Job         string `json:"job,omitempty"`
		Reservation string `json:"reservation,omitempty"`
		Start       string `json:"start"`
		End         string `json:"end"`
		Now         bool   `json:"now"`
	}
	list := []entry{}
	for _, a := range n.Allocations {
		list = append(list, entry{jobWord(a.Job), a.Reservation, string(spell.AppendRFC3339(nil, a.Start.Unix())), string(spell.AppendRFC3339(nil, a.End.Unix())), a.Now})
	}
	b, err := json.Marshal(list)
	if err != nil {
		return nil
	}
	return json.RawMessage(b)
}

// allocationText is what is on a node in words, nil for nothing.
func (r *runner) allocationText(list []store.Allocation) any {
	var parts []string
	for _, a := range list {
		parts = append(parts, fmt.Sprintf("%s from %s to %s", a.Owner, spell.AppendLocal(nil, a.Start.Unix(), r.loc), spell.AppendLocal(nil, a.End.Unix(), r.loc)))
	}
	return output.OrNil(strings.Join(parts, "; "))
}

// jobWord is a job's number as JSON has it, "" for none.
func jobWord(id uint64) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatUint(id, 10)
}
