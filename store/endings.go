package store

import (
	"cmp"
	"iter"
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store/internal/row"
)

// ending is when an owner is expected to give its nodes back.
type ending struct {
	at    int64
	owner uint64
	nodes []uint32
}

func (e ending) compare(o ending) int {
	return cmp.Or(cmp.Compare(e.at, o.at), cmp.Compare(e.owner, o.owner))
}

// holdEndings reads all endings into memory, for a transaction that asks for them
// often.
func (tx *Tx) holdEndings() error {
	list := []ending{}
	err := tx.file.Each(row.Endings, nil, func(k, _ []byte) (bool, error) {
		at, owner := row.SplitTimeKey(k)
		nodes, err := tx.ownerNodes(owner)
		list = append(list, ending{at, owner, nodes})
		return true, err
	})
	if err == nil {
		tx.loaded.endings = list
	}
	return err
}

// heldNode finds a node by its number, and keeps it in memory as long as no row of a
// node is written. It is for reading only.
func (tx *Tx) heldNode(number uint32) (*index.Node, error) {
	if tx.loaded.held == nil || tx.loaded.heldAt != tx.file.Writes(row.Nodes) {
		tx.loaded.held, tx.loaded.heldAt = make([]*index.Node, tx.state.NextNode), tx.file.Writes(row.Nodes)
	}
	if int(number) < len(tx.loaded.held) && tx.loaded.held[number] != nil {
		return tx.loaded.held[number], nil
	}
	n, err := tx.NodeByNumber(number)
	if err == nil && int(number) < len(tx.loaded.held) {
		tx.loaded.held[number] = n
	}
	return n, err
}

// endsAt notes when an owner is expected to give its nodes back.
func (tx *Tx) endsAt(at int64, owner uint64, nodes []uint32) error {
	if tx.loaded.endings != nil {
		e := ending{at, owner, nodes}
		if i, known := slices.BinarySearchFunc(tx.loaded.endings, e, ending.compare); !known {
			tx.loaded.endings = slices.Insert(tx.loaded.endings, i, e)
		}
	}
	return tx.file.Mark(row.Endings, row.TimeKey(at, owner))
}

// endsNot takes that back.
func (tx *Tx) endsNot(at int64, owner uint64) error {
	if i, known := slices.BinarySearchFunc(tx.loaded.endings, ending{at: at, owner: owner}, ending.compare); known {
		tx.loaded.endings = slices.Delete(tx.loaded.endings, i, i+1)
	}
	return tx.file.Remove(row.Endings, row.TimeKey(at, owner))
}

// endingsFrom goes through the endings from an instant on.
func (tx *Tx) endingsFrom(from int64, fn func(at int64, owner uint64, nodes func() ([]uint32, error)) (bool, error)) error {
	if tx.loaded.endings == nil {
		return tx.file.EachFrom(row.Endings, row.TimeKey(from, 0), nil, func(k, _ []byte) (bool, error) {
			at, owner := row.SplitTimeKey(k)
			return fn(at, owner, func() ([]uint32, error) { return tx.ownerNodes(owner) })
		})
	}
	i, _ := slices.BinarySearchFunc(tx.loaded.endings, ending{at: from}, ending.compare)
	for _, e := range tx.loaded.endings[i:] {
		if more, err := fn(e.at, e.owner, func() ([]uint32, error) { return e.nodes, nil }); err != nil || !more {
			return err
		}
	}
	return nil
}

// endings lists when nodes are expected to be given back. Jobs that are overdue
// count as ending a grace from now.
func (tx *Tx) endings(after int64) iter.Seq2[int64, []uint32] {
	return func(yield func(int64, []uint32) bool) {
		if err := tx.eachEnding(after, yield); err != nil {
			tx.loaded.index.Fail(err)
		}
	}
}

func (tx *Tx) eachEnding(after int64, yield func(int64, []uint32) bool) error {
	overdue, err := tx.overdueNodes()
	if err != nil {
		return err
	}
	grace, more := tx.now+overdueGrace, true
	giveBack := func() {
		if len(overdue) > 0 && grace > after {
			more = yield(grace, overdue)
		}
		overdue = nil
	}
	err = tx.endingsFrom(max(after, tx.now)+1, func(at int64, _ uint64, list func() ([]uint32, error)) (bool, error) {
		if at >= grace {
			if giveBack(); !more {
				return false, nil
			}
		}
		nodes, err := list()
		if err == nil {
			more = yield(at, nodes)
		}
		return more, err
	})
	if err == nil && more {
		giveBack()
	}
	return err
}

// overdueNodes are the nodes of jobs that should have ended by now.
func (tx *Tx) overdueNodes() ([]uint32, error) {
	var nodes []uint32
	err := tx.endingsFrom(0, func(at int64, owner uint64, list func() ([]uint32, error)) (bool, error) {
		if at > tx.now {
			return false, nil
		}
		if row.IsReservation(owner) {
			return true, nil // over; a writer will drop it
		}
		mine, err := list()
		nodes = append(nodes, mine...)
		return true, err
	})
	return nodes, err
}
