package kernel

import (
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
)

// absences caches the nodes out of service, without and with those that lack only devices, until a
// row of a node is written.
type absences struct {
	lists  [2][]placer.Absent
	known  [2]bool
	writes int
}

// Absent lists the nodes that are not up; if withDevices is true, also those with devices out of
// service, and all with theirs: see placer.Snapshot.
func (tx *Tx) Absent(withDevices bool) ([]placer.Absent, error) {
	a, which := &tx.Loaded.Absences, 0
	if withDevices {
		which = 1
	}
	if writes := tx.File.Writes(row.Nodes); a.writes != writes {
		*a = absences{writes: writes}
	}
	if a.known[which] {
		return a.lists[which], nil
	}
	list, err := tx.absent(withDevices)
	if err != nil {
		return nil, err
	}
	a.lists[which], a.known[which] = list, true
	return list, nil
}

func (tx *Tx) absent(withDevices bool) (list []placer.Absent, err error) {
	ix, err := tx.Index()
	if err != nil {
		return nil, err
	}
	numbers := ix.NotUp()
	if withDevices {
		numbers = roaring.Or(numbers, ix.MarkedNodes(index.Named))
	}
	lacking := false
	for it := numbers.Iterator(); it.HasNext(); {
		n, err := tx.NodeByNumber(it.Next())
		if err != nil {
			return nil, err
		}
		back := *n
		back.State, back.Reason = index.Up, ""
		lacks := withDevices && undrained(&back)
		if lacking = lacking || lacks; lacks || n.State != index.Up {
			list = append(list, placer.Absent{Node: n, Back: &back})
		}
	}
	if withDevices && !lacking { // these are what nodes alone could do
		return nil, nil
	}
	return list, nil
}

// undrained puts the devices of a node into service, and reports whether some were not.
func undrained(n *index.Node) (changed bool) {
	n.Res = slices.Clone(n.Res)
	for _, d := range n.Devices {
		set := d.Set.Clone()
		for i := range set {
			set[i].Drained = false
		}
		if drained := slices.ContainsFunc(d.Set, func(one devices.Device) bool { return one.Drained }); drained {
			n.SetDevices(d.Res, set)
			changed = true
		}
	}
	return changed
}
