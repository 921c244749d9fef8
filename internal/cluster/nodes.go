package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/nodes"
	"github.com/placectl/placectl/internal/queue"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/users"
)

// Beginning returns the first names of nodes with a prefix, at most this many.
func (ns Nodes) Beginning(prefix string, most int) (names []string, err error) {
	err = ns.tx.File.Each(row.NodeNames, []byte(prefix), func(key, _ []byte) (bool, error) {
		names = append(names, string(key))
		return len(names) < most, nil
	})
	return names, err
}

// Get returns a node by its name, or ErrNotFound.
func (ns Nodes) Get(name string) (*index.Node, error) {
	number, ok, err := ns.tx.NodeNumber(name)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, row.Missing("node", name)
	}
	return ns.tx.NodeByNumber(number)
}

// Scan is EachNode for callers that keep no node: it passes one node, with other contents each
// time.
func (ns Nodes) Scan(fn func(*index.Node) error) error {
	var n index.Node
	return ns.tx.File.Each(row.Nodes, nil, func(key, payload []byte) (bool, error) {
		if err := row.ReadNode(key, payload, &n, &ns.tx.Loaded.Nodes.Words); err != nil {
			return false, err
		}
		return true, fn(&n)
	})
}

// AllNodes is the node list that means every node.
const AllNodes = index.EveryNode

// Resolve converts a node list to node numbers, in the list's order, each once. An item that is
// exactly a node's name means that node, whatever brackets it contains. The list "all" is every
// node, unless a node of an older version has that name.
func (ns Nodes) Resolve(list string) ([]uint32, error) {
	items, err := index.SplitNodeList(list)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", row.ErrInvalid, err)
	}
	seen := make(map[uint32]bool)
	var out []uint32
	add := func(number uint32) {
		if !seen[number] {
			seen[number] = true
			out = append(out, number)
		}
	}
	for _, item := range items {
		number, ok, err := ns.tx.NodeNumber(item)
		if err != nil {
			return nil, err
		}
		if ok {
			add(number)
			continue
		}
		if item == AllNodes && len(items) == 1 {
			return out, NodesOf(ns.tx).Scan(func(n *index.Node) error { out = append(out, n.Number); return nil })
		}
		names, err := index.ExpandNodeList(item)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", row.ErrInvalid, err)
		}
		for _, name := range names {
			number, ok, err := ns.tx.NodeNumber(name)
			if err != nil {
				return nil, err
			}
			if !ok {
				return nil, row.Missing("node", name)
			}
			add(number)
		}
	}
	return out, nil
}

// Put adds a node, or replaces the one of the same name, and reports which. It sets n.Number
// and n.Bucket. Jobs and plans on the node stay. Plans for devices that are no longer in
// service are made again. A device in use can be drained, but removing or cutting it is a
// Conflict.
func (ns Nodes) Put(n *index.Node) (added bool, err error) {
	if err := users.Operates(ns.tx, "nodes"); err != nil {
		return false, err
	}
	return putNode(ns.tx, n)
}

func putNode(tx *kernel.Tx, n *index.Node) (added bool, err error) {
	if err := validNode(tx, n); err != nil {
		return false, err
	}
	ix, err := tx.Index()
	if err != nil {
		return false, err
	}
	number, exists, err := tx.NodeNumber(n.Name)
	if err != nil {
		return false, err
	}
	if !exists && n.Name == AllNodes {
		return false, fmt.Errorf("%w node name %s: it means every node", row.ErrInvalid, n.Name)
	}
	class := index.Free
	var old *index.Node
	var holders []*row.Job
	if exists {
		if old, err = tx.NodeByNumber(number); err != nil {
			return false, err
		}
		if holders, err = (renaming{tx, old, n}).holders(); err != nil {
			return false, err
		}
		if old.State != n.State || old.Reason != n.Reason {
			if err := jobs.HostsOf(tx).Touched(number); err != nil {
				return false, err
			}
		}
		tx.Loaded.Past.Changes(old)
		class = tx.NodeIndex().ClassOf(number)
		ix.Remove(old, class)
		n.Number = number
		n.Lessened = (old.Lessened || gaveLess(old, n)) && len(tx.Calendar().At(number)) > 0
	} else {
		n.Number = tx.State.NextNode
		tx.State.NextNode++
		tx.Loaded.Past.Added(n.Number)
		if err := tx.File.Put(row.NodeNames, []byte(n.Name), row.EncodeNumber32(n.Number)); err != nil {
			return false, err
		}
	}
	ix.Insert(n, class)
	if err := ix.Err(); err != nil {
		return false, err
	}
	if err := tx.File.Put(row.Nodes, row.Key32(n.Number), row.EncodeNode(n)); err != nil {
		return false, err
	}
	if exists && !bytes.Equal(row.EncodeNode(old), row.EncodeNode(n)) {
		tx.Loaded.Freed.Anywhere() // jobs that only the old node could serve may never run now
	} else {
		tx.Loaded.Freed.On([]uint32{n.Number})
	}
	if exists && !index.SameDevices(old, n) {
		if err := (renaming{tx, old, n}).carryOut(holders); err != nil {
			return false, tx.Spoil(err)
		}
	}
	if exists {
		if err := jobs.TakeOffOutgrown(tx, n); err != nil {
			return false, tx.Spoil(err)
		}
		if err := queue.PlaceAnew(tx); err != nil {
			return false, tx.Spoil(err)
		}
		class = tx.NodeIndex().ClassOf(n.Number) // a planned job may have begun there
	}
	return !exists, tx.Loaded.Rooms.Measure(ix, n.Number, class == index.Busy && n.State == index.Up)
}

// gaveLess reports whether a node has less of something than before.
func gaveLess(old, now *index.Node) bool {
	return slices.ContainsFunc(old.Res, func(a index.Amount) bool {
		v, _ := now.Get(a.Res)
		return v.Num < a.Value.Num
	})
}

func validNode(tx *kernel.Tx, n *index.Node) error {
	defs, err := tx.Resources()
	if err != nil {
		return err
	}
	if err := nodes.Valid(defs, n); err != nil || n.Queue == "" {
		return err
	}
	payload, err := tx.File.Get(row.Queues, []byte(n.Queue))
	if err == nil && payload == nil {
		err = tx.Queues().Missing(n.Queue)
	}
	return err
}

// SetState sets a node up, down, offline or drained, with a reason. Its running jobs continue.
func (ns Nodes) SetState(number uint32, state index.State, reason string) error {
	if err := errors.Join(users.Operates(ns.tx, "nodes"), kernel.CheckText("reason", reason)); err != nil {
		return err
	}
	if err := jobs.HostsOf(ns.tx).Touched(number); err != nil {
		return ns.tx.Spoil(err)
	}
	if err := jobs.SetNodeState(ns.tx, number, state, row.Because(row.CauseRequest, reason)); err != nil {
		return err
	}
	return ns.tx.Spoil(queue.PlaceAnew(ns.tx))
}

// SetLoad records the measured load of a node: how many of its processors are busy. Only the
// row changes, unless the node had no load or loses its load, because the index knows which
// nodes have one.
func (ns Nodes) SetLoad(number uint32, load float64) error {
	if err := users.Operates(ns.tx, "nodes"); err != nil {
		return err
	}
	n, err := ns.tx.NodeByNumber(number)
	if err != nil {
		return err
	}
	if err := nodes.ValidLoad(n, load); err != nil {
		return err
	}
	had := n.Load != 0
	n.Load = load
	if had != (load != 0) {
		ix, err := ns.tx.Index()
		if err != nil {
			return err
		}
		ix.Remark(n)
		if err := ix.Err(); err != nil {
			return err
		}
	}
	return ns.tx.File.Put(row.Nodes, row.Key32(number), row.EncodeNode(n))
}

// Remove deletes a node. Its number is never used again. It fails with a Conflict while something
// is on the node or planned for it.
func (ns Nodes) Remove(number uint32) error {
	if err := users.Operates(ns.tx, "nodes"); err != nil {
		return err
	}
	n, err := ns.tx.NodeByNumber(number)
	if err != nil {
		return err
	}
	if list := ns.tx.Calendar().At(number); len(list) > 0 {
		who, err := ns.tx.Owner(list[0])
		if err != nil {
			return err
		}
		return row.Clash("node "+n.Name, who.String()+" is on it or planned for it")
	}
	ix, err := ns.tx.Index()
	if err != nil {
		return err
	}
	ns.tx.Loaded.Past.Removes(n)
	ix.Remove(n, index.Free)
	if err := ix.Err(); err != nil {
		return err
	}
	ns.tx.Loaded.Freed.Anywhere()
	err = ns.tx.File.Remove(row.NodeNames, []byte(n.Name))
	if err == nil {
		err = nodes.Executed(ns.tx.File, number)
	}
	if err != nil {
		return err
	}
	return ns.tx.File.Remove(row.Nodes, row.Key32(number))
}

// Allocations lists what is on a node and what is planned for it, by start.
func (ns Nodes) Allocations(node uint32) ([]kernel.Allocation, error) {
	c := ns.tx.Calendar()
	list := c.At(node)
	if len(list) == 0 {
		return nil, c.Err()
	}
	out := make([]kernel.Allocation, len(list))
	for i, b := range list {
		who, err := ns.tx.Owner(b)
		if err != nil {
			return nil, err
		}
		out[i] = kernel.Allocation{Owner: who, Start: time.Unix(b.Start, 0), End: time.Unix(c.End(b), 0),
			Due: time.Unix(b.End, 0), Now: c.Live(b)}
	}
	return out, c.Err()
}
