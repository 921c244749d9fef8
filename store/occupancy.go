package store

import (
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/store/internal/usage"
	"github.com/placectl/placectl/timeline"
)

// Allocation is a time for which a job or a reservation has a node, or part of it.
type Allocation struct {
	Owner
	Start time.Time
	End   time.Time // when it is expected to be over: later than Due for an overdue job
	Due   time.Time
	Now   bool // it is under way
}

// Allocations lists what is on a node and what is planned for it, by start.
func (tx *Tx) Allocations(node uint32) ([]Allocation, error) {
	c := tx.calendar()
	list := c.At(node)
	if len(list) == 0 {
		return nil, c.Err()
	}
	out := make([]Allocation, len(list))
	for i, b := range list {
		who, err := tx.Owner(b)
		if err != nil {
			return nil, err
		}
		out[i] = Allocation{who, time.Unix(b.Start, 0), time.Unix(c.End(b), 0), time.Unix(b.End, 0), c.Live(b)}
	}
	return out, c.Err()
}

// Occupancy is what is on a node and planned for it.
type Occupancy struct {
	State     NodeState
	Jobs      int            // how many run on it
	FreeUntil time.Time      // when it is next taken: zero when it is not free now, or nothing is planned
	Left      []index.Amount // of its consumables, where it is shared now
	FreeFrom  time.Time      // when everything on it is expected to have ended; zero if it is free
}

// Occupancy returns what is on a node.
func (tx *Tx) Occupancy(n *index.Node) (Occupancy, error) {
	c := tx.calendar()
	var o Occupancy
	var freeFrom int64
	for _, b := range c.At(n.Number) {
		if !c.Live(b) {
			continue
		}
		freeFrom = max(freeFrom, c.End(b))
		if !b.Claim {
			o.Jobs++
		}
	}
	o.FreeFrom = instant(freeFrom)
	class := tx.nodeIndex().classOf(n.Number)
	if n.State == index.Up && class == index.Busy && placer.SharedBy(c, n.Number, c.Now()) {
		o.Left = tx.Left(n)
	}
	if o.State = nodeState(n, class, o.Left); o.State == NodeFree && class == index.Later {
		if next := c.NextBusy(n.Number, tx.now); next != timeline.Forever {
			o.FreeUntil = instant(next)
		}
	}
	return o, c.Err()
}

// NodeState is how a node stands: of package index, whose bitmaps tell most of it.
type NodeState = index.NodeState

// The states of nodes. A node is in use by a job, or by a reservation that is active.
const (
	NodeFree    = index.NodeFree    // up, and nothing is on it
	NodePartly  = index.NodePartly  // up and in use; shared, and jobs could have some of it
	NodeBusy    = index.NodeBusy    // up and in use otherwise
	NodeDown    = index.NodeDown    // it failed, whatever is on it
	NodeOffline = index.NodeOffline // taken out by hand, whatever is on it
	NodeDrained = index.NodeDrained // takes nothing new, whatever is on it
	NodeStates  = index.NodeStates  // how many states there are
)

// nodeState is the state of a node. If it is busy, left is what remains of its consumables, or nil
// if a job has it exclusively.
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

// Used is how much of a node's time jobs have had since the statistics were reset,
// 0 to 1.
func (tx *Tx) Used(n *index.Node) (float64, error) {
	since := tx.state.UsageSince
	if tx.now <= since || since == 0 {
		return 0, nil
	}
	b, err := tx.loaded.usage.Block(n.Number / timeline.BlockNodes)
	if err != nil {
		return 0, err
	}
	had := b[n.Number%timeline.BlockNodes]
	for _, s := range tx.calendar().At(n.Number) {
		if s.Claim || !tx.calendar().Live(s) {
			continue
		}
		taken := usage.CPUs(n)
		if s.Use != nil {
			if taken, err = tx.loaded.usage.CPUsOf(n.Number, s); err != nil {
				return 0, err
			}
		}
		had += taken * (tx.now - max(s.Start, since))
	}
	return min(1, float64(had)/float64(usage.CPUs(n)*(tx.now-since))), nil
}

// accrue adds what a running job has used of its nodes up to now.
func (al allocations) accrue(j *row.Job) error {
	from, now := max(j.Start, al.state.UsageSince), al.instant()
	if from >= now {
		return nil
	}
	spans, err := al.spans(j)
	if err != nil {
		return err
	}
	return al.loaded.usage.Accrue(spans, now-from)
}

// Left is what remains of a node's consumables now: all of them if the node is free, none if a job
// has it exclusively.
func (tx *Tx) Left(n *index.Node) []index.Amount { return tx.leftAt(n, tx.calendar().Now()) }

// leftAt is the same at another instant, as far as it is planned.
func (tx *Tx) leftAt(n *index.Node, at int64) []index.Amount {
	c := tx.calendar()
	defs, err := tx.Resources()
	if err != nil {
		return nil // the caller finds out: nothing can be placed or read without them
	}
	quantities, capacity := placer.Consumables(defs, n)
	peak := make([]int64, len(quantities))
	standing := c.Taken(n.Number, at, at+1, nil, quantities, peak)
	out := make([]index.Amount, len(quantities))
	for i, q := range quantities {
		out[i].Res = index.ResID(q)
		if standing != timeline.Whole {
			out[i].Value.Num = max(0, capacity[i]-peak[i])
		}
	}
	return out
}
