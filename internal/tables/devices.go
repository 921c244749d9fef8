package tables

import (
	"bytes"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// deviceTable is the table of devices. It reads the rows of nodes that name devices, which the
// index knows.
type deviceTable struct {
	c       *Catalog
	columns []getter[plan.NodeDevice]
	named   *roaring.Bitmap
}

func devicesTable(c *Catalog, _ int64) (tables.Table, error) {
	ix, err := c.src.Index()
	if err != nil {
		return nil, err
	}
	text := func(name, doc string, get func(*plan.NodeDevice) string) getter[plan.NodeDevice] {
		return textColumn(name, doc, get)
	}
	t := &deviceTable{c: c, named: ix.MarkedNodes(index.Named), columns: []getter[plan.NodeDevice]{
		text("node", "its node", func(d *plan.NodeDevice) string { return c.nodeName(d.Node) }),
		text("resource", "its resource", func(d *plan.NodeDevice) string { return d.Resource }),
		text("id", "a number, a label, or 3/0 for a slice of 3", func(d *plan.NodeDevice) string { return d.ID }),
		text("uuid", "the driver's id", func(d *plan.NodeDevice) string { return d.UUID }),
		text("model", "model name", func(d *plan.NodeDevice) string { return d.Model }),
		intColumn("grp", "its NUMA node", func(d *plan.NodeDevice) int64 { return int64(d.Group) }),
		valueColumn("vram", "memory", values.IntegerAffinity, tables.Bytes, func(d *plan.NodeDevice) values.Value {
			if d.VRAM == 0 {
				return values.Value{}
			}
			return sizeValue(d.VRAM)
		}),
		text("state", "free, busy, drained, or cut into slices", func(d *plan.NodeDevice) string { return d.State }),
		text("reason", "why it is drained", func(d *plan.NodeDevice) string { return d.Reason }),
		numberColumn("job", "the job that has it", func(d *plan.NodeDevice) int64 { return int64(d.Job) }),
		numberColumn("attempt", "which start of that job", func(d *plan.NodeDevice) int64 {
			return int64(d.Attempt)
		}),
		timeColumn("since", "since when the job has it", func(d *plan.NodeDevice) int64 { return d.Since }),
		timeColumn("until", "when the job is expected to end", func(d *plan.NodeDevice) int64 { return d.Until }),
	}}
	t.columns[0].Domain = nodeDomain
	return t, nil
}

func (t *deviceTable) Columns() []tables.Column { return columnsOf(t.columns) }

// Size estimates eight devices for each node that names some.
func (t *deviceTable) Size() int { return 8 * int(t.named.GetCardinality()) }

// Scan reads the nodes by number.
func (t *deviceTable) Scan(*roaring.Bitmap) tables.Cursor {
	return &deviceCursor{listCursor: listCursor[plan.NodeDevice]{columns: t.columns, at: -1}, t: t,
		nodes: t.named.Iterator()}
}

// Lookup finds the devices of a node.
func (t *deviceTable) Lookup(column int, v values.Value) (tables.Cursor, bool) {
	if t.columns[column].Name != "node" {
		return nil, false
	}
	c := &deviceCursor{listCursor: listCursor[plan.NodeDevice]{columns: t.columns, at: -1}, t: t,
		nodes: roaring.New().Iterator()}
	if v.IsNull() {
		return c, true
	}
	number, ok, err := t.c.nodeNumber(v.String())
	if c.err = err; ok && t.named.Contains(number) {
		c.nodes = roaring.BitmapOf(number).Iterator()
	}
	return c, true
}

// deviceCursor reads its rows node by node. Neighbours often name the same devices, which are
// then decoded once.
type deviceCursor struct {
	listCursor[plan.NodeDevice]
	t     *deviceTable
	nodes roaring.IntPeekable
	words row.Words
	node  index.Node
	named []index.NamedDevices // the last node's devices
	part  []byte               // and their part of its row
}

// Code returns the node's number, for its name.
func (c *deviceCursor) Code(int) uint32 { return c.rows[c.at].Node }

func (c *deviceCursor) Next() bool {
	for c.at++; c.at >= len(c.rows); c.at = 0 {
		if c.err != nil || !c.nodes.HasNext() {
			return false
		}
		if c.err = c.read(c.nodes.Next()); c.err != nil {
			return false
		}
	}
	return true
}

// read reads the devices of a node.
func (c *deviceCursor) read(number uint32) error {
	key := row.Key32(number)
	payload, err := c.t.c.src.Rows.Get(row.Nodes, key)
	if err != nil {
		return err
	}
	if payload == nil {
		return row.Missing("node", row.Shown(key))
	}
	part, err := row.ReadNodeOnly(key, payload, &c.node, &c.words)
	if err != nil {
		return err
	}
	if c.named == nil || !bytes.Equal(part, c.part) {
		if err := row.DecodeDevices(key, part, &c.node); err != nil {
			return err
		}
		c.named, c.part = c.node.Devices, append(c.part[:0], part...)
	}
	c.node.Devices = c.named
	c.rows, err = c.t.c.src.OnNode(&c.node, c.rows[:0])
	return err
}
