package timeline

import (
	"fmt"
	"slices"
)

// Loads knows what is taken of nodes that are shared, and when: each node has a
// capacity, a vector of amounts in the order of the names, and each stretch of
// time takes amounts of it. It is to shared nodes what Calendar is to those
// taken as a whole; held stretches last past their end in the same way.
//
// Reading methods write nothing, so any number of goroutines may ask at once.
// Changes need the loads for themselves. A call that fails changes nothing.
// Amounts reach up to MaxTotal; fifteen stretches of that size can lie over each
// other.
type Loads struct {
	names  []string
	now    int64
	grace  int64
	blocks map[uint32]*loadBlock
}

// loadBlock is the nodes of a block that have a capacity. They share blocks like
// those of a Calendar, so that they can come to be stored and lent like them.
type loadBlock [BlockNodes]*nodeLoads

// A Load is a stretch of time in which amounts of a node are taken.
type Load struct {
	Busy
	Amounts []int64
	counted int64 // the end up to which it is counted
}

// A Take is what a stretch takes of one of its nodes.
type Take struct {
	Node    uint32
	Amounts []int64
}

// NewLoads makes loads of the named quantities at the instant now, without
// nodes. grace is that of NewCalendar. It fails with ErrRange if there are no
// names, or a name comes twice.
func NewLoads(names []string, now, grace int64) (*Loads, error) {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("%w: quantity %q comes twice", ErrRange, name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%w: no quantities", ErrRange)
	}
	return &Loads{names: slices.Clone(names), now: now, grace: max(grace, 1), blocks: make(map[uint32]*loadBlock)}, nil
}

// Names are the quantities in the order of the vectors.
func (l *Loads) Names() []string { return slices.Clone(l.names) }

// Vector returns the amounts in the order of the quantities, zero for those not
// mentioned. It fails with ErrRange if a name is not known here.
func (l *Loads) Vector(amounts map[string]int64) ([]int64, error) {
	v := make([]int64, len(l.names))
	for name, a := range amounts {
		i := slices.Index(l.names, name)
		if i < 0 {
			return nil, fmt.Errorf("%w: no quantity %q", ErrRange, name)
		}
		v[i] = a
	}
	return v, nil
}

// SetNode gives a node its capacity, also another than before. What is taken
// stays, even where it is more than there is now: there nothing is free until
// enough of it has gone. It fails with ErrRange if the vector does not match the
// quantities, or an amount is negative or above MaxTotal.
func (l *Loads) SetNode(node uint32, capacity []int64) error {
	if err := l.check(capacity); err != nil {
		return err
	}
	b := l.blocks[node/BlockNodes]
	if b == nil {
		b = new(loadBlock)
		l.blocks[node/BlockNodes] = b
	}
	n := b[node%BlockNodes]
	if n == nil {
		n = &nodeLoads{heldUntil: Forever}
		b[node%BlockNodes] = n
	}
	n.capacity = slices.Clone(capacity)
	return nil
}

// At lists what is taken of a node, by start; for reading only.
func (l *Loads) At(node uint32) []Load {
	if n := l.node(node); n != nil {
		return n.loads
	}
	return nil
}

// End is when a stretch is expected to end, seen from now: Calendar.End.
func (l *Loads) End(b Busy) int64 { return b.expected(l.now, l.grace) }

// SetNow moves the loads to another instant. Every node is looked at once, and
// those with stretches that are or were overdue are counted anew.
func (l *Loads) SetNow(now int64) {
	was := l.now
	l.now = now
	for _, b := range l.blocks {
		for _, n := range b {
			if n != nil && n.heldUntil <= max(was, now) {
				n.recount(now, l.grace)
			}
		}
	}
}

// node is a node's loads, nil when it has no capacity.
func (l *Loads) node(node uint32) *nodeLoads {
	if b := l.blocks[node/BlockNodes]; b != nil {
		return b[node%BlockNodes]
	}
	return nil
}

// known is node, or ErrRange.
func (l *Loads) known(node uint32) (*nodeLoads, error) {
	if n := l.node(node); n != nil {
		return n, nil
	}
	return nil, fmt.Errorf("%w: node %d has no capacity", ErrRange, node)
}

// check sees that a vector can be one of amounts.
func (l *Loads) check(amounts []int64) error {
	if len(amounts) != len(l.names) {
		return fmt.Errorf("%w: %d amounts for %d quantities", ErrRange, len(amounts), len(l.names))
	}
	for i, a := range amounts {
		if a < 0 || a > MaxTotal {
			return fmt.Errorf("%w: %d of %s", ErrRange, a, l.names[i])
		}
	}
	return nil
}
