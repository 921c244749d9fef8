package store

import (
	"fmt"
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/timeline"
)

// taking is what a user takes of a node: the whole of it or amounts, for a stretch of time.
type taking struct {
	tx    *Tx
	what  string // who takes it, as messages call it
	node  uint32
	span  timeline.Busy
	guest timeline.Guest
	user  string
}

// conflict is its Conflict with somebody whom the guest minds and who has
// the node or the amounts then; nil when nobody does. It answers by the node's own row
// and calendar, whatever the indexes say.
func (t taking) conflict() error {
	c := t.tx.calendar()
	until := c.End(t.span)
	for _, b := range c.At(t.node) {
		if b.Start >= until || c.End(b) <= t.span.Start || t.guest.Ignores(&b, t.span.Start, until) {
			continue
		}
		if b.Use != nil && t.span.Use != nil && !t.stranger(b) {
			continue
		}
		return t.takenBy(b)
	}
	if t.span.Use != nil {
		return t.overcommitted()
	}
	return c.Err()
}

// stranger reports whether another's share of the node may not lie beside the one
// that is taken, because one of the two is for its own user's jobs only.
func (t taking) stranger(other timeline.Busy) bool {
	if !other.Use.Alone && !t.span.Use.Alone || other.Claim || t.span.Claim {
		return false
	}
	theirs, err := rows{t.tx}.User(other.Owner)
	return err != nil || theirs != t.user
}

// takenBy is the Conflict with a stretch of somebody else's.
func (t taking) takenBy(b timeline.Busy) error {
	name, err := t.tx.loaded.nodes.Name(t.node)
	if err != nil {
		return err
	}
	who, err := t.tx.Owner(b)
	if err != nil {
		return err
	}
	return row.Clash(t.what, fmt.Sprintf("node %s is taken by %s from %s to %s", name, who, stamp(b.Start), stamp(t.tx.calendar().End(b))))
}

// overcommitted is the Conflict of wanting more of a node than is left of it.
func (t taking) overcommitted() error {
	n, err := t.tx.loaded.nodes.Kept(t.node)
	if err != nil {
		return err
	}
	peak := make([]int64, len(n.Quantities))
	t.tx.calendar().Taken(t.node, t.span.Start, t.tx.calendar().End(t.span), t.guest, n.Quantities, peak)
	for _, a := range t.span.Use.Amounts {
		left := int64(0)
		if i := slices.Index(n.Quantities, a.Quantity); i >= 0 {
			left = n.Capacity[i] - peak[i]
		}
		if a.N > left {
			defs, err := t.tx.Resources()
			if err != nil {
				return err
			}
			return row.Clash(t.what, fmt.Sprintf("node %s has not so much %s left from %s to %s", n.Name,
				resourceName(defs, a.Quantity), stamp(t.span.Start), stamp(t.span.End)))

		}
	}
	return t.tx.calendar().Err()
}

// resourceName is what a quantity of the calendar is called.
func resourceName(defs *index.Defs, quantity uint16) string {
	def, _ := defs.Get(index.ResID(quantity))
	return def.Name
}
