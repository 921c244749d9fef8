package timeline

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
)

// BlockNodes is the number of nodes in a calendar block. It is on disk and must not change.
const BlockNodes = 64

// Forever is the time of an event that never happens.
const Forever = math.MaxInt64

// Busy is a stretch of time for which a node, or part of it, is taken: [Start, End).
type Busy struct {
	Start, End int64
	Owner      uint64
	// Held stretches last until they are removed: the clock alone does not take a node from a
	// running job. Past its End, such a stretch counts as ending a grace beyond now, however
	// late it is.
	Held bool
	// Claim marks a stretch that keeps a node for guests: theirs may lie over it.
	Claim bool
	// Use is the part taken of a shared node; nil is all of it.
	Use *Use
}

// Block holds the plans of 64 nodes with neighbouring numbers. Each list is sorted by Start,
// then by Owner.
type Block [BlockNodes][]Busy

// BlockSource gives a Calendar its stored blocks.
type BlockSource interface {
	// Block returns the block of the nodes from number*BlockNodes on, or nil if nothing is
	// planned for them.
	Block(number uint32) (*Block, error)
	// Reach returns the block's reach, as Calendar.Reach computes it, at an instant after
	// which no stretch has begun in it.
	Reach(number uint32) (int64, error)
}

// Calendar knows which nodes are taken when. It loads blocks on demand. If the source fails,
// reading methods answer as if nothing were planned, and Err returns the error.
type Calendar struct {
	// Overrun returns how long past now an owner's overdue stretch is assumed to last; nil
	// means the grace for all.
	Overrun func(owner uint64) int64

	// Passed counts the instants examined one by one since the clock was set. The code that
	// examines them counts them.
	Passed int

	src    BlockSource
	now    int64
	grace  int64
	blocks map[uint32]*calendarBlock
	last   *calendarBlock // the block used last, because neighbours are asked for in turn
	lastNo uint32
	err    error

	takens  *takenTable // of steps; nil before the first search for room
	rooms   *roomSearch // the last search for room; nil before the first at this instant
	amounts []Amount    // scratch of steps
	scratch []*Busy     // of Taken
	sums    []int64
}

type calendarBlock struct {
	*Block
	planned uint64     // the nodes that have stretches
	steps   *stepBlock // nil until needed
	changed bool
	reached bool   // reach is up to date
	reach   int64  // see Calendar.Reach
	ends    *Block // the stretches by their ends, computed on demand; see Calendar.byEnd
}

// touched records that the stretches of a node have changed.
func (b *calendarBlock) touched(node uint32) {
	b.changed, b.reached = true, false
	if b.ends != nil {
		b.ends[node%BlockNodes] = nil
	}
}

// NewCalendar makes a calendar at the instant now over the blocks of src; a nil src has none.
// grace is how long past now an overdue job is assumed to last, in the unit of time.
func NewCalendar(src BlockSource, now, grace int64) *Calendar {
	return &Calendar{src: src, now: now, grace: max(grace, 1), blocks: make(map[uint32]*calendarBlock)}
}

// Err returns the first failure of the source.
func (c *Calendar) Err() error { return c.err }

// Now returns the calendar's instant.
func (c *Calendar) Now() int64 { return c.now }

// SetNow moves the calendar to another instant. Call Begin for nodes on which stretches begin
// in between.
func (c *Calendar) SetNow(now int64) {
	c.now, c.Passed = now, 0
	if c.rooms != nil {
		c.rooms.forget()
	}
	for _, b := range c.blocks {
		b.reached = false
		if b.steps != nil {
			b.steps.known = 0
		}
	}
}

func (c *Calendar) block(node uint32) *calendarBlock {
	number := node / BlockNodes
	if c.last != nil && c.lastNo == number {
		return c.last
	}
	b, ok := c.blocks[number]
	if !ok {
		b = &calendarBlock{}
		if c.src != nil {
			stored, err := c.src.Block(number)
			if err != nil && c.err == nil {
				c.err = err
			}
			b.Block = stored
		}
		if b.Block == nil {
			b.Block = new(Block)
		}
		for i, list := range b.Block {
			if len(list) > 0 {
				b.planned |= 1 << i
			}
		}
		c.blocks[number] = b
	}
	c.last, c.lastNo = b, number
	return b
}

// At lists the stretches of a node, by start. Do not change the list.
func (c *Calendar) At(node uint32) []Busy { return c.block(node).Block[node%BlockNodes] }

// End returns when a stretch is expected to end, seen from now.
func (c *Calendar) End(b Busy) int64 {
	switch {
	case !b.Held || b.End > c.now:
		return b.End
	case c.Overrun == nil:
		return c.now + c.grace
	}
	return c.now + max(c.Overrun(b.Owner), 1)
}

// Add takes a node for a stretch of time in which nothing else is on it. It fails with ErrBusy
// if it overlaps another stretch, and with ErrRange if it is empty.
func (c *Calendar) Add(node uint32, b Busy) error {
	if b.End <= b.Start {
		return fmt.Errorf("%w: [%d, %d) is empty", ErrRange, b.Start, b.End)
	}
	if other, ok := c.overlap(node, b.Start, b.End); ok {
		return fmt.Errorf("%w: node %d is taken from %d to %d", ErrBusy, node, other.Start, c.End(other))
	}
	return c.Put(node, b)
}

// Put takes a node for a stretch of time without checking what else is there. Callers know
// that for a shared node, or one with an overdue job under its plans. It fails with ErrRange
// if the stretch is empty.
func (c *Calendar) Put(node uint32, b Busy) error {
	if b.End <= b.Start {
		return fmt.Errorf("%w: [%d, %d) is empty", ErrRange, b.Start, b.End)
	}
	blk := c.block(node)
	list := &blk.Block[node%BlockNodes]
	i, _ := slices.BinarySearchFunc(*list, b, func(x, b Busy) int {
		return cmp.Or(cmp.Compare(x.Start, b.Start), cmp.Compare(x.Owner, b.Owner))
	})
	*list = slices.Insert(*list, i, b)
	c.stepped(blk, node, &b, 1)
	blk.planned |= 1 << (node % BlockNodes)
	blk.touched(node)
	return nil
}

// Remove gives back everything that an owner has of a node. It fails with ErrSpan if the owner
// has nothing.
func (c *Calendar) Remove(node uint32, owner uint64) error {
	blk := c.block(node)
	list := &blk.Block[node%BlockNodes]
	was := *list
	rest := slices.DeleteFunc(slices.Clone(was), func(b Busy) bool { return b.Owner == owner })
	if len(rest) == len(was) {
		return fmt.Errorf("%w: nothing of owner %d on node %d", ErrSpan, owner, node)
	}
	*list = rest
	for i := range was {
		if was[i].Owner == owner {
			c.stepped(blk, node, &was[i], -1)
		}
	}
	if len(rest) == 0 {
		blk.planned &^= 1 << (node % BlockNodes)
	}
	blk.touched(node)
	return nil
}

// overlap finds a stretch that is on the node in [from, to).
func (c *Calendar) overlap(node uint32, from, to int64) (Busy, bool) {
	for _, b := range c.At(node) {
		if b.Start >= to {
			break
		}
		if c.End(b) > from {
			return b, true
		}
	}
	return Busy{}, false
}

// FreeThrough reports whether nothing is on the node in [from, to).
func (c *Calendar) FreeThrough(node uint32, from, to int64) bool {
	_, taken := c.overlap(node, from, to)
	return !taken
}

// NextBusy returns when the node is next taken at or after t, or Forever if it never is. A
// stretch under way at t does not count.
func (c *Calendar) NextBusy(node uint32, t int64) int64 {
	for _, b := range c.At(node) {
		if b.Start >= t {
			return b.Start
		}
	}
	return Forever
}

// On finds the present stretch of a node. If an overdue job overlaps later plans, On returns
// the job.
func (c *Calendar) On(node uint32) (Busy, bool) {
	for _, b := range c.At(node) {
		if b.Start > c.now {
			break
		}
		if c.Live(b) {
			return b, true
		}
	}
	return Busy{}, false
}

// Live reports whether a stretch of the calendar is under way now.
func (c *Calendar) Live(b Busy) bool { return b.Start <= c.now && (b.Held || b.End > c.now) }

// Planned reports whether the node is taken at some time after now.
func (c *Calendar) Planned(node uint32) bool {
	list := c.At(node)
	return len(list) > 0 && list[len(list)-1].Start > c.now
}

// Changed lists the blocks changed since the last call, by number.
func (c *Calendar) Changed() iter.Seq2[uint32, *Block] {
	return func(yield func(uint32, *Block) bool) {
		for number, b := range c.blocks {
			if b.changed {
				b.changed = false
				if !yield(number, b.Block) {
					return
				}
			}
		}
	}
}
