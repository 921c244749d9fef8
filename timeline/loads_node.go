package timeline

import "slices"

// nodeLoads is what is taken of one node. Beside the stretches it has their sum
// over time as a step function: used[i*q:][:q] is what is taken of the q
// quantities in [times[i], times[i+1]), and nothing is taken before the first
// time. No two steps that follow each other are equal, so the function is the
// same whatever order it was made in, and taking back leaves no trace.
//
// A node's stretches are few: as many as can share it, and those planned. Plain
// sorted arrays serve that better than a Planner's tree, whose nodes are made for
// thousands.
type nodeLoads struct {
	capacity  []int64
	loads     []Load // by Start
	heldUntil int64  // the least End of the held ones, Forever when there are none
	times     []int64
	used      []int64
}

// after is the position behind the loads that start at t or before.
func (n *nodeLoads) after(t int64) int {
	i, _ := slices.BinarySearchFunc(n.loads, t, func(x Load, t int64) int {
		if x.Start <= t {
			return -1
		}
		return 1
	})
	return i
}

// last is the position of the last load of an owner, -1 when it has none.
func (n *nodeLoads) last(owner uint64) int {
	i := len(n.loads) - 1
	for i >= 0 && n.loads[i].Owner != owner {
		i--
	}
	return i
}

// add puts a stretch behind those that start with it.
func (n *nodeLoads) add(b Busy, until int64, amounts []int64) {
	amounts = slices.Clone(amounts)
	n.loads = slices.Insert(n.loads, n.after(b.Start), Load{b, amounts, until})
	if b.Held {
		n.heldUntil = min(n.heldUntil, b.End)
	}
	n.change(b.Start, until, amounts, 1)
}

// drop removes the load at a position.
func (n *nodeLoads) drop(i int) {
	b := n.loads[i]
	n.change(b.Start, b.counted, b.Amounts, -1)
	n.loads = slices.Delete(n.loads, i, i+1)
	if b.Held && b.End == n.heldUntil {
		n.heldUntil = n.leastHeld()
	}
}

func (n *nodeLoads) leastHeld() int64 {
	least := int64(Forever)
	for _, b := range n.loads {
		if b.Held {
			least = min(least, b.End)
		}
	}
	return least
}

// recount counts the held loads up to the ends they have at another instant.
func (n *nodeLoads) recount(now, grace int64) {
	for i := range n.loads {
		b := &n.loads[i]
		if until := b.expected(now, grace); until > b.counted {
			n.change(b.counted, until, b.Amounts, 1)
			b.counted = until
		} else if until < b.counted {
			n.change(until, b.counted, b.Amounts, -1)
			b.counted = until
		}
	}
}

// change adds sign times the amounts to what is taken in [from, to).
func (n *nodeLoads) change(from, to int64, amounts []int64, sign int64) {
	i := n.split(from)
	j := n.split(to)
	for k := i; k < j; k++ {
		step := n.step(k)
		for q, a := range amounts {
			step[q] += sign * a
		}
	}
	n.merge(j)
	n.merge(i)
}

// split makes a step begin at t, and returns its position.
func (n *nodeLoads) split(t int64) int {
	i, found := slices.BinarySearch(n.times, t)
	if found {
		return i
	}
	q := len(n.capacity)
	n.times = slices.Insert(n.times, i, t)
	n.used = slices.Grow(n.used, q)[:len(n.used)+q]
	copy(n.used[(i+1)*q:], n.used[i*q:])
	if i > 0 {
		copy(n.step(i), n.step(i-1))
	} else {
		clear(n.step(0))
	}
	return i
}

// merge removes a step that equals the one before.
func (n *nodeLoads) merge(i int) {
	if i > 0 && !slices.Equal(n.step(i), n.step(i-1)) || i == 0 && slices.ContainsFunc(n.step(0), func(a int64) bool { return a != 0 }) {
		return
	}
	q := len(n.capacity)
	n.times = slices.Delete(n.times, i, i+1)
	n.used = slices.Delete(n.used, i*q, (i+1)*q)
}

// step is what is taken from times[i] on.
func (n *nodeLoads) step(i int) []int64 {
	q := len(n.capacity)
	return n.used[i*q : (i+1)*q : (i+1)*q]
}

// at is the position of the step that covers t, -1 before the first.
func (n *nodeLoads) at(t int64) int {
	i, found := slices.BinarySearch(n.times, t)
	if found {
		return i
	}
	return i - 1
}

// lacks is the first quantity of which the node has less than asked even when
// nothing is taken, -1 when there is none.
func (n *nodeLoads) lacks(demand []int64) int {
	for q, a := range demand {
		if a > n.capacity[q] {
			return q
		}
	}
	return -1
}

// room reports whether the demand is free in a step. Nothing is asked of a
// quantity of which the demand is zero, so it may be overcommitted.
func (n *nodeLoads) room(i int, demand []int64) bool {
	for q, used := range n.step(i) {
		if demand[q] > 0 && demand[q] > n.capacity[q]-used {
			return false
		}
	}
	return true
}

// fits reports whether the demand is free throughout [from, to).
func (n *nodeLoads) fits(from, to int64, demand []int64) bool {
	if n.lacks(demand) >= 0 {
		return false
	}
	for i := max(0, n.at(from)); i < len(n.times) && n.times[i] < to; i++ {
		if !n.room(i, demand) {
			return false
		}
	}
	return true
}

// gaps tells the sweep when the demand is free.
func (n *nodeLoads) gaps(s *gapSweep, demand []int64) {
	s.node()
	i := n.at(s.after)
	from, open := s.after, i < 0 || n.room(i, demand)
	for i++; i < len(n.times); i++ {
		if n.room(i, demand) == open {
			continue
		}
		if open {
			s.gap(from, n.times[i])
		}
		from, open = n.times[i], !open
	}
	s.gap(from, Forever) // nothing is taken in the last step
}
