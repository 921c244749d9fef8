package cluster

import (
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
)

// On returns the devices that a job has on one of its nodes, and all that the node names:
// devices.Environ makes variables of them.
func (ds Devices) On(j *kernel.Job, node uint32) (held, named []devices.Held, err error) {
	defs, err := ds.tx.Resources()
	if err != nil {
		return nil, nil, err
	}
	n, err := ds.tx.NodeByNumber(node)
	if err != nil {
		return nil, nil, err
	}
	for _, d := range n.Devices {
		def, _ := defs.Get(d.Res)
		named = append(named, devices.Held{Resource: def.Name, Devices: d.Set})
	}
	list, err := plan.HeldBy(ds.tx, j)
	for _, h := range list {
		if h.Node == node {
			held = append(held, devices.Held{Resource: h.Resource, Devices: h.Devices})
		}
	}
	return held, named, err
}

// OfNode lists the devices of a node, by resource and identity.
func (ds Devices) OfNode(n *index.Node) (list []plan.DeviceInfo, err error) {
	if len(n.Devices) == 0 {
		return nil, nil
	}
	of, err := plan.OnNode(ds.tx, n, nil)
	for i := range of {
		d := &of[i]
		list = append(list, plan.DeviceInfo{Device: *d.Device, Resource: d.Resource, State: d.State, Job: d.Job,
			Attempt: d.Attempt, Since: kernel.Instant(d.Since), Until: kernel.Instant(d.Until)})
	}
	return list, err
}
