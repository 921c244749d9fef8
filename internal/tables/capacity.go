package tables

import (
	"cmp"
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/nodes"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// capacity is the total capacity of the nodes from an instant on.
type capacity struct {
	start, end int64 // end is 0 for the present capacity
	nodes, up  int64
	has, hasUp []int64 // of each consumable
}

// add counts a node, or with -1 removes it from the count.
func (c *capacity) add(n *index.Node, consumables []index.Def, by int64) {
	up := int64(0)
	if n.State == index.Up {
		up = by
	}
	c.nodes, c.up = c.nodes+by, c.up+up
	for i, def := range consumables {
		v, _ := n.Get(def.ID)
		c.has[i] += by * v.Num
		c.hasUp[i] += up * v.Num
	}
}

func (c *capacity) same(o *capacity) bool {
	return c.nodes == o.nodes && c.up == o.up && slices.Equal(c.has, o.has) && slices.Equal(c.hasUp, o.hasUp)
}

// capacityTable returns the cluster's capacity over time: a row from each instant at which it
// changed, as far back as recorded.
func capacityTable(c *Catalog, _ int64) (tables.Table, error) {
	defs, err := c.src.Resources()
	if err != nil {
		return nil, err
	}
	var consumables []index.Def
	for _, def := range defs.All() {
		if def.Consumable {
			consumables = append(consumables, def)
		}
	}
	columns := []getter[capacity]{
		timeColumn("start", "start of the period", func(r *capacity) int64 { return r.start }),
		timeColumn("end", "end of the period; NULL: now", func(r *capacity) int64 { return r.end }),
		timeColumn("until", "the end, or now", func(r *capacity) int64 { return cmp.Or(r.end, c.src.Now) }),
		intColumn("nodes", "number of nodes", func(r *capacity) int64 { return r.nodes }),
		intColumn("up", "number of nodes in service", func(r *capacity) int64 { return r.up }),
	}
	var ofUp []getter[capacity]
	for i, def := range consumables {
		a, u := resourceType(def.Type)
		columns = append(columns, valueColumn(def.Name, def.Name+" of all nodes", a, u, func(r *capacity) values.Value {
			return resourceOf(def, index.Value{Num: r.has[i]}, true)
		}))
		if _, clash := defs.Lookup(def.Name + "_up"); !clash {
			ofUp = append(ofUp, valueColumn(def.Name+"_up", def.Name+" of nodes in service", a, u,
				func(r *capacity) values.Value {
					return resourceOf(def, index.Value{Num: r.hasUp[i]}, true)
				}))
		}
	}
	return &listTable[capacity]{append(columns, ofUp...), func(add func(capacity)) error {
		return c.capacities(consumables, add)
	}}, nil
}

// capacities goes back in time from the present, and then adds the results in order of time.
func (c *Catalog) capacities(consumables []index.Def, add func(capacity)) error {
	at := capacity{has: make([]int64, len(consumables)), hasUp: make([]int64, len(consumables))}
	var n index.Node
	err := c.src.Rows.Each(row.Nodes, nil, func(key, payload []byte) (bool, error) {
		err := row.ReadNode(key, payload, &n, c.src.Words)
		if err == nil {
			at.add(&n, consumables, 1)
		}
		return true, err
	})
	if err != nil {
		return err
	}
	list, err := nodes.PastSince(c.src.Rows, c.src.NodesSince)
	if err != nil {
		return err
	}
	var rows []capacity // the newest first
	keep := func(since int64) {
		at.start = since
		if last := len(rows) - 1; last >= 0 && rows[last].same(&at) {
			rows[last].start = since
			return
		}
		kept := at
		kept.has, kept.hasUp = slices.Clone(at.has), slices.Clone(at.hasUp)
		rows = append(rows, kept)
	}
	nodes := nodes.NodesNow(c.src.Rows)
	for i := len(list) - 1; i >= 0; i-- {
		if i == len(list)-1 || list[i].At != list[i+1].At {
			keep(list[i].At)
		}
		err := nodes.Back(list[i].Past, func(is, was *index.Node) error {
			if is != nil {
				at.add(is, consumables, -1)
			}
			if was != nil {
				at.add(was, consumables, 1)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	keep(c.src.NodesSince)
	for i := len(rows) - 1; i >= 0; i-- {
		if i > 0 {
			rows[i].end = rows[i-1].start
		}
		add(rows[i])
	}
	return nil
}
