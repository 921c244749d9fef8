package nodes

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
)

// Devices supplies what Bind needs to know of a job's devices.
type Devices interface {
	// Free returns the devices of a node, by resource, that are in service and free.
	Free(node uint32, of *Named) ([]devices.Bits, error)
	// Asks returns the job's chunks, and how to choose the devices.
	Asks() ([]placer.Chunk, devices.Policy, error)
}

// Binder gives a job its devices.
type Binder struct {
	Devices
	Rows *Rows
	Job  *row.Job

	asks   bool // chunks and policy are known
	policy devices.Policy
	chunks []placer.Chunk
	nodes  map[uint32]*boundNode
}

// Bind gives the job devices of its nodes: on a shared node those that its chunks ask for, on
// an exclusive one all in service. some are the nodes that name devices. If too few are free,
// it fails with a row.Conflict and changes nothing.
func (b *Binder) Bind(some *roaring.Bitmap) error {
	b.nodes = make(map[uint32]*boundNode)
	for i, c := range b.Job.Chunks {
		for _, n := range c.Nodes {
			if !some.Contains(n.Node) {
				continue
			}
			if err := b.node(i, n); err != nil {
				return err
			}
		}
	}
	for _, n := range b.Job.Along {
		if some.Contains(n) {
			if err := b.node(-1, row.JobNode{Node: n}); err != nil {
				return err
			}
		}
	}
	b.note()
	return nil
}

// boundNode holds the free devices of a node and those that the job has got, both by resource.
type boundNode struct {
	*Named
	free, got []devices.Bits
}

// node binds devices on one node of the chunk at a position.
func (b *Binder) node(chunk int, n row.JobNode) error {
	if b.nodes[n.Node] == nil {
		named, err := b.Rows.Devices(n.Node)
		if err != nil {
			return err
		}
		free, err := b.Free(n.Node, named)
		if err != nil {
			return err
		}
		b.nodes[n.Node] = &boundNode{named, free, make([]devices.Bits, len(free))}
	}
	d := b.nodes[n.Node]
	if !n.Shared {
		for i := range d.List {
			d.got[i], d.free[i] = d.got[i].Or(d.free[i]), nil
		}
		return nil
	}
	if err := b.asked(); err != nil {
		return err
	}
	wants, at := d.wants(b.chunks[chunk])
	if len(wants) == 0 {
		return nil
	}
	for range n.Chunks {
		for i, k := range at {
			wants[i].Free = d.free[k]
		}
		got := devices.Bind(b.policy, d.far, wants)
		if got == nil {
			return b.short(n.Node, d, wants, at)
		}
		for i, k := range at {
			d.got[k], d.free[k] = d.got[k].Or(got[i]), d.free[k].AndNot(got[i])
		}
	}
	return nil
}

// asked finds, once, what the chunks ask for and how to choose devices.
func (b *Binder) asked() (err error) {
	if !b.asks {
		b.chunks, b.policy, err = b.Asks()
		b.asks = err == nil
	}
	return err
}

// wants returns what a chunk asks for of the node's devices; at lists the resources.
func (d *Named) wants(c placer.Chunk) (wants []devices.Want, at []int) {
	for _, w := range c.Wants {
		if k := d.Find(w.Res); k >= 0 && w.Value.Num > 0 {
			wants = append(wants, devices.Want{Layout: d.Layouts[k], Count: int(w.Value.Num)})
			at = append(at, k)
		}
	}
	return wants, at
}

// short returns the Conflict of a node with fewer free devices than its calendar says.
func (b *Binder) short(number uint32, d *boundNode, wants []devices.Want, at []int) error {
	name, err := b.Rows.Name(number)
	if err != nil {
		return err
	}
	defs, err := b.Rows.resources.Resources()
	if err != nil {
		return err
	}
	for i, k := range at {
		if free := wants[i].Free.Count(); free < wants[i].Count {
			def, _ := defs.Get(d.List[k].Res)
			return row.Clash(fmt.Sprintf("job %d", b.Job.ID),
				fmt.Sprintf("node %s has %d of the devices of %s free, not %d", name, free, def.Name, wants[i].Count))

		}
	}
	return fmt.Errorf("%w: the devices of node %s cannot be chosen", row.ErrDamaged, name)
}

// note writes the bound devices into the job.
func (b *Binder) note() {
	for number, d := range b.nodes {
		for i, got := range d.got {
			if len(got) > 0 {
				b.Job.Devices = append(b.Job.Devices, row.JobDevices{Node: number, Res: d.List[i].Res, Which: got})
			}
		}
	}
	slices.SortFunc(b.Job.Devices, func(x, y row.JobDevices) int {
		return cmp.Or(cmp.Compare(x.Node, y.Node), cmp.Compare(x.Res, y.Res))
	})
}
