package store

import (
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/store/internal/row"
)

// DeviceInfo is a device and who has it.
type DeviceInfo struct {
	devices.Device
	Resource string
	State    string // free, busy, drained or cut; one that is drained while somebody has it is drained
	Job      uint64 // who has it, 0 for nobody
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
	first := make(map[index.ResID]int)
	for _, named := range n.Devices {
		def, _ := defs.Get(named.Res)
		first[named.Res] = len(list)
		for _, d := range named.Set {
			list = append(list, DeviceInfo{Device: d, Resource: def.Name, State: deviceState(&d)})
		}
	}
	return list, tx.nodeDevices().eachHolder(n.Number, 0, func(j *row.Job) error {
		for _, h := range j.Devices {
			if h.Node != n.Number {
				continue
			}
			for at := range h.Which.Each {
				d := &list[first[h.Res]+at]
				d.Job, d.Since, d.Until = j.ID, instant(j.Start), instant(j.End)
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
