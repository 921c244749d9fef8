package plan

import (
	"fmt"
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/timeline"
)

// Taking is a user's part of a node that must still be verified: the whole node or amounts,
// for a stretch of time.
type Taking struct {
	Tx    *kernel.Tx
	What  string // the owner, as messages name it
	Node  uint32
	Span  timeline.Busy
	Guest timeline.Guest
	User  string
}

// Conflict returns the Conflict with a job or reservation that the guest may not overlap and
// that has the node or the amounts then, or nil. It uses the node's own row and calendar,
// whatever the indexes say.
func (t Taking) Conflict() error {
	c := t.Tx.Calendar()
	until := c.End(t.Span)
	for _, b := range c.At(t.Node) {
		if b.Start >= until || c.End(b) <= t.Span.Start || t.Guest.Ignores(&b, t.Span.Start, until) {
			continue
		}
		if b.Use != nil && t.Span.Use != nil && !t.stranger(b) {
			continue
		}
		return t.TakenBy(b)
	}
	if t.Span.Use != nil {
		return t.overcommitted()
	}
	return c.Err()
}

// stranger reports whether another's part of the node rules this one out, because one of the
// two accepts only jobs of its own user beside it.
func (t Taking) stranger(other timeline.Busy) bool {
	if !other.Use.Alone && !t.Span.Use.Alone || other.Claim || t.Span.Claim {
		return false
	}
	theirs, err := kernel.SnapshotRows(t.Tx).User(other.Owner)
	return err != nil || theirs != t.User
}

// TakenBy returns the Conflict with another's stretch.
func (t Taking) TakenBy(b timeline.Busy) error {
	name, err := t.Tx.Loaded.Nodes.Name(t.Node)
	if err != nil {
		return err
	}
	who, err := t.Tx.Owner(b)
	if err != nil {
		return err
	}
	return row.Clash(t.What, fmt.Sprintf("node %s is taken by %s from %s to %s", name, who, row.Stamp(b.Start),
		row.Stamp(t.Tx.Calendar().End(b))))
}

// overcommitted returns the Conflict of a part that exceeds what is left of the node.
func (t Taking) overcommitted() error {
	n, err := t.Tx.Loaded.Nodes.Kept(t.Node)
	if err != nil {
		return err
	}
	peak := make([]int64, len(n.Quantities))
	t.Tx.Calendar().Taken(t.Node, t.Span.Start, t.Tx.Calendar().End(t.Span), t.Guest, n.Quantities, peak)
	for _, a := range t.Span.Use.Amounts {
		left := int64(0)
		if i := slices.Index(n.Quantities, a.Quantity); i >= 0 {
			left = n.Capacity[i] - peak[i]
		}
		if a.N > left {
			defs, err := t.Tx.Resources()
			if err != nil {
				return err
			}
			def, _ := defs.Get(index.ResID(a.Quantity))
			return row.Clash(t.What, fmt.Sprintf("node %s has not so much %s left from %s to %s", n.Name,
				def.Name, row.Stamp(t.Span.Start), row.Stamp(t.Span.End)))

		}
	}
	return t.Tx.Calendar().Err()
}
