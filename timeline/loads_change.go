package timeline

import "fmt"

// Add takes amounts of nodes for a stretch of time, of all of them or of none. A
// node may be named more than once. It fails with ErrBusy where a quantity of a
// node would be overcommitted at some instant, and with ErrRange when the stretch
// is empty, a node has no capacity, or amounts do not match the quantities, are
// negative or more than the node has.
func (l *Loads) Add(b Busy, takes []Take) error { return l.add(b, takes, true) }

// Put takes amounts that Add accepted once, also where an overdue job has come to
// lie over them since, or nodes have lost capacity. It fails with ErrRange as Add
// does, except that amounts may be more than a node has.
func (l *Loads) Put(b Busy, takes []Take) error { return l.add(b, takes, false) }

func (l *Loads) add(b Busy, takes []Take, fitting bool) error {
	if b.End <= b.Start {
		return fmt.Errorf("%w: [%d, %d) is empty", ErrRange, b.Start, b.End)
	}
	for _, t := range takes {
		n, err := l.known(t.Node)
		if err == nil {
			err = l.check(t.Amounts)
		}
		if err != nil {
			return err
		}
		if i := n.lacks(t.Amounts); fitting && i >= 0 {
			return fmt.Errorf("%w: node %d has %d of %s, not %d", ErrRange, t.Node, n.capacity[i], l.names[i], t.Amounts[i])
		}
	}
	until := l.End(b)
	for i, t := range takes {
		n := l.node(t.Node)
		if fitting && !n.fits(b.Start, until, t.Amounts) {
			l.undo(b, takes[:i])
			return fmt.Errorf("%w: node %d from %d to %d", ErrBusy, t.Node, b.Start, until)
		}
		n.add(b, until, t.Amounts)
	}
	return nil
}

// undo takes back what a call has added so far. The stretch lies behind those
// that start with it, so each node's latest addition is found from the back.
func (l *Loads) undo(b Busy, takes []Take) {
	for _, t := range takes {
		n := l.node(t.Node)
		n.drop(n.after(b.Start) - 1)
	}
}

// Remove gives back what an owner has of nodes, all of it. It fails with ErrSpan
// when that is nothing on one of them.
func (l *Loads) Remove(owner uint64, nodes []uint32) error {
	for _, node := range nodes {
		if n := l.node(node); n == nil || n.last(owner) < 0 {
			return fmt.Errorf("%w: nothing of owner %d on node %d", ErrSpan, owner, node)
		}
	}
	for _, node := range nodes {
		n := l.node(node)
		for i := n.last(owner); i >= 0; i = n.last(owner) {
			n.drop(i)
		}
	}
	return nil
}
