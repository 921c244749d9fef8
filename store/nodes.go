package store

import (
	"fmt"
	"iter"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/kernel"
)

// Node returns a node by its name, or an ErrNotFound.
func (tx *Tx) Node(name string) (*index.Node, error) { return tx.tx.Nodes().Get(name) }

// Nodes iterates over the nodes in the order of their declaration.
func (tx *Tx) Nodes() iter.Seq2[*index.Node, error] {
	return kernel.Seq(tx.tx.Nodes().Each, func(n *index.Node) (*index.Node, error) { return n, nil })
}

// PutNode adds a node, or replaces the one of its name, and reports which. Its jobs go on. It needs the rights of an
// operator, as do the other methods that change nodes.
func (tx *Tx) PutNode(n *index.Node) (added bool, err error) { return tx.tx.Nodes().Put(n) }

// RemoveNode deletes a node. It fails with a Conflict if something is on it or planned for it.
func (tx *Tx) RemoveNode(name string) error {
	n, err := tx.Node(name)
	if err != nil {
		return err
	}
	return tx.tx.Nodes().Remove(n.Number)
}

// SetNodeState sets the nodes of a list, such as n[1-4], up, down, offline or drained. Their jobs
// go on; plans on nodes that are not up are made again.
func (tx *Tx) SetNodeState(list string, state index.State, reason string) error {
	numbers, err := tx.tx.Nodes().Resolve(list)
	for _, n := range numbers {
		if err == nil {
			err = tx.tx.Nodes().SetState(n, state, reason)
		}
	}
	return err
}

// SetLoad records the measured load of a node: the number of its busy processors.
func (tx *Tx) SetLoad(node string, load float64) error {
	n, err := tx.Node(node)
	if err != nil {
		return err
	}
	return tx.tx.Nodes().SetLoad(n.Number, load)
}

// Occupancy returns what is on a node now and planned for it.
func (tx *Tx) Occupancy(node string) (*Occupancy, error) {
	n, err := tx.Node(node)
	if err != nil {
		return nil, err
	}
	is, err := tx.tx.Nodes().Occupancy(n)
	if err != nil {
		return nil, err
	}
	defs, err := tx.Resources()
	if err != nil {
		return nil, err
	}
	out := &Occupancy{State: is.State.String(), Jobs: is.Jobs, FreeUntil: is.FreeUntil, FreeFrom: is.FreeFrom,
		Free: make(map[string]string)}
	for _, a := range tx.tx.Nodes().Left(n) {
		if def, ok := defs.Get(a.Res); ok {
			out.Free[def.Name] = def.Format(a.Value)
		}
	}
	list, err := tx.tx.Nodes().Allocations(n.Number)
	out.List, err = listed(list, err, func(a engine.Allocation) (Allocation, error) {
		return Allocation{a.Job, a.Reservation, a.Start, a.End}, nil
	})
	return out, err
}

// Devices returns the devices of a node that names them, and the jobs that have them.
func (tx *Tx) Devices(node string) ([]Device, error) {
	n, err := tx.Node(node)
	if err != nil {
		return nil, err
	}
	list, err := tx.tx.Devices().OfNode(n)
	return listed(list, err, func(d engine.DeviceInfo) (Device, error) {
		return Device{d.Device, d.Resource, d.State, d.Job}, nil
	})
}

// SetDevices drains devices of a node, puts them back into service, or cuts them into slices.
func (tx *Tx) SetDevices(node, resource string, ids []string, c DeviceChange) error {
	n, err := tx.Node(node)
	if err != nil {
		return err
	}
	drain, resume, cut := c.Drain != "", c.Resume, c.Slices != 0
	switch d := tx.tx.Devices(); {
	case drain && !resume && !cut:
		_, err = d.Drain(n.Number, resource, ids, c.Drain)
	case resume && !drain && !cut:
		_, err = d.Resume(n.Number, resource, ids)
	case cut && !drain && !resume:
		_, err = d.Cut(n.Number, resource, ids, max(0, c.Slices), c.Into)
	default:
		err = fmt.Errorf("%w: set one of Drain, Resume and Slices", ErrInvalid)
	}
	return err
}

// SplitNode replaces a node by one for each group of its devices, such as its NUMA nodes. It fails with a Conflict if
// something is on it.
func (tx *Tx) SplitNode(name string) ([]*index.Node, error) {
	n, err := tx.Node(name)
	if err != nil {
		return nil, err
	}
	return tx.tx.Devices().SplitNode(n.Number)
}

// JoinNode makes one node of the parts that SplitNode made.
func (tx *Tx) JoinNode(name string) (*index.Node, error) {
	whole, _, err := tx.tx.Devices().JoinNode(name)
	return whole, err
}
