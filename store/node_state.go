package store

import (
	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
)

// NodeState is how a node stands: of package index, whose bitmaps tell most of it.
type NodeState = index.NodeState

// The states of nodes. A node is in use by a job, or by a reservation that is active.
const (
	NodeFree    = index.NodeFree    // up, and nothing is on it
	NodePartly  = index.NodePartly  // up and in use; jobs could have some of it, and nobody has it whole
	NodeBusy    = index.NodeBusy    // up and in use otherwise
	NodeDown    = index.NodeDown    // it failed, whatever is on it
	NodeOffline = index.NodeOffline // taken out by hand, whatever is on it
	NodeDrained = index.NodeDrained // takes nothing new, whatever is on it
	NodeStates  = index.NodeStates  // how many states there are
)

// notUpNodes tells the state of each of some nodes that are not up.
func (tx *Tx) notUpNodes(nodes *roaring.Bitmap, tell func(number uint32, s NodeState)) error {
	for it := nodes.Iterator(); it.HasNext(); {
		number := it.Next()
		_, state, err := tx.nodeHead(number)
		if err != nil {
			return err
		}
		tell(number, state.NotUp())
	}
	return nil
}

// nodeState is the state of a node; left is what is left of its consumables if it is
// busy, nil where somebody has it whole.
func nodeState(n *index.Node, class index.Class, left []index.Amount) NodeState {
	switch {
	case n.State != index.Up:
		return n.State.NotUp()
	case class != index.Busy:
		return NodeFree
	case placer.Partly(n, left):
		return NodePartly
	}
	return NodeBusy
}
