package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store"
	"github.com/placectl/placectl/timeline"
	"github.com/urfave/cli/v2"
)

func nodeShowCommand(r *runner) *cli.Command {
	return r.verb(&cli.Command{
		Name:        "show",
		Usage:       "all that is known of nodes, what is on them and what is planned",
		ArgsUsage:   "NAMES",
		Description: "With -o json a single name is answered with an object, and a node list with an array.",
		Action:      r.nodeShow,
	}, about{
		Example: "placectl node show n7",
		Exits:   readExits,
	})
}

// allocation is a stretch of time in which a job or a reservation has a node.
type allocation struct {
	job         string // its number
	reservation string // or its name
	start, end  int64  // the end as it is expected now
	now         bool   // it is under way
}

func (r *runner) nodeShow(c *cli.Context) error {
	if err := wantArgs(c, 1, 1); err != nil {
		return err
	}
	names := c.Args().First()
	var rows []nodeRow
	var defs *index.Defs
	if err := r.view(func(tx *store.Tx) (err error) {
		if defs, err = tx.Resources(); err != nil {
			return err
		}
		if rows, err = gatherNodes(tx, names, &nodeFilter{}); err != nil {
			return err
		}
		owners := ownerNames{tx: tx}
		for i := range rows {
			if rows[i].allocations, err = owners.on(rows[i].Number); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	cols := append(nodeColumns(), nodeColumn{column{Name: "priorityf"}, true, func(n *nodeRow) any { return orNil(n.PriorityF) }})
	cols = append(cols, resourceColumns(defs, rows)...)
	cols = append(cols, nodeColumn{column{Name: "allocations", Kind: object}, true, r.allocationValue})
	single := len(rows) == 1 && !strings.ContainsAny(names, "[,")
	if r.Output == formatTable {
		cols, single = dropSpare(cols, rows), true // the lines of one node after those of another
	}
	return r.printNodeRows(result{Record: single}, cols, rows)
}

// ownerNames knows who has a node, and when.
type ownerNames struct {
	tx           *store.Tx
	reservations map[uint64]string // by number; nil until one is asked for
}

// on lists what is on a node and what is planned for it.
func (o *ownerNames) on(number uint32) ([]allocation, error) {
	calendar := o.tx.Calendar()
	var out []allocation
	on, busy := calendar.On(number)
	for _, b := range calendar.At(number) {
		a := allocation{start: b.Start, end: calendar.End(b), now: busy && b == on}
		if err := o.name(b, &a); err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, calendar.Err()
}

// name finds whose a stretch is: owners are twice the number of a job, or that
// of a reservation and one more.
func (o *ownerNames) name(b timeline.Busy, a *allocation) error {
	id := b.Owner >> 1
	if b.Owner&1 == 0 {
		a.job = strconv.FormatUint(id, 10)
		return nil
	}
	if o.reservations == nil {
		o.reservations = make(map[uint64]string)
		if err := o.tx.EachReservation(func(r *store.Reservation) error {
			o.reservations[r.ID] = r.Name
			return nil
		}); err != nil {
			return err
		}
	}
	a.reservation = o.reservations[id]
	return nil
}

// allocationValue is what is on a node as the form of output wants it.
func (r *runner) allocationValue(n *nodeRow) any {
	if r.Output == formatTable || r.Output == formatLine || r.Output == formatMD {
		return r.allocationText(n.allocations)
	}
	type entry struct {
		Job         string `json:"job,omitempty"`
		Reservation string `json:"reservation,omitempty"`
		Start       string `json:"start"`
		End         string `json:"end"`
		Now         bool   `json:"now"`
	}
	list := []entry{}
	for _, a := range n.allocations {
		list = append(list, entry{a.job, a.reservation, string(appendRFC3339(nil, a.start)), string(appendRFC3339(nil, a.end)), a.now})
	}
	b, err := json.Marshal(list)
	if err != nil {
		return nil
	}
	return json.RawMessage(b)
}

// allocationText is what is on a node in words, nil for nothing.
func (r *runner) allocationText(list []allocation) any {
	var parts []string
	for _, a := range list {
		who := "job " + a.job
		if a.job == "" {
			who = "reservation " + a.reservation
		}
		parts = append(parts, fmt.Sprintf("%s from %s to %s", who, r.appendLocal(nil, a.start), r.appendLocal(nil, a.end)))
	}
	return orNil(strings.Join(parts, "; "))
}
