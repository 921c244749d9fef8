package nodes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/internal/row"
)

// validDevices refuses devices that no job could get, and an amount that differs from them.
func validDevices(defs *index.Defs, n *index.Node) error {
	if !n.Distances.Valid() {
		return fmt.Errorf("%w distances of the groups of node %s: they must be a square of numbers from 0 to 255",
			row.ErrInvalid, n.Name)
	}
	for i, d := range n.Devices {
		def, ok := defs.Get(d.Res)
		switch {
		case !ok:
			return fmt.Errorf("%w: node %s names devices of resource #%d, which is not declared", row.ErrInvalid,
				n.Name, d.Res)
		case def.Type != index.Long || !def.Consumable:
			return fmt.Errorf("%w devices of %s of node %s: only a consumable long has devices", row.ErrInvalid,
				def.Name, n.Name)
		case i > 0 && n.Devices[i-1].Res >= d.Res || len(d.Set) == 0:
			return fmt.Errorf("%w: the devices of node %s are out of order", row.ErrInvalid, n.Name)
		}
		if err := d.Set.Check(); err != nil {
			return fmt.Errorf("%w %s of node %s: %w", row.ErrInvalid, def.Name, n.Name, err)
		}
		if v, _ := n.Get(d.Res); v.Num != int64(d.Set.Count()) {
			return row.Clash(fmt.Sprintf("%s of node %s", def.Name, n.Name),
				fmt.Sprintf("%d of its devices are in service, but the amount is %d; %s= forgets the devices",
					d.Set.Count(), v.Num, def.Name))

		}
		for _, one := range d.Set {
			if err := cmp.Or(ValidCut(defs, n, def, one), validSlice(n, def, one)); err != nil {
				return err
			}
		}
	}
	return nil
}

// ValidCut refuses a device that is cut into slices of an unknown resource, or of its own.
func ValidCut(defs *index.Defs, n *index.Node, def index.Def, d devices.Device) error {
	if d.Slices == 0 {
		return nil
	}
	into, ok := defs.Lookup(d.Into)
	switch {
	case !ok:
		return fmt.Errorf("no resource %q%s: %w; to declare it: placectl resource add %s=long,consumable",
			d.Into, index.DidYouMean(d.Into, defs.Names()), row.ErrNotFound, d.Into)
	case into.ID == def.ID:
		return fmt.Errorf("%w: device %s of %s of node %s cannot be cut into slices of the same resource",
			row.ErrInvalid, d.ID, def.Name, n.Name)
	}
	return nil
}

// validSlice refuses a slice of a device that the node also names as a whole, because two jobs
// could get it. Cores also have numbers, but are not such devices.
func validSlice(n *index.Node, def index.Def, slice devices.Device) error {
	of, _, isSlice := strings.Cut(slice.ID, "/")
	if !isSlice {
		return nil
	}
	whole := false
	for _, d := range n.Devices {
		i := d.Set.Find(of)
		if i < 0 || d.Res == def.ID || d.Res == index.NCPUs {
			continue
		}
		if d.Set[i].Slices > 0 && d.Set[i].Into == def.Name {
			return nil
		}
		whole = true
	}
	if whole {
		return row.Clash(Called(def, n, slice.ID), "it is a slice of "+of+", which the node names as a whole device")
	}
	return nil
}

// AddSlices adds the slices of a device to the devices of the slices' resource.
func AddSlices(n *index.Node, def, target index.Def, d *devices.Device) error {
	set := n.DevicesOf(target.ID)
	if v, has := n.Get(target.ID); has && set == nil && v.Num > 0 {
		return row.Clash(fmt.Sprintf("%s of node %s", target.Name, n.Name),
			fmt.Sprintf("it is a count without devices, so device %s of %s cannot be cut into it; %s= forgets it", d.ID,
				def.Name, target.Name))
	}
	if d.Slices < 2 || d.Slices > devices.MaxSlices {
		return fmt.Errorf("%w: a device is cut into 2 to %d slices, or 0 to make it whole", row.ErrInvalid,
			devices.MaxSlices)
	}
	set = append(set.Clone(), d.Cut(d.Slices)...)
	slices.SortFunc(set, func(a, b devices.Device) int { return devices.CompareIDs(a.ID, b.ID) })
	n.SetDevices(target.ID, set)
	return nil
}

// DropSlices removes the slices of a device from the slices' resource.
func DropSlices(defs *index.Defs, n *index.Node, d *devices.Device) {
	target, _ := defs.Lookup(d.Into)
	rest := slices.DeleteFunc(n.DevicesOf(target.ID).Clone(), func(s devices.Device) bool {
		return strings.HasPrefix(s.ID, d.ID+"/")
	})
	if len(rest) == 0 {
		n.Unset(target.ID)
		return
	}
	n.SetDevices(target.ID, rest)
}

// Called returns how messages name a device.
func Called(def index.Def, n *index.Node, id string) string {
	return fmt.Sprintf("device %s of %s of node %s", id, def.Name, n.Name)
}
