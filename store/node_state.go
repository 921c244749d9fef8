package store

import (
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
