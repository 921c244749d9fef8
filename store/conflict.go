package store

import (
	"fmt"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/timeline"
)

// inTheWay is the Conflict of a user's wanting a node, or amounts of it, for a
// stretch of time in which somebody else has them whom the guest minds; nil when
// nobody does. It answers by the node's own row and calendar, whatever the indexes
// say.
func (tx *Tx) inTheWay(what string, node uint32, span timeline.Busy, guest timeline.Guest, user string) error {
	c := tx.Calendar()
	until := c.End(span)
	for _, b := range c.At(node) {
		if b.Start >= until || c.End(b) <= span.Start || guest.Ignores(&b, span.Start, until) {
			continue
		}
		if b.Use != nil && span.Use != nil && !strangers(rows{tx}, b, span, user) {
			continue
		}
		return tx.takenBy(what, node, b)
	}
	if span.Use != nil {
		return tx.overcommitted(what, node, span, guest)
	}
	return c.Err()
}

// strangers reports whether a share of a node may not lie beside one of a user,
// because one of the two is for its own user's jobs only.
func strangers(r rows, other, mine timeline.Busy, user string) bool {
	if !other.Use.Alone && !mine.Use.Alone || other.Claim || mine.Claim {
		return false
	}
	theirs, err := r.User(other.Owner)
	return err != nil || theirs != user
}

func (tx *Tx) takenBy(what string, node uint32, b timeline.Busy) error {
	name, err := tx.nodeName(node)
	if err != nil {
		return err
	}
	who, err := tx.Owner(b)
	if err != nil {
		return err
	}
	return &Conflict{what, fmt.Sprintf("node %s is taken by %s from %s to %s", name, who, stamp(b.Start), stamp(tx.Calendar().End(b)))}
}

// overcommitted is the Conflict of wanting more of a node than is left of it.
func (tx *Tx) overcommitted(what string, node uint32, span timeline.Busy, guest timeline.Guest) error {
	defs, err := tx.Resources()
	if err != nil {
		return err
	}
	n, err := tx.NodeByNumber(node)
	if err != nil {
		return err
	}
	quantities, capacity := placer.Consumables(defs, n)
	peak := make([]int64, len(quantities))
	tx.Calendar().Taken(node, span.Start, tx.Calendar().End(span), guest, quantities, peak)
	for _, a := range span.Use.Amounts {
		left := int64(0)
		for i, q := range quantities {
			if q == a.Quantity {
				left = capacity[i] - peak[i]
			}
		}
		if a.N > left {
			return &Conflict{what, fmt.Sprintf("node %s has not so much %s left from %s to %s", n.Name,
				resourceName(defs, a.Quantity), stamp(span.Start), stamp(span.End))}
		}
	}
	return tx.Calendar().Err()
}

// resourceName is what a quantity of the calendar is called.
func resourceName(defs *index.Defs, quantity uint16) string {
	def, _ := defs.Get(index.ResID(quantity))
	return def.Name
}
