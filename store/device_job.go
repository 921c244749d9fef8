package store

import (
	"strings"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/store/internal/row"
)

// HeldDevices are the devices that a job has of a resource of a node.
type HeldDevices struct {
	Node     uint32
	Name     string // of the node
	Resource string
	Devices  devices.Set
}

// HeldBy are the devices that a job has, by node and then by resource, cores last. They are
// none once it has ended, and where its nodes name none.
func (tx *Tx) HeldBy(j *Job) (list []HeldDevices, err error) {
	defs, err := tx.Resources()
	if err != nil || len(j.Devices) == 0 {
		return nil, err
	}
	var cores []HeldDevices
	for i, d := range j.Devices {
		n, err := tx.nodeDevices().of(d.Node)
		if err != nil {
			return nil, err
		}
		k, def := n.find(d.Res), index.Def{}
		if k < 0 {
			continue
		}
		def, _ = defs.Get(d.Res)
		held := HeldDevices{Node: d.Node, Resource: def.Name}
		if held.Name, err = tx.loaded.nodes.name(d.Node); err != nil {
			return nil, err
		}
		for at := range d.Which.Each {
			if at < len(n.list[k].Set) {
				held.Devices = append(held.Devices, n.list[k].Set[at])
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

// Devices writes the devices of a job: g1:ngpus=0,3:ncpus=0-7+g2:ngpus=1.
func (tx *Tx) Devices(j *Job) (string, error) {
	list, err := tx.HeldBy(j)
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
		b.WriteString(":" + h.Resource + "=" + devices.FormatIDs(idsOf(h.Devices)))
	}
	return b.String(), nil
}

// DevicesOn are the devices that a job has of one of its nodes, and all that the node names:
// what devices.Environ makes variables of.
func (tx *Tx) DevicesOn(j *Job, node uint32) (held, named []devices.Held, err error) {
	defs, err := tx.Resources()
	if err != nil {
		return nil, nil, err
	}
	n, err := tx.NodeByNumber(node)
	if err != nil {
		return nil, nil, err
	}
	for _, d := range n.Devices {
		def, _ := defs.Get(d.Res)
		named = append(named, devices.Held{Resource: def.Name, Devices: d.Set})
	}
	list, err := tx.HeldBy(j)
	for _, h := range list {
		if h.Node == node {
			held = append(held, devices.Held{Resource: h.Resource, Devices: h.Devices})
		}
	}
	return held, named, err
}

// DeviceInfo is a device and who has it.
type DeviceInfo struct {
	devices.Device
	Resource string
	State    string // free, busy, drained or cut; one that is drained while somebody has it is drained
	Job      uint64 // who has it, 0 for nobody
	Attempt  int    // which of its starts
	Since    time.Time
	Until    time.Time // when the job is expected to end
}

// DevicesOfNode lists the devices of a node, by resource and identity.
func (tx *Tx) DevicesOfNode(n *index.Node) (list []DeviceInfo, err error) {
	if len(n.Devices) == 0 {
		return nil, nil
	}
	defs, err := tx.Resources()
	if err != nil {
		return nil, err
	}
	first, all := make(map[index.ResID]int), 0
	for _, named := range n.Devices {
		first[named.Res] = all
		all += len(named.Set)
	}
	list = make([]DeviceInfo, 0, all)
	for _, named := range n.Devices {
		def, _ := defs.Get(named.Res)
		for i := range named.Set {
			list = append(list, DeviceInfo{Device: named.Set[i], Resource: def.Name, State: deviceState(&named.Set[i])})
		}
	}
	return list, tx.nodeDevices().eachHolder(n.Number, 0, func(j *row.Job) error {
		for _, h := range j.Devices {
			if h.Node != n.Number {
				continue
			}
			for at := range h.Which.Each {
				d := &list[first[h.Res]+at]
				d.Job, d.Attempt, d.Since, d.Until = j.ID, j.CurrentAttempt(), instant(j.Start), instant(j.End)
				if d.InService() {
					d.State = "busy"
				}
			}
		}
		return nil
	})
}

// deviceState is how a device stands that nobody has.
func deviceState(d *devices.Device) string {
	switch {
	case d.Slices > 0:
		return "cut"
	case d.Drained:
		return "drained"
	}
	return "free"
}
