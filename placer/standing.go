package placer

import (
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/timeline"
)

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
