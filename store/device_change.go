package store

import (
	"fmt"
	"slices"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/store/internal/row"
)

// DrainDevices takes devices of a node out of service: nobody gets them any more. What has
// one goes on, and what it has counts so much less, too. Plans that do not fit any more
// are made anew: see Moved.
func (tx *Tx) DrainDevices(node uint32, resource string, ids []string, reason string) (*index.Node, error) {
	return tx.nodeDevices().change(node, resource, ids, func(n *index.Node, def index.Def, d *devices.Device) error {
		if d.Slices > 0 {
			return &Conflict{named(def, n, d.ID), fmt.Sprintf("it is cut; drain its slices: %s=%s", d.Into, devices.FormatIDs(idsOf(d.Cut(d.Slices))))}
		}
		d.Drained, d.Reason = true, reason
		return nil
	})
}

// ResumeDevices puts devices of a node back into service.
func (tx *Tx) ResumeDevices(node uint32, resource string, ids []string) (*index.Node, error) {
	return tx.nodeDevices().change(node, resource, ids, func(_ *index.Node, _ index.Def, d *devices.Device) error {
		d.Drained, d.Reason = false, ""
		return nil
	})
}

// CutDevices cuts devices of a node into so many equal slices, which are devices of another
// resource; 0 makes them whole again. It is a Conflict while somebody has them or a slice
// of them.
func (tx *Tx) CutDevices(node uint32, resource string, ids []string, slices int, into string) (*index.Node, error) {
	defs, err := tx.Resources()
	if err != nil {
		return nil, err
	}
	return tx.nodeDevices().change(node, resource, ids, func(n *index.Node, def index.Def, d *devices.Device) error {
		if strings.Contains(d.ID, "/") {
			return fmt.Errorf("%w: %s is a slice itself", ErrInvalid, named(def, n, d.ID))
		}
		if d.Slices > 0 {
			dropSlices(defs, n, d)
		}
		d.Slices, d.Into = 0, ""
		if slices == 0 {
			return nil
		}
		target, ok := defs.Lookup(into)
		d.Slices, d.Into = slices, into
		if !ok {
			return validCut(defs, n, def, *d)
		}
		d.Into = target.Name
		return addSlices(n, def, target, d)
	})
}

// addSlices adds the slices of a device to the devices of the resource that they are of.
func addSlices(n *index.Node, def, target index.Def, d *devices.Device) error {
	set := n.DevicesOf(target.ID)
	if v, has := n.Get(target.ID); has && set == nil && v.Num > 0 {
		return &Conflict{fmt.Sprintf("%s of node %s", target.Name, n.Name), fmt.Sprintf("it is a count, and the slices of device %s of %s are to be devices of it; %s= forgets it", d.ID, def.Name, target.Name)}
	}
	if d.Slices < 2 || d.Slices > devices.MaxSlices {
		return fmt.Errorf("%w: a device is cut into 2 to %d slices, or 0 to make it whole", ErrInvalid, devices.MaxSlices)
	}
	set = append(set.Clone(), d.Cut(d.Slices)...)
	slices.SortFunc(set, func(a, b devices.Device) int { return devices.CompareIDs(a.ID, b.ID) })
	n.SetDevices(target.ID, set)
	return nil
}

// dropSlices takes the slices of a device from the resource that they are of.
func dropSlices(defs *index.Defs, n *index.Node, d *devices.Device) {
	target, _ := defs.Lookup(d.Into)
	rest := slices.DeleteFunc(n.DevicesOf(target.ID).Clone(), func(s devices.Device) bool { return strings.HasPrefix(s.ID, d.ID+"/") })
	if len(rest) == 0 {
		n.Unset(target.ID)
		return
	}
	n.SetDevices(target.ID, rest)
}

// Lack are devices that a node names, and that its host was found to lack.
type Lack struct {
	Node, Resource string
	IDs            []string
}

func (l *Lack) String() string {
	return fmt.Sprintf("node %s lacks %s=%s", l.Node, l.Resource, devices.FormatIDs(l.IDs))
}

// Detected says which devices a host was found to have. Of those that its nodes name it
// returns the ones that are not among them, and does with them what the setting detect says:
// they are drained, or an event names them. A device is the same where its UUID is; where one
// of both has none, where its id is. Of a resource that is not among those found nothing is
// known, and what is drained is expected to be missing.
func (tx *Tx) Detected(host string, found []devices.Held) (lacks []Lack, err error) {
	set, err := tx.settings()
	if err != nil || set.Detect == "off" {
		return nil, err
	}
	if !tx.Writable() {
		return nil, ErrReadOnly
	}
	defs, err := tx.Resources()
	if err != nil {
		return nil, err
	}
	lacking := make(map[uint32][]Lack)
	var order []uint32
	err = tx.EachNode(func(n *index.Node) error {
		if len(n.Devices) == 0 || !SameHost(HostOfNode(n), host) {
			return nil
		}
		for _, h := range found {
			def, ok := defs.Lookup(h.Resource)
			if !ok {
				continue
			}
			if missing := h.Lacks(n.DevicesOf(def.ID)); len(missing) > 0 {
				lacking[n.Number] = append(lacking[n.Number], Lack{n.Name, def.Name, missing})
			}
		}
		if lacking[n.Number] != nil {
			order = append(order, n.Number)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, number := range order {
		for _, l := range lacking[number] {
			lacks = append(lacks, l)
			if err := tx.nodeDevices().lacks(number, l, host, set.Detect == "drain"); err != nil {
				return nil, err
			}
		}
	}
	return lacks, nil
}

// lacks drains what a node lacks, or has an event say it.
func (ds nodeDevices) lacks(node uint32, l Lack, host string, drain bool) error {
	why := "not found on " + host + " when it was started"
	if drain {
		_, err := ds.DrainDevices(node, l.Resource, l.IDs, why)
		return err
	}
	return ds.happened(row.Event{Node: l.Node, Event: "device", Reason: l.Resource + "=" + devices.FormatIDs(l.IDs) + " " + why})
}

// change changes some devices of a node and puts it back.
func (ds nodeDevices) change(node uint32, resource string, ids []string, fn func(*index.Node, index.Def, *devices.Device) error) (*index.Node, error) {
	if !ds.Writable() {
		return nil, ErrReadOnly
	}
	n, err := ds.NodeByNumber(node)
	if err != nil {
		return nil, err
	}
	defs, err := ds.Resources()
	if err != nil {
		return nil, err
	}
	def, ok := defs.Lookup(resource)
	if !ok {
		return nil, fmt.Errorf("no resource %q%s: %w", resource, index.DidYouMean(resource, defs.Names()), ErrNotFound)
	}
	set := n.DevicesOf(def.ID).Clone()
	for _, id := range ids {
		i := set.Find(id)
		if i < 0 {
			return nil, row.Missing("device", fmt.Sprintf("%s of %s of node %s", id, def.Name, n.Name))
		}
		if err := fn(n, def, &set[i]); err != nil {
			return nil, err
		}
	}
	n.SetDevices(def.ID, set)
	_, err = ds.PutNode(n)
	return n, err
}

// named is what messages call a device.
func named(def index.Def, n *index.Node, id string) string {
	return fmt.Sprintf("device %s of %s of node %s", id, def.Name, n.Name)
}

func idsOf(set devices.Set) []string {
	out := make([]string, len(set))
	for i := range set {
		out[i] = set[i].ID
	}
	return out
}
