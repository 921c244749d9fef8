package store

import (
	"fmt"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store/internal/row"
)

// Parts are nodes like others: a node that is split is removed, and its parts are added. So
// nothing may be on it, and jobs of the past that were on it call it by its number from then
// on.

// SplitNode makes a node for each group of its devices out of a node: see index.Node.Split.
// It is a Conflict while something is on the node, or planned for it, and where it names no
// devices of two groups. ErrExists means that a part's name is taken.
func (tx *Tx) SplitNode(number uint32) (parts []*index.Node, err error) {
	if !tx.Writable() {
		return nil, ErrReadOnly
	}
	n, err := tx.NodeByNumber(number)
	if err != nil {
		return nil, err
	}
	defs, err := tx.Resources()
	if err != nil {
		return nil, err
	}
	if parts, err = n.Split(defs); err != nil {
		return nil, &Conflict{"node " + n.Name, err.Error()}
	}
	if err := tx.RemoveNode(number); err != nil {
		return nil, err
	}
	for _, p := range parts {
		if err := tx.nodeDevices().putNew(p); err != nil {
			return nil, err
		}
	}
	return parts, tx.happened(row.Event{Node: n.Name, Event: "node", Old: n.State.String(), New: "split", Reason: "into " + namesOf(parts)})
}

// JoinNode undoes SplitNode: it makes one node of all that are called as its parts and have
// it as their host, and returns both. It is a Conflict while something is on a part, or
// planned for it, and where parts differ in what a node has once, such as a queue; ErrNotFound
// means that there is no part, ErrExists that there is a node of the name.
func (tx *Tx) JoinNode(name string) (whole *index.Node, parts []*index.Node, err error) {
	if !tx.Writable() {
		return nil, nil, ErrReadOnly
	}
	err = tx.file.Each(row.NodeNames, []byte(name+"."), func(key, payload []byte) (bool, error) {
		number, err := row.DecodeNumber32(row.NodeNames, key, payload)
		if err != nil {
			return false, err
		}
		n, err := tx.NodeByNumber(number)
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
	defs, err := tx.Resources()
	if err != nil {
		return nil, nil, err
	}
	if whole, err = index.Join(defs, name, parts); err != nil {
		return nil, nil, &Conflict{"node " + name, err.Error()}
	}
	for _, p := range parts {
		if err := tx.RemoveNode(p.Number); err != nil {
			return nil, nil, err
		}
	}
	if err := tx.nodeDevices().putNew(whole); err != nil {
		return nil, nil, err
	}
	return whole, parts, tx.happened(row.Event{Node: name, Event: "node", Old: "split", New: whole.State.String(), Reason: "of " + namesOf(parts)})
}

// putNew adds a node whose name is to be free.
func (ds nodeDevices) putNew(n *index.Node) error {
	_, taken, err := ds.NodeNumber(n.Name)
	if err != nil {
		return err
	}
	if taken {
		return fmt.Errorf("node %s: %w", n.Name, ErrExists)
	}
	_, err = ds.PutNode(n)
	return err
}

func namesOf(nodes []*index.Node) string {
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = n.Name
	}
	return strings.Join(names, ", ")
}
