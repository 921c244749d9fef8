package timeline

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// A search for room over many nodes asks the same of each again and again: how much is taken,
// from which instant on. Steps answer that without adding up stretches: they are made once for
// a node, and follow each change of it. Each combination of taken amounts has a number, its
// Taken, so that a request computes only once how much room is left beside it.

// Taken numbers the amounts taken of a node at a time: equal numbers mean equal amounts. The
// numbers hold for one Calendar.
type Taken uint32

// NothingTaken is the Taken of a node with nothing on it.
const NothingTaken Taken = 0

// Step is the amount taken of a node from an instant on.
type Step struct {
	At    int64
	Taken Taken
}

// stepBlock holds the steps of the nodes of a calendar block.
type stepBlock struct {
	known    uint64 // the nodes whose steps are up to date
	peculiar uint64 // nodes that a user wants for own jobs only: steps do not tell who may join
	claimed  uint64 // nodes with claims: their steps are made again after each change
	lists    [BlockNodes][]Step
	stretches
}

// stretches summarise the steps of each node. A node is idle while nothing is on it, and open
// while it is not taken whole.
type stretches struct {
	idle, open       [BlockNodes]int64 // the instant from which it stays so for good
	idleGap, openGap [BlockNodes]int64 // the longest time before that in which it was so without a break
}

// heldWhole is the count of a stretch that takes all of a node.
const heldWhole = 1 << 32

// takenTable numbers the combinations of taken amounts. A combination is the number of
// stretches, plus heldWhole for each that takes all of the node, then amounts by quantity.
type takenTable struct {
	numbers map[string]Taken
	amounts [][]Amount
	on      []int64 // stretches, and heldWhole for those that take all
	key     []byte
}

func newTakenTable() *takenTable {
	l := &takenTable{numbers: make(map[string]Taken)}
	l.number(0, nil)
	return l
}

// number returns the number of a combination.
func (l *takenTable) number(on int64, amounts []Amount) Taken {
	l.key = binary.AppendUvarint(l.key[:0], uint64(on))
	for _, a := range amounts {
		if a.N != 0 {
			l.key = binary.AppendUvarint(binary.BigEndian.AppendUint16(l.key, a.Quantity), uint64(a.N))
		}
	}
	n, ok := l.numbers[string(l.key)]
	if !ok {
		n = Taken(len(l.on))
		l.numbers[string(l.key)] = n
		l.on, l.amounts = append(l.on, on),
			append(l.amounts, slices.DeleteFunc(slices.Clone(amounts), func(a Amount) bool { return a.N == 0 }))
	}
	return n
}

// changed returns the combination after a stretch with a use has come (sign 1) or gone (-1).
func (l *takenTable) changed(taken Taken, use *Use, sign int64, scratch []Amount) (Taken, []Amount) {
	on := l.on[taken]
	if use == nil {
		return l.number(on+sign*heldWhole, l.amounts[taken]), scratch
	}
	scratch = append(scratch[:0], l.amounts[taken]...)
	for _, a := range use.Amounts {
		i, found := slices.BinarySearchFunc(scratch, a.Quantity, func(x Amount, q uint16) int {
			return cmp.Compare(x.Quantity, q)
		})
		if !found {
			scratch = slices.Insert(scratch, i, Amount{Quantity: a.Quantity})
		}
		scratch[i].N += sign * a.N
	}
	return l.number(on+sign, scratch), scratch
}

// whole reports whether the node is taken whole.
func (l *takenTable) whole(taken Taken) bool { return l.on[taken] >= heldWhole }

// AmountsOf returns the amounts taken of each quantity; whole means all of the node.
func (c *Calendar) AmountsOf(taken Taken) (amounts []Amount, whole bool) {
	return c.takens.amounts[taken], c.takens.whole(taken)
}

// stepsOf returns the steps of a block's nodes, up to date for those in nodes.
func (c *Calendar) stepsOf(number uint32, nodes uint64) *stepBlock {
	b := c.block(number * BlockNodes)
	if b.steps == nil {
		if c.takens == nil {
			c.takens = newTakenTable()
		}
		b.steps = new(stepBlock)
	}
	for missing := nodes &^ b.steps.known; missing != 0; missing &= missing - 1 {
		c.makeSteps(b, lowest(missing))
	}
	return b.steps
}

// makeSteps makes the steps of a node.
func (c *Calendar) makeSteps(b *calendarBlock, i uint32) {
	s, bit := b.steps, uint64(1)<<i
	s.known |= bit
	s.peculiar &^= bit
	s.claimed &^= bit
	s.lists[i] = append(s.lists[i][:0], Step{math.MinInt64, NothingTaken})
	for k := range b.Block[i] {
		switch u := b.Block[i][k].Use; {
		case u != nil && u.Alone:
			s.peculiar |= bit
		case b.Block[i][k].Claim, u != nil && u.Within != 0:
			s.claimed |= bit
		}
	}
	if s.claimed&bit != 0 {
		c.claimedSteps(b, i)
	} else {
		for k := range b.Block[i] {
			c.shift(s, i, &b.Block[i][k], 1)
		}
	}
	s.measure(i, c.now, c.takens)
}

// shift changes the steps of a node by a stretch that has come (sign 1) or gone (-1).
func (c *Calendar) shift(s *stepBlock, i uint32, b *Busy, sign int64) {
	end := c.End(*b)
	if end <= c.now {
		return
	}
	start := b.Start
	if start <= c.now {
		start = math.MinInt64
	}
	list := s.lists[i]
	from, list := cut(list, start)
	to, list := cut(list, end) // start < end, so from still holds
	for k := from; k < to; k++ {
		list[k].Taken, c.amounts = c.takens.changed(list[k].Taken, b.Use, sign, c.amounts)
	}
	s.lists[i] = join(join(list, to), from)
}

// stepAt finds the step that holds at an instant.
func stepAt(list []Step, t int64) int {
	i, k := 0, len(list) // list[i].At <= t: the first step holds since ever
	for k-i > 1 {
		if mid := int(uint(i+k) >> 1); list[mid].At > t {
			k = mid
		} else {
			i = mid
		}
	}
	return i
}

// cut makes an instant the beginning of a step, and returns the step's index.
func cut(list []Step, t int64) (int, []Step) {
	if t == math.MinInt64 {
		return 0, list
	}
	i := stepAt(list, t)
	if list[i].At == t {
		return i, list
	}
	return i + 1, slices.Insert(list, i+1, Step{t, list[i].Taken})
}

// join merges step i into the one before it, if both take the same.
func join(list []Step, i int) []Step {
	if i > 0 && i < len(list) && list[i].Taken == list[i-1].Taken {
		return slices.Delete(list, i, i+1)
	}
	return list
}

// claimedSteps makes the steps of a node with claims on it. A claim takes what its guests
// leave of it, so stretches do not simply add up there.
func (c *Calendar) claimedSteps(b *calendarBlock, i uint32) {
	var at []int64
	var quantities []uint16
	for _, x := range b.Block[i] {
		at = append(at, max(x.Start, c.now), max(c.End(x), c.now))
		if x.Use != nil {
			for _, a := range x.Use.Amounts {
				quantities = append(quantities, a.Quantity)
			}
		}
	}
	slices.Sort(at)
	slices.Sort(quantities)
	quantities = slices.Compact(quantities)
	peak, amounts := make([]int64, len(quantities)), make([]Amount, len(quantities))
	list := b.steps.lists[i]
	for _, t := range slices.Compact(at) {
		on := int64(0)
		clear(peak)
		switch c.taken(b.Block[i], t, t+1, nil, quantities, peak) {
		case Whole:
			on = heldWhole
			clear(peak)
		case Open:
			on = 1
		}
		for q := range quantities {
			amounts[q] = Amount{quantities[q], peak[q]}
		}
		if t <= c.now {
			t = math.MinInt64
		}
		var k int
		k, list = cut(list, t)
		list[k].Taken = c.takens.number(on, amounts)
		list = join(list, k)
	}
	b.steps.lists[i] = list
}

// stepped brings the steps of a node up to date after a stretch has come (sign 1) or
// gone (-1).
func (c *Calendar) stepped(b *calendarBlock, node uint32, x *Busy, sign int64) {
	i := node % BlockNodes
	if sign < 0 && c.rooms != nil {
		c.rooms.given(node, x.Start)
	}
	s, bit := b.steps, uint64(1)<<i
	if s == nil || s.known&bit == 0 {
		return
	}
	if x.Claim || x.Use != nil && (x.Use.Alone || x.Use.Within != 0) || (s.claimed|s.peculiar)&bit != 0 {
		s.known &^= bit
		return
	}
	c.shift(s, i, x, sign)
	s.measure(i, c.now, c.takens)
}

// measure summarises the steps of a node.
func (s *stepBlock) measure(i uint32, now int64, l *takenTable) {
	s.idle[i], s.idleGap[i] = lasting(s.lists[i], now, func(x Taken) bool { return x == NothingTaken })
	s.open[i], s.openGap[i] = lasting(s.lists[i], now, func(x Taken) bool { return !l.whole(x) })
}

// lasting finds the instant from which all steps are of a kind, and the longest time before it
// in which they were.
func lasting(list []Step, now int64, kind func(Taken) bool) (since, gap int64) {
	since, is := now, true
	for _, s := range list {
		switch was := is; {
		case kind(s.Taken) == was:
		case was:
			gap, is = max(gap, s.At-since), false
		default:
			since, is = max(s.At, now), true
		}
	}
	if !is {
		since = Forever
	}
	return since, gap
}
