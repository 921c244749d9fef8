package index

// NodeState is the state of a node as users see it: the state it was given or, if it is up,
// its use. docs/states.md explains the words. A Class differs: it distinguishes free nodes by
// whether something is planned on them.
type NodeState uint8

// The states of nodes. A node is in use by a job, or by an active reservation.
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

// NotUp returns the node state for a state other than up.
func (s State) NotUp() NodeState {
	switch s {
	case Down:
		return NodeDown
	case Offline:
		return NodeOffline
	}
	return NodeDrained
}
