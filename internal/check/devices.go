package check

import (
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/internal/row"
)

// holding holds what a running job has of the devices of a node.
type holding struct {
	job uint64
	row.JobDevices
}

// holds notes the devices that a job has. Only running jobs have any.
func (d *recomputed) holds(j *row.Job) {
	if len(j.Devices) > 0 && j.State != row.JobRunning {
		d.contradict("job %d is %s, and has devices", j.ID, j.State)
		return
	}
	for _, h := range j.Devices {
		d.holding[h.Node] = append(d.holding[h.Node], holding{j.ID, h})
	}
}

// devices verifies a node's devices: the amount of a resource equals its devices in service, each
// device in use exists, whole, and is used once, and a job that shares the node has as many devices
// as its counted amount.
func (d *recomputed) devices(n *index.Node) {
	d.at = Row{row.Nodes, string(row.Key32(n.Number))}
	if !n.Distances.Valid() {
		d.contradict("node %s: the distances of its groups are no square", n.Name)
	}
	for _, named := range n.Devices {
		if err := named.Set.Check(); err != nil {
			d.contradict("node %s: %v", n.Name, err)
		}
		if v, _ := n.Get(named.Res); v.Num != int64(named.Set.Count()) {
			d.contradict("node %s has %d of resource %d, and %d of its devices are in service", n.Name, v.Num,
				named.Res, named.Set.Count())
		}
	}
	for i, h := range d.holding[n.Number] {
		d.at = Row{row.Jobs, string(row.Key64(h.job))}
		set := n.DevicesOf(h.Res)
		for at := range h.Which.Each {
			switch {
			case at >= len(set):
				d.contradict("job %d has device #%d of resource %d of node %s, which names %d", h.job, at, h.Res,
					n.Name, len(set))
			case set[at].Slices > 0:
				d.contradict("job %d has device %s of resource %d of node %s, which is cut", h.job, set[at].ID, h.Res,
					n.Name)
			}
		}
		for _, o := range d.holding[n.Number][:i] {
			if both := h.Which.And(o.Which); o.Res == h.Res && len(both) > 0 {
				d.contradict("job %d and job %d both have device %s of resource %d of node %s", o.job, h.job,
					devices.FormatIDs(set.IDs(both)), h.Res, n.Name)
			}
		}
	}
	d.counted(n)
}

// counted verifies that each job which shares a node has as many devices in service as the
// calendar counts.
func (d *recomputed) counted(n *index.Node) {
	if len(n.Devices) == 0 {
		return
	}
	for _, b := range d.calendar.At(n.Number) {
		if b.Claim || b.Use == nil || b.Start > d.now {
			continue
		}
		d.at = Row{row.Jobs, string(row.Key64(b.Owner >> 1))}
		for _, named := range n.Devices {
			counted, has := int64(0), int64(0)
			for _, a := range b.Use.Amounts {
				if a.Quantity == uint16(named.Res) {
					counted = a.N
				}
			}
			for _, h := range d.holding[n.Number] {
				for at := range h.Which.Each {
					if h.job == b.Owner>>1 && h.Res == named.Res && at < len(named.Set) && named.Set[at].InService() {
						has++
					}
				}
			}
			if counted != has {
				d.contradict("job %d has %d devices of resource %d of node %s in service, and %d are counted",
					b.Owner>>1, has, named.Res, n.Name, counted)
			}
		}
	}
}
