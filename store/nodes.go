package store

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store/internal/hosts"
	"github.com/placectl/placectl/store/internal/nodes"
	"github.com/placectl/placectl/store/internal/row"
)

func itoa(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

// NodeNumber finds a node's number by its name.
func (tx *Tx) NodeNumber(name string) (uint32, bool, error) {
	payload, err := tx.file.Get(row.NodeNames, []byte(name))
	if err != nil || payload == nil {
		return 0, false, err
	}
	number, err := row.DecodeNumber32(row.NodeNames, []byte(name), payload)
	return number, err == nil, err
}

// NodesBeginning are the names of the first nodes by name that begin in a way, at most so many.
func NodesBeginning(tx *Tx, prefix string, most int) (names []string, err error) {
	err = tx.file.Each(row.NodeNames, []byte(prefix), func(key, _ []byte) (bool, error) {
		names = append(names, string(key))
		return len(names) < most, nil
	})
	return names, err
}

// NodeByNumber finds a node by its number.
func (tx *Tx) NodeByNumber(number uint32) (*index.Node, error) {
	key := row.Key32(number)
	payload, err := tx.file.Get(row.Nodes, key)
	if err != nil {
		return nil, err
	}
	if payload == nil {
		return nil, row.Missing("node", "#"+itoa(number))
	}
	return row.DecodeNode(key, payload)
}

// Node finds a node by its name, ErrNotFound when there is none.
func (tx *Tx) Node(name string) (*index.Node, error) {
	number, ok, err := tx.NodeNumber(name)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, row.Missing("node", name)
	}
	return tx.NodeByNumber(number)
}

// EachNode goes through all nodes by number, until fn fails. It makes no calls
// of fn for nodes that fn adds.
func (tx *Tx) EachNode(fn func(*index.Node) error) error {
	return tx.file.Each(row.Nodes, nil, func(key, payload []byte) (bool, error) {
		n, err := row.DecodeNode(key, payload)
		if err != nil {
			return false, err
		}
		return true, fn(n)
	})
}

// ScanNodes is EachNode for callers that keep no node: it passes one node, with other contents each
// time.
func (tx *Tx) ScanNodes(fn func(*index.Node) error) error {
	var n index.Node
	return tx.file.Each(row.Nodes, nil, func(key, payload []byte) (bool, error) {
		if err := row.ReadNode(key, payload, &n, &tx.loaded.nodes.Words); err != nil {
			return false, err
		}
		return true, fn(&n)
	})
}

// AllNodes is the node list that is every node.
const AllNodes = "all"

// ResolveNodes turns a node list into node numbers, in the list's order and
// each once. An item that is a node's name as it stands is that node, whatever
// brackets it holds; the list "all" is every node, unless one is called so.
func (tx *Tx) ResolveNodes(list string) ([]uint32, error) {
	items, err := index.SplitNodeList(list)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
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
		number, ok, err := tx.NodeNumber(item)
		if err != nil {
			return nil, err
		}
		if ok {
			add(number)
			continue
		}
		if item == AllNodes && len(items) == 1 {
			return out, tx.ScanNodes(func(n *index.Node) error { out = append(out, n.Number); return nil })
		}
		names, err := index.ExpandNodeList(item)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
		}
		for _, name := range names {
			number, ok, err := tx.NodeNumber(name)
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

// PutNode adds a node, or replaces the one of the same name, and reports which. It sets n.Number
// and n.Bucket. What runs on the node, and what is planned for it, stays. Plans for devices that
// are no longer in service are made again. A device in use can be drained, but removing or cutting
// it is a Conflict.
func (tx *Tx) PutNode(n *index.Node) (added bool, err error) {
	if err := tx.operates("nodes"); err != nil {
		return false, err
	}
	return tx.putNode(n)
}

func (tx *Tx) putNode(n *index.Node) (added bool, err error) {
	if err := validNode(tx, n); err != nil {
		return false, err
	}
	ix, err := tx.index()
	if err != nil {
		return false, err
	}
	number, exists, err := tx.NodeNumber(n.Name)
	if err != nil {
		return false, err
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
			if err := tx.Hosts().touched(number); err != nil {
				return false, err
			}
		}
		tx.loaded.past.Changes(old)
		class = tx.nodeIndex().classOf(number)
		ix.Remove(old, class)
		n.Number = number
		n.Lessened = (old.Lessened || gaveLess(old, n)) && len(tx.calendar().At(number)) > 0
	} else {
		n.Number = tx.state.NextNode
		if n.Number == index.NoNode {
			return false, fmt.Errorf("%w: no node numbers are left", ErrConflict)
		}
		tx.state.NextNode++
		tx.loaded.past.Added(n.Number)
		if err := tx.file.Put(row.NodeNames, []byte(n.Name), row.EncodeNumber32(n.Number)); err != nil {
			return false, err
		}
	}
	ix.Insert(n, class)
	if err := ix.Err(); err != nil {
		return false, err
	}
	if err := tx.file.Put(row.Nodes, row.Key32(n.Number), row.EncodeNode(n)); err != nil {
		return false, err
	}
	if exists && !bytes.Equal(row.EncodeNode(old), row.EncodeNode(n)) {
		tx.loaded.freed.Anywhere() // jobs that only the old node could serve may never run now
	} else {
		tx.loaded.freed.On([]uint32{n.Number})
	}
	if exists && !index.SameDevices(old, n) {
		if err := (renaming{tx, old, n}).carryOut(holders); err != nil {
			return false, tx.spoil(err)
		}
	}
	if exists {
		if err := tx.outgrown(n); err != nil {
			return false, tx.spoil(err)
		}
		if err := tx.placeAnew(); err != nil {
			return false, tx.spoil(err)
		}
		class = tx.nodeIndex().classOf(n.Number) // what was planned there may have begun
	}
	return !exists, tx.loaded.rooms.Measure(ix, n.Number, class == index.Busy && n.State == index.Up)
}

// gaveLess reports whether a node has less of something than before.
func gaveLess(old, now *index.Node) bool {
	return slices.ContainsFunc(old.Res, func(a index.Amount) bool {
		v, _ := now.Get(a.Res)
		return v.Num < a.Value.Num
	})
}

func validNode(tx *Tx, n *index.Node) error {
	defs, err := tx.Resources()
	if err != nil {
		return err
	}
	if err := nodes.Valid(defs, n); err != nil || n.Queue == "" {
		return err
	}
	payload, err := tx.file.Get(row.Queues, []byte(n.Queue))
	if err == nil && payload == nil {
		err = tx.queues().missing(n.Queue)
	}
	return err
}

// SetNodeState sets a node up, down, offline or drained, with a reason. Its running jobs go on.
func (tx *Tx) SetNodeState(number uint32, state index.State, reason string) error {
	if err := tx.operates("nodes"); err != nil {
		return err
	}
	if err := tx.Hosts().touched(number); err != nil {
		return tx.spoil(err)
	}
	if err := tx.setNodeState(number, state, row.Because(row.CauseRequest, reason)); err != nil {
		return err
	}
	return tx.spoil(tx.placeAnew())
}

func (tx *Tx) setNodeState(number uint32, state index.State, reason row.Reason) error {
	n, err := tx.NodeByNumber(number)
	if err != nil {
		return err
	}
	ix, err := tx.index()
	if err != nil {
		return err
	}
	if (n.State == index.Up) != (state == index.Up) {
		class, b := tx.nodeIndex().classOf(number), ix.Bucket(n.Bucket)
		if b == nil {
			return fmt.Errorf("%w: node %s says it is in bucket %d", ErrDamaged, n.Name, n.Bucket)
		}
		if state == index.Up {
			ix.Move(b, number, index.None, class)
		} else {
			ix.Move(b, number, class, index.None)
		}
	}
	tx.loaded.past.Changes(n)
	was := n.State
	n.State, n.Reason = state, reason.Text
	if state == index.Up {
		n.Reason = ""
	}
	if err := ix.Err(); err != nil {
		return err
	}
	if err := tx.file.Put(row.Nodes, row.Key32(number), row.EncodeNode(n)); err != nil {
		return err
	}
	if was != state {
		err := tx.happened(row.Event{Node: n.Name, Event: "node", Old: was.String(), New: state.String(), Reason: reason})
		if err != nil {
			return err
		}
	}
	if err := hosts.Executed(tx.file, number); err != nil {
		return err
	}
	if was != state {
		tx.loaded.freed.Anywhere() // one that goes down may turn "not now" into "never", for requests that its bucket served
	}
	if state != index.Up && was == index.Up {
		list, err := tx.plannedOn(number)
		if err == nil {
			err = tx.offNode(list, row.Because(row.CauseNode, "node "+n.Name+" is "+state.String()))
		}
		if err != nil {
			return tx.spoil(err)
		}
	}
	return tx.loaded.rooms.Measure(ix, number, state == index.Up && tx.nodeIndex().classOf(number) == index.Busy)
}

// SetLoad notes the load measured on a node: how many of its processors are busy.
// Only the row changes, unless the node gets its first load or loses its last:
// the index knows which nodes have one.
func (tx *Tx) SetLoad(number uint32, load float64) error {
	if err := tx.operates("nodes"); err != nil {
		return err
	}
	n, err := tx.NodeByNumber(number)
	if err != nil {
		return err
	}
	if err := nodes.ValidLoad(n, load); err != nil {
		return err
	}
	had := n.Load != 0
	n.Load = load
	if had != (load != 0) {
		ix, err := tx.index()
		if err != nil {
			return err
		}
		ix.Remark(n)
		if err := ix.Err(); err != nil {
			return err
		}
	}
	return tx.file.Put(row.Nodes, row.Key32(number), row.EncodeNode(n))
}

// RemoveNode takes a node out of the store. Its number is not given out again.
// It fails with a Conflict while something is on the node, or planned for it.
func (tx *Tx) RemoveNode(number uint32) error {
	if err := tx.operates("nodes"); err != nil {
		return err
	}
	n, err := tx.NodeByNumber(number)
	if err != nil {
		return err
	}
	if list := tx.calendar().At(number); len(list) > 0 {
		who, err := tx.Owner(list[0])
		if err != nil {
			return err
		}
		return row.Clash("node "+n.Name, who.String()+" is on it or planned for it")
	}
	ix, err := tx.index()
	if err != nil {
		return err
	}
	tx.loaded.past.Removes(n)
	ix.Remove(n, index.Free)
	if err := ix.Err(); err != nil {
		return err
	}
	tx.loaded.freed.Anywhere()
	if err := errors.Join(tx.file.Remove(row.NodeNames, []byte(n.Name)), hosts.Executed(tx.file, number)); err != nil {
		return err
	}
	return tx.file.Remove(row.Nodes, row.Key32(number))
}
