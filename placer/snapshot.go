package placer

import (
	"iter"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/timeline"
)

// Snapshot is the state that requests are decided on: an instant, the nodes,
// and what is planned for them. Deciding reads through it and changes nothing
// but its caches.
type Snapshot struct {
	Index    *index.Index
	Calendar *timeline.Calendar
	Now      int64 // Unix seconds; the classes in Index are those of this instant
	Rules    Rules
	// Endings lists, ascending, the instants after a given one at which nodes
	// are expected to be given back, and those nodes.
	Endings func(after int64) iter.Seq2[int64, []uint32]
}

// Rules are the settings of a store that placement follows.
type Rules struct {
	GroupKey     []index.ResID // resources whose values make placement sets; none: no sets
	ExplicitSets bool          // nodes without a value of the key are in no set
	DoNotSpan    bool          // a request that fits no set never runs
	ExactFit     bool          // where first fit over the chunks fails, look for any assignment
}

// Ask is a request that has been read and given its defaults.
type Ask struct {
	Spec
	Queue    string // the queue whose nodes are asked for, "" for nodes of no queue
	Duration int64  // seconds, at least 1
}
