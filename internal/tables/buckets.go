package tables

import (
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/ask"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// bucketCount is a bucket with its nodes at an instant.
type bucketCount struct {
	*index.Bucket
	signature         string
	free, later, busy int64
}

func bucketsTable(c *Catalog, at int64) (tables.Table, error) {
	table, err := nodesTable(c, at)
	if err != nil {
		return nil, err
	}
	t := table.(*nodeTable)
	return &listTable[bucketCount]{[]getter[bucketCount]{
		intColumn("bucket", "its number", func(b *bucketCount) int64 { return int64(b.ID) }),
		textColumn("signature", "the resources its nodes have in common", func(b *bucketCount) string {
			return b.signature
		}),
		textColumn("queue", "owning queue", func(b *bucketCount) string { return b.Queue }),
		intColumn("priority", "priority of its nodes", func(b *bucketCount) int64 { return int64(b.Priority) }),
		intColumn("total", "number of nodes in service", func(b *bucketCount) int64 {
			return b.free + b.later + b.busy
		}),
		intColumn("free", "nodes with nothing on them and nothing planned; together with later, the free nodes",
			func(b *bucketCount) int64 { return b.free }),
		intColumn("later", "nodes with nothing on them but something planned", func(b *bucketCount) int64 {
			return b.later
		}),
		intColumn("busy", "nodes in use: partly or busy in table nodes", func(b *bucketCount) int64 { return b.busy }),
	}, func(add func(bucketCount)) error {
		for _, b := range t.ix.Buckets() {
			count := bucketCount{Bucket: b, signature: t.ix.Describe(b), free: int64(b.Count[index.Free]),
				later: int64(b.Count[index.Later]), busy: int64(b.Count[index.Busy])}
			if at != c.src.Now {
				all, s := t.ix.Nodes(b, index.None), t.states()
				count.later = int64(all.AndCardinality(s.later))
				count.free = int64(all.AndCardinality(s.in[index.NodeFree])) - count.later
				count.busy = int64(all.AndCardinality(s.in[index.NodePartly]) + all.AndCardinality(
					s.in[index.NodeBusy]))
			}
			if count.free+count.later+count.busy > 0 {
				add(count)
			}
		}
		return t.ix.Err()
	}}, nil
}

// setRow is a placement set of a queue.
type setRow struct {
	ask.PlacementSet
	queue string
}

func setsTable(c *Catalog, _ int64) (tables.Table, error) {
	return &listTable[setRow]{[]getter[setRow]{
		textColumn("queue", "owning queue; NULL: none", func(s *setRow) string { return s.queue }),
		textColumn("name", "key=value", func(s *setRow) string { return s.Name }),
		textColumn("value", "value of the grouping resource", func(s *setRow) string { return s.Value }),
		intColumn("total", "number of nodes, including those out of service", func(s *setRow) int64 {
			return int64(s.Total)
		}),
		intColumn("free", "number of free nodes", func(s *setRow) int64 { return int64(s.Free) }),
		intColumn("ncpus", "cpus of all nodes", func(s *setRow) int64 { return s.TotalCPUs }),
		intColumn("ncpus_free", "cpus of free nodes", func(s *setRow) int64 { return s.FreeCPUs }),
	}, func(add func(setRow)) error {
		queues, err := c.queues()
		if err != nil {
			return err
		}
		for _, q := range append([]row.Queue{{}}, queues...) {
			sets, err := c.src.Sets(q.Name)
			if err != nil {
				return err
			}
			for _, s := range sets {
				add(setRow{s, q.Name})
			}
		}
		return nil
	}}, nil
}

func resourcesTable(c *Catalog, _ int64) (tables.Table, error) {
	return &listTable[index.Def]{[]getter[index.Def]{
		textColumn("name", "as declared", func(d *index.Def) string { return d.Name }),
		textColumn("type", "long, size, float, boolean, string or string_array", func(d *index.Def) string {
			return d.Type.String()
		}),
		boolColumn("consumable", "jobs use it up", func(d *index.Def) bool { return d.Consumable }),
		boolColumn("is_unique", "each node has a different value", func(d *index.Def) bool { return d.Unique }),
		boolColumn("builtin", "every database has it", func(d *index.Def) bool { return d.Builtin }),
	}, func(add func(index.Def)) error {
		defs, err := c.src.Resources()
		if err != nil {
			return err
		}
		for _, d := range defs.All() {
			add(d)
		}
		return nil
	}}, nil
}

// nodeResource is a node's value of a resource.
type nodeResource struct {
	node  string
	def   index.Def
	value index.Value
}

func nodeResourcesTable(c *Catalog, _ int64) (tables.Table, error) {
	return &listTable[nodeResource]{[]getter[nodeResource]{
		textColumn("node", "node name", func(r *nodeResource) string { return r.node }),
		textColumn("resource", "resource name", func(r *nodeResource) string { return r.def.Name }),
		textColumn("value", "value as written in a select", func(r *nodeResource) string {
			return r.def.Format(r.value)
		}),
		valueColumn("amount", "value as a number, sizes in bytes", values.NumericAffinity, tables.Amount,
			func(r *nodeResource) values.Value {
				if !r.def.Type.Numeric() && r.def.Type != index.Boolean {
					return values.Value{}
				}
				return values.NumericAffinity.Stored(resourceOf(r.def, r.value, true))
			}),
	}, func(add func(nodeResource)) error {
		defs, err := c.src.Resources()
		if err != nil {
			return err
		}
		return c.eachNode(func(n *index.Node) error {
			for _, a := range n.Res {
				if def, ok := defs.Get(a.Res); ok {
					add(nodeResource{n.Name, def, a.Value})
				}
			}
			return nil
		})
	}}, nil
}

func queuesTable(c *Catalog, _ int64) (tables.Table, error) {
	ix, err := c.src.Index()
	if err != nil {
		return nil, err
	}
	return &listTable[row.Queue]{[]getter[row.Queue]{
		textColumn("name", "name", func(q *row.Queue) string { return q.Name }),
		textColumn("group_key", "group key; NULL: the setting's", func(q *row.Queue) string {
			return joined(q.GroupKey)
		}),
		textColumn("policy", "node policy; NULL: the setting's", func(q *row.Queue) string { return q.Policy }),
		intColumn("nodes", "number of nodes it owns", func(q *row.Queue) int64 { return int64(ix.CountNodes(q.Name)) }),
	}, func(add func(row.Queue)) error {
		queues, err := c.queues()
		for _, q := range queues {
			add(q)
		}
		return err
	}}, nil
}

func (c *Catalog) queues() (out []row.Queue, err error) {
	err = c.src.Rows.Each(row.Queues, nil, func(key, payload []byte) (bool, error) {
		q, err := row.QueueRow.Decode(key, payload)
		out = append(out, *q)
		return true, err
	})
	return out, err
}

func configTable(c *Catalog, _ int64) (tables.Table, error) {
	return &listTable[kernel.Setting]{[]getter[kernel.Setting]{
		textColumn("name", "setting", func(s *kernel.Setting) string { return s.Name }),
		textColumn("value", "value in force", func(s *kernel.Setting) string { return s.Value }),
		textColumn("default_value", "default value", func(s *kernel.Setting) string { return s.Default }),
		boolColumn("is_set", "it has been set", func(s *kernel.Setting) bool { return s.Set }),
		textColumn("meaning", "meaning", func(s *kernel.Setting) string { return s.Doc }),
	}, func(add func(kernel.Setting)) error {
		all, err := c.src.Settings()
		for _, s := range all {
			add(s)
		}
		return err
	}}, nil
}
