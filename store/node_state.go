package store

import (
	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
)

// NodeState is how a node stands: what has been said of it, and if that is nothing,
// what is on it. docs/states.md explains the words. They are not those of a bucket's
// nodes (index.Class), which tell free nodes apart by whether something is planned.
type NodeState uint8

// The states of nodes. A node is in use by a job, or by a reservation that is active.
const (
	NodeFree    NodeState = iota // up, and nothing is on it
	NodePartly                   // up and in use; jobs could have some of it, and nobody has it whole
	NodeBusy                     // up and in use otherwise
	NodeDown                     // it failed, whatever is on it
	NodeOffline                  // taken out by hand, whatever is on it
	NodeDrained                  // takes nothing new, whatever is on it
	NodeStates                   // how many states there are
)

func (s NodeState) String() string {
	return [...]string{"free", "partly", "busy", "down", "offline", "drained", "?"}[min(s, NodeStates)]
}

// nodeState is the state of a node; left is what is left of its consumables if it is
// busy, nil where somebody has it whole.
func nodeState(n *index.Node, class index.Class, left []index.Amount) NodeState {
	switch {
	case n.State != index.Up:
		return notUpState(n.State)
	case class != index.Busy:
		return NodeFree
	case placer.Partly(n, left):
		return NodePartly
	}
	return NodeBusy
}

// notUpState is the state of a node that is not up.
func notUpState(s index.State) NodeState {
	switch s {
	case index.Down:
		return NodeDown
	case index.Offline:
		return NodeOffline
	}
	return NodeDrained
}

// notUpNodes tells the state of each of some nodes that are not up.
func (tx *Tx) notUpNodes(nodes *roaring.Bitmap, tell func(number uint32, s NodeState)) error {
	for it := nodes.Iterator(); it.HasNext(); {
		number := it.Next()
		_, state, err := tx.nodeHead(number)
		if err != nil {
			return err
		}
		tell(number, notUpState(state))
	}
	return nil
}
