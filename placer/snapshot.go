package placer

import (
	"iter"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/placer/limits"
	"github.com/placectl/placectl/placer/priorityf"
	"github.com/placectl/placectl/timeline"
)

// Snapshot is the state for decisions: an instant, the nodes, and what is planned for them.
// Deciding changes only its caches.
type Snapshot struct {
	Index    *index.Index
	Calendar *timeline.Calendar
	Now      int64 // Unix seconds; the classes in Index are those of this instant
	Rules    Rules
	// Releases lists, ascending, the instants after a given one at which nodes
	// are expected to be given back, and those nodes.
	Releases func(after int64) iter.Seq2[int64, []uint32]
	// Planned lists, ascending, the instants from a given one on at which something planned begins
	// or ends, and its nodes; an instant may come several times. nil: plans are not stored by time.
	Planned func(from int64) iter.Seq2[int64, []uint32]
	Rows    Rows
	// Used is how much of a node's time jobs have had, 0 to 1, for nodes whose rows
	// do not say; nil: none.
	Used func(*index.Node) (float64, error)
}

// Rows are what the node path reads one by one.
type Rows interface {
	// Node finds a node by its number.
	Node(number uint32) (*index.Node, error)
	// Traits fills in what policies look at, all of a node but its name; it reuses
	// the slices of n.
	Traits(number uint32, n *index.Node) error
	// NodeNumber finds a node's number by its name.
	NodeNumber(name string) (uint32, bool, error)
	// User is whose a stretch of the calendar is.
	User(owner uint64) (string, error)
}

// Rules are the settings of a store that placement follows.
type Rules struct {
	GroupKey     []index.ResID // resources whose values make placement sets; none: no sets
	ExplicitSets bool          // nodes without a value of the key are in no set
	DoNotSpan    bool          // a request that fits no set never runs
	ExactFit     bool          // where first fit over the chunks fails, look for any assignment
	Access       index.Access  // sharing of nodes that do not say
	Topology     []index.ResID // resources whose values are a node's switches, the outermost first
	SetOrder     SetOrder      // in which order placement sets are tried
	SetDelay     int64         // seconds that a request waits for a whole set, 0 for ever, before it spans sets; -1: not at all
}

// SetOrder is an order of placement sets; the zero value is the smallest first.
type SetOrder uint8

// The orders of placement sets: NODESETPRIORITYTYPE of Maui.
const (
	SmallestSet SetOrder = iota // BESTFIT
	FirstSet                    // FIRSTFIT: as their first nodes were declared
	LargestSet                  // WORSTFIT
)

// Ask is a request that has been read and given its defaults.
type Ask struct {
	Spec
	Queue     string // the queue whose nodes are asked for, "" for nodes of no queue
	Duration  int64  // seconds, at least 1
	User      string
	Access    index.Access        // sharing of its nodes
	Policy    Policy              // NoPolicy: FirstAvailable
	PriorityF *priorityf.Function // of the policy priority, for nodes without one of their own; nil: priorityf.Default
	Prefer    Preference
	Ranking   []uint32 // of the policy local: nodes, the first first
	Grants    []Grant  // the reservations that it may use
	Excluded  []uint32 // nodes that it must not get
	Since     int64    // when it was asked for: Rules.SetDelay counts from there
	Bind      devices.Policy
	Demands   limits.Demands // its wants of pools, and of its rules
	Barred    string         // the rule that keeps any job which asks for so much from ever running; "" for none
}
