package index

// NodeState is how a node stands: what has been said of it, and if that is nothing,
// what is on it. docs/states.md explains the words. They are not those of a bucket's
// nodes (Class), which tell free nodes apart by whether something is planned.
type NodeState uint8

// The states of nodes. A node is in use by a job, or by a reservation that is active.
const (
	NodeFree    NodeState = iota // up, and nothing is on it
	NodePartly                   // up and shared, with room for jobs
	NodeBusy                     // up and in use otherwise
	NodeDown                     // it failed, whatever is on it
	NodeOffline                  // taken out by hand, whatever is on it
	NodeDrained                  // takes nothing new, whatever is on it
	NodeStates                   // how many states there are
)

func (s NodeState) String() string {
	return [...]string{"free", "partly", "busy", "down", "offline", "drained", "?"}[min(s, NodeStates)]
}

// NotUp is the node state for a state other than up.
func (s State) NotUp() NodeState {
	switch s {
	case Down:
		return NodeDown
	case Offline:
		return NodeOffline
	}
	return NodeDrained
}
