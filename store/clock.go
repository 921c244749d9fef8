package store

import (
	"fmt"

	"github.com/placectl/placectl/index"
)

// skew is how far, in seconds, a writer's clock may lie behind the instant that
// the file stands for: machines that share a file disagree a little.
const skew = 5

// advance brings the bitmaps to the transaction's instant: it walks the changes
// in (asOf, now]. A reader patches what it holds in memory, a writer folds the
// changes in.
func (tx *Tx) advance() error {
	if tx.now < tx.state.asOf {
		if tx.Writable() && tx.now < tx.state.asOf-skew {
			return fmt.Errorf("%w by %d s: it stands at @%d, and it is @%d now", ErrClock, tx.state.asOf-tx.now, tx.state.asOf, tx.now)
		}
		tx.now = tx.state.asOf
		return nil
	}
	var due []change
	err := tx.each(tableChanges, nil, func(k, _ []byte) (bool, error) {
		at, owner := splitTimeKey(k)
		if at > tx.now {
			return false, nil
		}
		due = append(due, change{at, owner})
		return true, nil
	})
	if err != nil {
		return err
	}
	for _, c := range due {
		if err := tx.pass(c); err != nil {
			return err
		}
	}
	tx.state.asOf = tx.now
	if tx.loaded.calendar != nil {
		tx.loaded.calendar.SetNow(tx.now)
	}
	return nil
}

// change is an instant at which an owner's time begins or ends by the clock.
type change struct {
	at    int64
	owner uint64
}

// Owners number jobs and reservations in one space: twice the number, plus one
// for a reservation. On disk; must not change.
func jobOwner(id uint64) uint64         { return id << 1 }
func reservationOwner(id uint64) uint64 { return id<<1 | 1 }
func isReservation(owner uint64) bool   { return owner&1 == 1 }

// pass lets one change happen.
func (tx *Tx) pass(c change) error {
	if tx.Writable() {
		if err := tx.remove(tableChanges, timeKey(c.at, c.owner)); err != nil {
			return err
		}
	}
	if !isReservation(c.owner) {
		return fmt.Errorf("%w: a job is due by the clock", ErrDamaged)
	}
	r, err := tx.reservationByID(c.owner >> 1)
	if err != nil {
		return err
	}
	tx.Calendar().SetNow(c.at)
	if c.at >= r.End {
		return tx.endReservation(r)
	}
	return tx.reclass(r.Nodes)
}

// reclass puts nodes into the bitmaps that the calendar says they belong to.
func (tx *Tx) reclass(nodes []uint32) error {
	ix, err := tx.Index()
	if err != nil {
		return err
	}
	for _, number := range nodes {
		bucket, state, err := tx.nodeHead(number)
		if err != nil {
			return err
		}
		b := ix.Bucket(bucket)
		if b == nil {
			return fmt.Errorf("%w: node %d says it is in bucket %d", ErrDamaged, number, bucket)
		}
		if state == index.Up {
			ix.Move(b, number, ix.ClassOf(b, number), tx.classOf(number))
		}
	}
	return ix.Err()
}

// classOf is the class of a node that is up, by what the calendar says.
func (tx *Tx) classOf(node uint32) index.Class { return classIn(tx.Calendar(), node) }
