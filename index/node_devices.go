package index

import (
	"slices"

	"github.com/placectl/placectl/index/devices"
)

// NamedDevices holds the devices of a resource of a node.
type NamedDevices struct {
	Res ResID
	Set devices.Set
}

// DevicesOf returns the devices of a resource, or nil if the node names none.
func (n *Node) DevicesOf(id ResID) devices.Set {
	if i, ok := n.findDevices(id); ok {
		return n.Devices[i].Set
	}
	return nil
}

// SetDevices names the devices of a resource. The node's amount of it becomes the number of
// devices in service. An empty set removes the devices and keeps the amount.
func (n *Node) SetDevices(id ResID, set devices.Set) {
	i, ok := n.findDevices(id)
	switch {
	case len(set) == 0 && ok:
		n.Devices = slices.Delete(slices.Clone(n.Devices), i, i+1)
		if len(n.Devices) == 0 {
			n.Devices = nil
		}
		return
	case len(set) == 0:
		return
	case ok:
		n.Devices = slices.Clone(n.Devices)
		n.Devices[i].Set = set
	default:
		n.Devices = slices.Insert(slices.Clone(n.Devices), i, NamedDevices{id, set})
	}
	n.Set(id, Value{Num: int64(set.Count())})
}

// Count sets the amount of a resource. A number of GPUs declares them as devices 0, 1, 2 and so on, so that
// each job gets some of its own. It leaves devices that were named as they are.
func (n *Node) Count(id ResID, v Value) {
	n.Set(id, v)
	if id != NGPUs {
		return
	}
	was := n.DevicesOf(id)
	if !was.Equal(devices.Numbered(len(was))) {
		return
	}
	n.SetDevices(id, nil)
	if v.Num <= devices.MaxDevices {
		n.SetDevices(id, devices.Numbered(int(v.Num)))
	}
}

// KeepDevices corrects an amount that counts all devices of a resource to the number in
// service. Inventories count drained devices, too.
func (n *Node) KeepDevices() {
	for _, d := range n.Devices {
		if v, ok := n.Get(d.Res); ok && v.Num == int64(len(d.Set)) {
			n.Set(d.Res, Value{Num: int64(d.Set.Count())})
		}
	}
}

func (n *Node) findDevices(id ResID) (int, bool) {
	return slices.BinarySearchFunc(n.Devices, id, func(d NamedDevices, id ResID) int { return int(d.Res) - int(id) })
}

// SameDevices reports whether two nodes name the same devices.
func SameDevices(a, b *Node) bool {
	return slices.EqualFunc(a.Devices, b.Devices, func(x, y NamedDevices) bool {
		return x.Res == y.Res && x.Set.Equal(y.Set)
	}) &&
		slices.EqualFunc(a.Distances, b.Distances, slices.Equal)
}
