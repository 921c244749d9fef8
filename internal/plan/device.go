package plan

import (
	"slices"
	"strings"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/nodes"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
)

// BindDevices assigns devices to a job that starts: on a shared node what its chunks ask for, on an
// exclusive one all devices in service. If fewer are free it returns a Conflict and changes
// nothing. Reads bind none, because the devices are not known until the start is written. Chunks
// may be nil; then they come from the job's row.
func BindDevices(tx *kernel.Tx, j *row.Job, chunks []placer.Chunk) error {
	j.Devices = nil
	ix, err := tx.Index()
	if err != nil {
		return err
	}
	some := ix.MarkedNodes(index.Named)
	if some.IsEmpty() || !tx.Writable() {
		return nil
	}
	b := nodes.Binder{Devices: starting{tx, j, chunks}, Rows: tx.Loaded.Nodes, Job: j}
	return b.Bind(some)
}

// starting is a job that starts, with its chunks if they are known.
type starting struct {
	tx     *kernel.Tx
	job    *row.Job
	chunks []placer.Chunk
}

// Asks returns what the chunks ask for, and how to choose the devices.
func (s starting) Asks() (chunks []placer.Chunk, p devices.Policy, err error) {
	if chunks = s.chunks; chunks == nil {
		chunks, err = s.tx.Asked(s.job)
	}
	if err != nil || s.job.Bind != devices.NoPolicy {
		return chunks, s.job.Bind, err
	}
	set, err := s.tx.Settings()
	if err != nil {
		return nil, 0, err
	}
	return chunks, set.Bind, nil
}

// Free returns the devices of a node, by resource, that are in service and that no other running job
// has. They are computed once; NoteDevices keeps them up to date.
func (s starting) Free(number uint32, named *nodes.Named) ([]devices.Bits, error) {
	k, err := s.tx.Loaded.Nodes.Kept(number)
	if err != nil || k.Free != nil {
		return slices.Clone(k.Free), err
	}
	free := make([]devices.Bits, len(named.List))
	for i, l := range named.Layouts {
		free[i] = l.InService()
	}
	err = EachHolder(s.tx, number, s.job.ID, func(j *row.Job) error {
		for _, d := range j.Devices {
			if i := named.Find(d.Res); d.Node == number && i >= 0 {
				free[i] = free[i].AndNot(d.Which)
			}
		}
		return nil
	})
	if err == nil {
		k.Free = slices.Clone(free)
	}
	return free, err
}

// NoteDevices must be called for each row written of a job that has devices. A running job has
// taken them; for an ended one, the free devices of its nodes are computed again.
func NoteDevices(tx *kernel.Tx, j *row.Job) {
	for _, d := range j.Devices {
		k := tx.Loaded.Nodes.Known(d.Node)
		if k == nil || k.Free == nil {
			continue
		}
		if j.State != row.JobRunning {
			k.Free = nil
		} else {
			k.Took(d)
		}
	}
}

// EachHolder calls fn for the running jobs that have a part of a node, except one.
func EachHolder(tx *kernel.Tx, number uint32, except uint64, fn func(*row.Job) error) error {
	c := tx.Calendar()
	for _, b := range slices.Clone(c.At(number)) {
		if b.Claim || b.Start > c.Now() || b.Owner == row.JobOwner(except) {
			continue
		}
		j, err := tx.ListedJob(b.Owner >> 1)
		if err != nil {
			return err
		}
		if j.State == row.JobRunning {
			if err := fn(j); err != nil {
				return err
			}
		}
	}
	return c.Err()
}

// HeldDevices are a job's devices of one resource of a node.
type HeldDevices struct {
	Node     uint32
	Name     string // of the node
	Resource string
	Devices  devices.Set
}

// HeldBy returns the devices that a job has, by node and then by resource, cores last. There are
// none once it has ended, or if its nodes name none.
func HeldBy(tx *kernel.Tx, j *kernel.Job) (list []HeldDevices, err error) {
	defs, err := tx.Resources()
	if err != nil || len(j.Devices) == 0 {
		return nil, err
	}
	var cores []HeldDevices
	for i, d := range j.Devices {
		n, err := tx.Loaded.Nodes.Devices(d.Node)
		if err != nil {
			return nil, err
		}
		k, def := n.Find(d.Res), index.Def{}
		if k < 0 {
			continue
		}
		def, _ = defs.Get(d.Res)
		held := HeldDevices{Node: d.Node, Resource: def.Name}
		if held.Name, err = tx.Loaded.Nodes.Name(d.Node); err != nil {
			return nil, err
		}
		for at := range d.Which.Each {
			if at < len(n.List[k].Set) {
				held.Devices = append(held.Devices, n.List[k].Set[at])
			}
		}
		if d.Res == index.NCPUs {
			cores = append(cores, held)
		} else {
			list = append(list, held)
		}
		if i+1 == len(j.Devices) || j.Devices[i+1].Node != d.Node {
			list, cores = append(list, cores...), nil
		}
	}
	return list, nil
}

// JobDevices returns the devices of a job as text: g1:ngpus=0,3:ncpus=0-7+g2:ngpus=1.
func JobDevices(tx *kernel.Tx, j *kernel.Job) (string, error) {
	list, err := HeldBy(tx, j)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i, h := range list {
		switch {
		case i == 0:
			b.WriteString(h.Name)
		case list[i-1].Node != h.Node:
			b.WriteString("+" + h.Name)
		}
		b.WriteString(":" + h.Resource + "=" + devices.FormatIDs(kernel.IdsOf(h.Devices)))
	}
	return b.String(), nil
}

// DeviceInfo is a device and the job that has it.
type DeviceInfo struct {
	devices.Device
	Resource string
	State    string // free, busy, drained or cut; a device drained while in use is drained
	Job      uint64 // the job that has it, or 0
	Attempt  int    // the attempt that has it
	Since    time.Time
	Until    time.Time // when the job is expected to end
}

// NodeDevice is a device of a node, and the job that has it.
type NodeDevice struct {
	*devices.Device // the node's device
	Node            uint32
	Resource        string
	State           string
	Job             uint64 // 0 for none
	Attempt         int    // of the job
	Since           int64  // Unix seconds, 0 for none
	Until           int64
}

// OnNode appends the devices of a node to a list, by resource and identity.
func OnNode(tx *kernel.Tx, n *index.Node, list []NodeDevice) ([]NodeDevice, error) {
	defs, err := tx.Resources()
	if err != nil {
		return list, err
	}
	begin := len(list)
	for _, named := range n.Devices {
		def, _ := defs.Get(named.Res)
		for i := range named.Set {
			d := &named.Set[i]
			list = append(list, NodeDevice{Device: d, Node: n.Number, Resource: def.Name, State: deviceState(d)})
		}
	}
	return list, EachHolder(tx, n.Number, 0, func(j *row.Job) error {
		for _, h := range j.Devices {
			if h.Node != n.Number {
				continue
			}
			of := list[begin:]
			for _, named := range n.Devices {
				if named.Res == h.Res {
					break
				}
				of = of[len(named.Set):]
			}
			for at := range h.Which.Each {
				d := &of[at]
				d.Job, d.Attempt, d.Since, d.Until = j.ID, j.CurrentAttempt(), j.Start, j.End
				if d.InService() {
					d.State = "busy"
				}
			}
		}
		return nil
	})
}

// deviceState returns the state of a device that no job has.
func deviceState(d *devices.Device) string {
	switch {
	case d.Slices > 0:
		return "cut"
	case d.Drained:
		return "drained"
	}
	return "free"
}
