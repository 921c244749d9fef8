package placer

import (
	"iter"
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/placer/limits"
	"github.com/placectl/placectl/placer/priorityf"
	"github.com/placectl/placectl/timeline"
)

// Snapshot is the state for decisions: an instant, the nodes, and what is planned for them.
// Deciding changes only its caches. Index, Calendar and Releases must be set, and Rows for requests
// on the node path (Route). The others may be zero.
type Snapshot struct {
	Index    *index.Index
	Calendar *timeline.Calendar
	Now      int64 // Unix seconds; the classes in Index are those of this instant
	Rules    Rules
	// Releases lists in ascending order the instants, after a given one, at which nodes are
	// expected to be given back, with those nodes.
	Releases func(after int64) iter.Seq2[int64, []uint32]
	// Planned lists in ascending order the instants, from a given one on, at which something
	// planned begins or ends, with its nodes. An instant may come several times. It is nil if
	// plans are not stored by time.
	Planned func(from int64) iter.Seq2[int64, []uint32]
	Rows    Rows
	// Absent lists the nodes that are not up; if withDevices is true, also those with devices out of
	// service, and all with theirs. nil means that none is out of service.
	Absent func(withDevices bool) ([]Absent, error)
	// Used returns which part of a node's time jobs have used, 0 to 1, for nodes whose rows do
	// not say. nil means none.
	Used func(*index.Node) (float64, error)
}

// Rows gives the node path access to single rows.
type Rows interface {
	// Node finds a node by its number.
	Node(number uint32) (*index.Node, error)
	// Traits fills in what policies look at: all of a node except its name. It reuses the
	// slices of n.
	Traits(number uint32, n *index.Node) error
	// NodeNumber finds a node's number by its name.
	NodeNumber(name string) (uint32, bool, error)
	// User returns the user that an owner of stretches in the calendar belongs to.
	User(owner uint64) (string, error)
}

// Rules are the settings of a store that placement follows.
type Rules struct {
	GroupKey     []index.ResID // resources whose values make placement sets; none: no sets
	ExplicitSets bool          // nodes without a value of the key are in no set
	DoNotSpan    bool          // a request that fits no set never runs
	ExactFit     bool          // if first fit over the chunks fails, look for any assignment
	Access       index.Access  // the sharing of nodes that set none
	Topology     []index.ResID // resources whose values name a node's switches, the outermost first
	SetOrder     SetOrder      // the order in which placement sets are tried
	SetDelay     int64         // seconds to wait for a whole set before spanning sets; 0: forever, -1: do not wait
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
	Queue     string // the queue whose nodes it asks for, "" for nodes of no queue
	Duration  int64  // seconds, at least 1
	User      string
	Access    index.Access        // sharing of its nodes
	Policy    Policy              // NoPolicy: FirstAvailable
	PriorityF *priorityf.Function // of the policy priority, for nodes without one of their own; nil: priorityf.Default
	Prefer    Preference
	Ranking   []uint32 // for the policy local: nodes in order
	Grants    []Grant  // the reservations that it may use
	Excluded  []uint32 // nodes that it must not get
	Since     int64    // when it was submitted: Rules.SetDelay counts from there
	Bind      devices.Policy
	Demands   limits.Demands // the amounts that it needs of pools and limits
	Barred    string         // a rule that never lets a job with such a request run; "" for none
}

// Code that stores nodes must update the index whenever the calendar changes: the class of a node
// that is up, and what a shared one has left.

// ClassNow returns the class of a node that is up, at the calendar's instant.
func ClassNow(c *timeline.Calendar, node uint32) index.Class {
	if _, on := c.On(node); on {
		return index.Busy
	}
	if c.Planned(node) {
		return index.Later
	}
	return index.Free
}

// SharedBy reports whether something that has begun on a node by an instant takes less than all of
// it. If not, the node has no room then.
func SharedBy(c *timeline.Calendar, node uint32, at int64) bool {
	return slices.ContainsFunc(c.At(node), func(b timeline.Busy) bool { return b.Use != nil && b.Start <= at })
}

// RoomNow returns what a node has left at the calendar's instant, or nil if it is not shared then.
func RoomNow(c *timeline.Calendar, defs *index.Defs, n *index.Node) []index.Amount {
	if n.State != index.Up {
		return nil
	}
	quantities, capacity := Consumables(defs, n)
	peak := make([]int64, len(quantities))
	if c.Taken(n.Number, c.Now(), c.Now()+1, nil, quantities, peak) != timeline.Open {
		return nil
	}
	room := make([]index.Amount, len(quantities))
	for i, q := range quantities {
		room[i] = index.Amount{Res: index.ResID(q), Value: index.Value{Num: max(0, capacity[i]-peak[i])}}
	}
	return room
}

// Partly reports whether jobs could share a node, given what is left of its consumables. There must
// be a cpu left if it has cpus, else some amount of any consumable.
func Partly(n *index.Node, left []index.Amount) bool {
	cpus, _ := n.Get(index.NCPUs)
	return slices.ContainsFunc(left, func(a index.Amount) bool {
		return a.Value.Num > 0 && (a.Res == index.NCPUs || cpus.Num <= 0)
	})
}

// Consumables returns the resources of a node that jobs use up, as numbered in a calendar, and how
// much the node has of each.
func Consumables(defs *index.Defs, n *index.Node) (quantities []uint16, capacity []int64) {
	for _, a := range n.Res {
		if def, ok := defs.Get(a.Res); ok && def.Consumable {
			quantities, capacity = append(quantities, uint16(a.Res)), append(capacity, a.Value.Num)
		}
	}
	return quantities, capacity
}
