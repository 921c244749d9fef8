package cluster

import (
	"errors"
	"fmt"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/nodes"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/users"
)

// Drain takes devices of a node out of service, so no other job gets them. A job that has one
// continues, and its allocation counts that much less. Plans that no longer fit are made
// again: see Devices.Moved.
func (ds Devices) Drain(node uint32, resource string, ids []string, reason string) (*index.Node, error) {
	if err := errors.Join(users.Operates(ds.tx, "nodes"), kernel.CheckText("reason", reason)); err != nil {
		return nil, err
	}
	return change(ds.tx, node, resource, ids, func(n *index.Node, def index.Def, d *devices.Device) error {
		if d.Slices > 0 {
			return row.Clash(nodes.Called(def, n, d.ID), fmt.Sprintf("it is cut; drain its slices: %s=%s", d.Into,
				devices.FormatIDs(kernel.IdsOf(d.Cut(d.Slices)))))
		}
		d.Drained, d.Reason = true, reason
		return nil
	})
}

// Resume puts devices of a node back into service.
func (ds Devices) Resume(node uint32, resource string, ids []string) (*index.Node, error) {
	if err := users.Operates(ds.tx, "nodes"); err != nil {
		return nil, err
	}
	return change(ds.tx, node, resource, ids, func(_ *index.Node, _ index.Def, d *devices.Device) error {
		d.Drained, d.Reason = false, ""
		return nil
	})
}

// Cut cuts devices of a node into equal slices, which are devices of another resource; 0
// slices makes them whole again. It returns a Conflict while a job has one of them or a slice.
func (ds Devices) Cut(node uint32, resource string, ids []string, slices int, into string) (*index.Node, error) {
	if err := users.Operates(ds.tx, "nodes"); err != nil {
		return nil, err
	}
	defs, err := ds.tx.Resources()
	if err != nil {
		return nil, err
	}
	return change(ds.tx, node, resource, ids, func(n *index.Node, def index.Def, d *devices.Device) error {
		if strings.Contains(d.ID, "/") {
			return fmt.Errorf("%w: %s is a slice itself", row.ErrInvalid, nodes.Called(def, n, d.ID))
		}
		if d.Slices > 0 {
			nodes.DropSlices(defs, n, d)
		}
		d.Slices, d.Into = 0, ""
		if slices == 0 {
			return nil
		}
		target, ok := defs.Lookup(into)
		d.Slices, d.Into = slices, into
		if !ok {
			return nodes.ValidCut(defs, n, def, *d)
		}
		d.Into = target.Name
		return nodes.AddSlices(n, def, target, d)
	})
}

// Lack lists devices that a node names but that its host lacks.
type Lack struct {
	Node, Resource string
	IDs            []string
}

func (l *Lack) String() string {
	return fmt.Sprintf("node %s lacks %s=%s", l.Node, l.Resource, devices.FormatIDs(l.IDs))
}

// Detected records the devices that a host was found to have. It returns the named devices of the
// host's nodes that are missing, and applies the setting detect: they are drained, or an event
// names them. Two devices are the same if their UUIDs are, or, if one has none, their ids.
// Resources that were not detected are unknown, and drained devices may be missing.
func (ds Devices) Detected(host string, found []devices.Held) (lacks []Lack, err error) {
	set, err := ds.tx.Settings()
	if err != nil || set.Detect == "off" {
		return nil, err
	}
	if !ds.tx.Writable() {
		return nil, file.ErrReadOnly
	}
	defs, err := ds.tx.Resources()
	if err != nil {
		return nil, err
	}
	lacking := make(map[uint32][]Lack)
	var order []uint32
	err = ds.tx.EachNode(func(n *index.Node) error {
		if len(n.Devices) == 0 || !kernel.SameHost(kernel.HostOfNode(n), host) {
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
			if err := lacksOf(ds.tx, number, l, host, set.Detect == "drain"); err != nil {
				return nil, err
			}
		}
	}
	return lacks, nil
}

// lacksOf drains the missing devices of a node, or records an event about them.
func lacksOf(tx *kernel.Tx, node uint32, l Lack, host string, drain bool) error {
	why := "not found on " + host + " when it was started"
	if drain {
		_, err := DevicesOf(tx).Drain(node, l.Resource, l.IDs, why)
		return err
	}
	return tx.Happened(row.Event{Node: l.Node, Event: "device",
		Reason: row.Because(row.CauseNone, l.Resource+"="+devices.FormatIDs(l.IDs)+" "+why)})
}

// change changes some devices of a node and puts it back.
func change(tx *kernel.Tx, node uint32, resource string, ids []string,
	fn func(*index.Node, index.Def, *devices.Device) error) (*index.Node, error) {
	if !tx.Writable() {
		return nil, file.ErrReadOnly
	}
	n, err := tx.NodeByNumber(node)
	if err != nil {
		return nil, err
	}
	defs, err := tx.Resources()
	if err != nil {
		return nil, err
	}
	def, ok := defs.Lookup(resource)
	if !ok {
		return nil, fmt.Errorf("no resource %q%s: %w", resource, index.DidYouMean(resource, defs.Names()),
			row.ErrNotFound)
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
	_, err = putNode(tx, n)
	return n, err
}

// Parts of a node are nodes like others. Splitting a node removes it and adds its parts. So nothing
// may be on it, and past jobs then show it by its number.

// SplitNode replaces a node by one node for each group of its devices: see index.Node.Split. It
// fails with a Conflict if something is on the node or planned for it, or if its devices are not of
// at least two groups. It fails with ErrExists if a part's name is taken.
func (ds Devices) SplitNode(number uint32) (parts []*index.Node, err error) {
	if err := users.Operates(ds.tx, "nodes"); err != nil {
		return nil, err
	}
	n, err := ds.tx.NodeByNumber(number)
	if err != nil {
		return nil, err
	}
	defs, err := ds.tx.Resources()
	if err != nil {
		return nil, err
	}
	if parts, err = n.Split(defs); err != nil {
		return nil, row.Clash("node "+n.Name, err.Error())
	}
	if err := NodesOf(ds.tx).Remove(number); err != nil {
		return nil, err
	}
	for _, p := range parts {
		if err := putNew(ds.tx, p); err != nil {
			return nil, err
		}
	}
	return parts, ds.tx.Happened(row.Event{Node: n.Name, Event: "node", Old: n.State.String(), New: "split",
		Reason: row.Because(row.CauseRequest, "into "+namesOf(parts))})
}

// JoinNode undoes SplitNode. It joins all nodes that are named like parts of the node and have it
// as their host, and returns both. It fails with a Conflict if something is on a part or planned
// for it, or if parts differ in a property of the whole node, such as its queue. It fails with
// ErrNotFound if there is no part, and with ErrExists if a node has the name.
func (ds Devices) JoinNode(name string) (whole *index.Node, parts []*index.Node, err error) {
	if err := users.Operates(ds.tx, "nodes"); err != nil {
		return nil, nil, err
	}
	err = ds.tx.File.Each(row.NodeNames, []byte(name+"."), func(key, payload []byte) (bool, error) {
		number, err := row.DecodeNumber32(row.NodeNames, key, payload)
		if err != nil {
			return false, err
		}
		n, err := ds.tx.NodeByNumber(number)
		if err == nil && n.IsPart(name) {
			parts = append(parts, n)
		}
		return true, err
	})
	if err != nil {
		return nil, nil, err
	}
	if len(parts) == 0 {
		return nil, nil, row.Missing("part of node", name)
	}
	defs, err := ds.tx.Resources()
	if err != nil {
		return nil, nil, err
	}
	if whole, err = index.Join(defs, name, parts); err != nil {
		return nil, nil, row.Clash("node "+name, err.Error())
	}
	for _, p := range parts {
		if err := NodesOf(ds.tx).Remove(p.Number); err != nil {
			return nil, nil, err
		}
	}
	if err := putNew(ds.tx, whole); err != nil {
		return nil, nil, err
	}
	return whole, parts, ds.tx.Happened(row.Event{Node: name, Event: "node", Old: "split", New: whole.State.String(),
		Reason: row.Because(row.CauseRequest, "of "+namesOf(parts))})
}

// putNew adds a node if its name is not taken.
func putNew(tx *kernel.Tx, n *index.Node) error {
	_, taken, err := tx.NodeNumber(n.Name)
	if err != nil {
		return err
	}
	if taken {
		return fmt.Errorf("node %s: %w", n.Name, file.ErrExists)
	}
	_, err = putNode(tx, n)
	return err
}

func namesOf(nodes []*index.Node) string {
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = n.Name
	}
	return strings.Join(names, ", ")
}
