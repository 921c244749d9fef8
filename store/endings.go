package store

import (
	"iter"
)

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
	from := timeKey(max(after, tx.now)+1, 0)
	err = tx.eachFrom(tableEndings, from, nil, func(k, _ []byte) (bool, error) {
		at, owner := splitTimeKey(k)
		if at >= grace {
			if giveBack(); !more {
				return false, nil
			}
		}
		nodes, err := tx.ownerNodes(owner)
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
	err := tx.each(tableEndings, nil, func(k, _ []byte) (bool, error) {
		at, owner := splitTimeKey(k)
		if at > tx.now {
			return false, nil
		}
		if isReservation(owner) {
			return true, nil // over; a writer will drop it
		}
		mine, err := tx.ownerNodes(owner)
		nodes = append(nodes, mine...)
		return true, err
	})
	return nodes, err
}
