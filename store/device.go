package store

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/timeline"
)

// What plans sees amounts alone. Which devices a job has of a node that names them is
// decided when it starts, by the transaction that verifies the amounts, and stands in its
// row until it has ended. Of a resource jobs hold together no more than there is, and each
// amount that is held is a device: so as many are free as the amounts say.

// namedDevices are the devices of a node, as choosing some needs them.
type namedDevices struct {
	list    []index.NamedDevices
	layouts []*devices.Layout // one for each of list
	far     devices.Distances
}

// find is the position of a resource in the list, -1 for one without devices.
func (d *namedDevices) find(id index.ResID) int {
	return slices.IndexFunc(d.list, func(x index.NamedDevices) bool { return x.Res == id })
}

// nodeDevices is the transaction as far as it is about the devices that nodes name.
type nodeDevices struct{ *Tx }

func (tx *Tx) nodeDevices() nodeDevices { return nodeDevices{tx} }

// of are the devices of a node.
func (ds nodeDevices) of(number uint32) (*namedDevices, error) {
	k, err := ds.kept(number)
	if err != nil || k.named != nil {
		return k.named, err
	}
	nodes := ds.loaded.nodes
	if k.named = nodes.alike[k.part]; k.named != nil {
		return k.named, nil
	}
	var n index.Node
	if err := row.DecodeDevices(row.Key32(number), []byte(k.part), &n); err != nil {
		return nil, err
	}
	k.named = &namedDevices{list: n.Devices, far: n.Distances}
	for _, d := range n.Devices {
		k.named.layouts = append(k.named.layouts, d.Set.Layout())
	}
	if nodes.alike == nil {
		nodes.alike = make(map[string]*namedDevices)
	}
	nodes.alike[k.part] = k.named
	return k.named, nil
}

// bind gives a job that starts its devices: of a node that it shares what its chunks ask
// for, of one that it has for itself all that are in service. It is a Conflict when fewer
// are free; nothing has changed then. A reader binds none: who has them when it is written
// down is not known yet.
func (ds nodeDevices) bind(j *row.Job) error {
	j.Devices = nil
	ix, err := ds.index()
	if err != nil {
		return err
	}
	some := ix.MarkedNodes(index.Named)
	if some.IsEmpty() || !ds.Writable() {
		return nil
	}
	b := binder{tx: ds.Tx, job: j, nodes: make(map[uint32]*boundNode)}
	for i, c := range j.Chunks {
		for _, n := range c.Nodes {
			if !some.Contains(n.Node) {
				continue
			}
			if err := b.node(i, n); err != nil {
				return err
			}
		}
	}
	for _, n := range j.Along {
		if some.Contains(n) {
			if err := b.node(-1, row.JobNode{Node: n}); err != nil {
				return err
			}
		}
	}
	b.note()
	return nil
}

// binder is a job that gets its devices.
type binder struct {
	tx     *Tx
	job    *row.Job
	policy devices.Policy
	chunks []placer.Chunk
	nodes  map[uint32]*boundNode
}

// boundNode is what is free of a node's devices, and what the job has got of them, both
// by resource.
type boundNode struct {
	*namedDevices
	free, got []devices.Bits
}

// node binds what is on one node of the chunk at a position.
func (b *binder) node(chunk int, n row.JobNode) error {
	if b.nodes[n.Node] == nil {
		named, err := b.tx.nodeDevices().of(n.Node)
		if err != nil {
			return err
		}
		free, err := b.tx.nodeDevices().free(n.Node, named, b.job.ID)
		if err != nil {
			return err
		}
		b.nodes[n.Node] = &boundNode{named, free, make([]devices.Bits, len(free))}
	}
	d := b.nodes[n.Node]
	if !n.Shared {
		for i := range d.list {
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

// asked finds what the chunks ask for, and how devices are to be chosen.
func (b *binder) asked() (err error) {
	if b.chunks != nil {
		return nil
	}
	if b.chunks, err = b.tx.asked(b.job); err != nil {
		return err
	}
	if b.policy = b.job.Bind; b.policy == devices.NoPolicy {
		set, err := b.tx.settings()
		if err != nil {
			return err
		}
		b.policy = set.Bind
	}
	return nil
}

// wants is what a chunk asks for of the node's devices; at says of which resources.
func (d *namedDevices) wants(c placer.Chunk) (wants []devices.Want, at []int) {
	for _, w := range c.Wants {
		if k := d.find(w.Res); k >= 0 && w.Value.Num > 0 {
			wants = append(wants, devices.Want{Layout: d.layouts[k], Count: int(w.Value.Num)})
			at = append(at, k)
		}
	}
	return wants, at
}

// short is the Conflict of a node that has fewer devices free than its calendar says.
func (b *binder) short(number uint32, d *boundNode, wants []devices.Want, at []int) error {
	name, err := b.tx.loaded.nodes.name(number)
	if err != nil {
		return err
	}
	defs, err := b.tx.Resources()
	if err != nil {
		return err
	}
	for i, k := range at {
		if free := wants[i].Free.Count(); free < wants[i].Count {
			def, _ := defs.Get(d.list[k].Res)
			return &Conflict{fmt.Sprintf("job %d", b.job.ID),
				fmt.Sprintf("node %s has %d of the devices of %s free, not %d", name, free, def.Name, wants[i].Count)}
		}
	}
	return fmt.Errorf("%w: the devices of node %s cannot be chosen", ErrDamaged, name)
}

// note writes what was bound into the job.
func (b *binder) note() {
	for number, d := range b.nodes {
		for i, got := range d.got {
			if len(got) > 0 {
				b.job.Devices = append(b.job.Devices, row.JobDevices{Node: number, Res: d.list[i].Res, Which: got})
			}
		}
	}
	slices.SortFunc(b.job.Devices, func(x, y row.JobDevices) int {
		return cmp.Or(cmp.Compare(x.Node, y.Node), cmp.Compare(x.Res, y.Res))
	})
}

// free are those of a node that are in service and that no running job but one has,
// by resource. They are found once: noted keeps them right.
func (ds nodeDevices) free(number uint32, named *namedDevices, except uint64) ([]devices.Bits, error) {
	k, err := ds.kept(number)
	if err != nil || k.free != nil {
		return slices.Clone(k.free), err
	}
	free := make([]devices.Bits, len(named.list))
	for i, l := range named.layouts {
		free[i] = l.InService()
	}
	err = ds.eachHolder(number, except, func(j *row.Job) error {
		for _, d := range j.Devices {
			if i := named.find(d.Res); d.Node == number && i >= 0 {
				free[i] = free[i].AndNot(d.Which)
			}
		}
		return nil
	})
	if err == nil {
		k.free = slices.Clone(free)
	}
	return free, err
}

// noted is told of each row of a job that is written while it has devices: a job that runs
// has taken them, and of the nodes of one that has ended it is found out anew what is free.
func (ds nodeDevices) noted(j *row.Job) {
	for _, d := range j.Devices {
		k := ds.loaded.nodes.block(d.Node).nodes[d.Node%timeline.BlockNodes]
		if k == nil || k.free == nil {
			continue
		}
		if j.State != JobRunning {
			k.free = nil
		} else if i := k.named.find(d.Res); i >= 0 {
			k.free[i] = k.free[i].AndNot(d.Which)
		}
	}
}

// eachHolder goes through the running jobs that have something of a node, but for one.
func (ds nodeDevices) eachHolder(number uint32, except uint64, fn func(*row.Job) error) error {
	c := ds.calendar()
	for _, b := range slices.Clone(c.At(number)) {
		if b.Claim || b.Start > c.Now() || b.Owner == row.JobOwner(except) {
			continue
		}
		j, err := ds.job(b.Owner >> 1)
		if err != nil {
			return err
		}
		if j.State == JobRunning {
			if err := fn(j); err != nil {
				return err
			}
		}
	}
	return c.Err()
}

// lessDrained takes off the stretches of a job what it has of devices that were drained
// since it began: they are none of what the node has any more, and so none of what is held
// of it.
func (ds nodeDevices) lessDrained(j *row.Job, spans []span) error {
	for _, d := range j.Devices {
		i := slices.IndexFunc(spans, func(s span) bool { return s.node == d.Node })
		if i < 0 || spans[i].Use == nil {
			continue
		}
		named, err := ds.of(d.Node)
		if err != nil {
			return err
		}
		k := named.find(d.Res)
		if k < 0 {
			return fmt.Errorf("%w: job %d has devices of node %d, which names none", ErrDamaged, j.ID, d.Node)
		}
		gone := int64(d.Which.AndNot(named.layouts[k].InService()).Count())
		for a := range spans[i].Use.Amounts {
			if amount := &spans[i].Use.Amounts[a]; amount.Quantity == uint16(d.Res) {
				amount.N -= gone
			}
		}
	}
	return nil
}
