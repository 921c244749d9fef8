package timeline

import "slices"

// A node need not be taken as a whole. A stretch with a Use takes amounts of it, and any number of
// those may overlap while the node has enough; the caller knows how much it has. A claim keeps a
// node, or amounts of it, for guests: it does not conflict with jobs that it admits, and for all
// others it is a stretch like any other.

// Amount is an amount of one quantity of a node. The caller numbers the quantities.
type Amount struct {
	Quantity uint16
	N        int64
}

// Use is the part that a stretch takes of a shared node.
type Use struct {
	Amounts []Amount // each quantity once
	// Within is the owner of the claim that the amounts come out of, or 0. The claim need not
	// keep what its guests have.
	Within uint64
	// Alone means that only stretches of the same user may overlap it.
	Alone bool
}

// Guest wants a node for a window. It does not conflict with the claims that admit it, nor
// with its own stretches.
type Guest interface {
	// Ignores reports whether a stretch does not keep the guest out of [from, to).
	Ignores(b *Busy, from, to int64) bool
}

// Standing says how much of a node is taken over a window of time.
type Standing uint8

// The standings.
const (
	Idle  Standing = iota // nothing is on the node
	Open                  // amounts of it are taken
	Whole                 // at some time in the window it is taken whole
)

// Taken returns the state of a node in [from, to), as a guest sees it; nil is a guest that no
// claim admits. If the state is Open, peak, which is parallel to quantities, is the most taken
// of each at one instant of the window.
func (c *Calendar) Taken(node uint32, from, to int64, g Guest, quantities []uint16, peak []int64) Standing {
	return c.taken(c.At(node), from, to, g, quantities, peak)
}

func (c *Calendar) taken(list []Busy, from, to int64, g Guest, quantities []uint16, peak []int64) Standing {
	var together, claims, n = true, false, 0
	for i := range list {
		b := &list[i]
		if b.Start >= to {
			break
		}
		if c.End(*b) <= from || g != nil && g.Ignores(b, from, to) {
			continue
		}
		if b.Use == nil {
			return Whole
		}
		n++
		together = together && b.Start <= from
		claims = claims || b.Claim
	}
	clear(peak)
	switch {
	case n == 0:
		return Idle
	case together && !claims:
		// All stretches that have begun by then are on the node at once.
		for i := range list {
			if b := &list[i]; b.Start < to && c.End(*b) > from && (g == nil || !g.Ignores(b, from, to)) {
				add(peak, quantities, b.Use.Amounts, 1)
			}
		}
	default:
		c.sweep(list, from, to, g, quantities, peak)
	}
	return Open
}

// sweep finds the peak by adding up at each instant at which something begins: in between, the
// sum only falls. A claim counts with what its guests leave.
func (c *Calendar) sweep(list []Busy, from, to int64, g Guest, quantities []uint16, peak []int64) {
	live := c.scratch[:0]
	for i := range list {
		b := &list[i]
		if b.Start >= to {
			break
		}
		if c.End(*b) > from && (g == nil || !g.Ignores(b, from, to)) {
			live = append(live, b)
		}
	}
	c.scratch = live
	if cap(c.sums) < 2*len(peak) {
		c.sums = make([]int64, 2*len(peak))
	}
	sum, kept := c.sums[:len(peak)], c.sums[len(peak):2*len(peak)]
	for i, first := range live {
		at := max(first.Start, from)
		if i > 0 && at == max(live[i-1].Start, from) {
			continue // that instant is done
		}
		clear(sum)
		for _, b := range live {
			if b.Start > at {
				break
			}
			switch {
			case c.End(*b) <= at:
			case b.Claim:
				c.kept(b, live, at, quantities, kept)
				for q := range sum {
					sum[q] += kept[q]
				}
			default:
				add(sum, quantities, b.Use.Amounts, 1)
			}
		}
		for q := range peak {
			peak[q] = max(peak[q], sum[q])
		}
	}
}

// kept computes what a claim still keeps at an instant: its amounts minus those of its guests.
func (c *Calendar) kept(claim *Busy, live []*Busy, at int64, quantities []uint16, kept []int64) {
	clear(kept)
	add(kept, quantities, claim.Use.Amounts, 1)
	for _, b := range live {
		if b.Use.Within == claim.Owner && !b.Claim && b.Start <= at && c.End(*b) > at {
			add(kept, quantities, b.Use.Amounts, -1)
		}
	}
	for q := range kept {
		kept[q] = max(kept[q], 0)
	}
}

// TakenWithin computes the most that guests of a claim take of it on a node at one instant of
// [from, to). Otherwise it is like Taken.
func (c *Calendar) TakenWithin(node uint32, claim uint64, from, to int64, quantities []uint16, peak []int64) {
	list := c.At(node)
	inside := func(b *Busy) bool {
		return !b.Claim && b.Use != nil && b.Use.Within == claim && b.Start < to && c.End(*b) > from
	}
	clear(peak)
	sum := make([]int64, len(peak))
	for i := range list {
		if !inside(&list[i]) {
			continue
		}
		at := max(list[i].Start, from)
		clear(sum)
		for k := range list {
			if b := &list[k]; inside(b) && b.Start <= at && c.End(*b) > at {
				add(sum, quantities, b.Use.Amounts, 1)
			}
		}
		for q := range peak {
			peak[q] = max(peak[q], sum[q])
		}
	}
}

// add adds amounts, times sign, to sums that are parallel to quantities.
func add(sums []int64, quantities []uint16, amounts []Amount, sign int64) {
	for _, a := range amounts {
		if q := slices.Index(quantities, a.Quantity); q >= 0 {
			sums[q] += sign * a.N
		}
	}
}
