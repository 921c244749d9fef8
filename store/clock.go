package store

import (
	"fmt"
	"slices"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store/internal/row"
)

// skew is how far, in seconds, a writer's clock may lie behind the instant that
// the file stands for: machines that share a file disagree a little.
const skew = 5

// advance brings the bitmaps to the transaction's instant: it walks the changes
// in (asOf, now]. A reader patches what it holds in memory, a writer folds the
// changes in.
func (tx *Tx) advance() error {
	if tx.now < tx.state.AsOf {
		if tx.Writable() && tx.now < tx.state.AsOf-skew {
			return fmt.Errorf("%w by %d s: it stands at %s, and it is %s now", ErrClock, tx.state.AsOf-tx.now, stamp(tx.state.AsOf), stamp(tx.now))
		}
		tx.now = tx.state.AsOf
		return nil
	}
	var due []change
	err := tx.file.Each(row.Changes, nil, func(k, _ []byte) (bool, error) {
		at, owner := row.SplitTimeKey(k)
		if at > tx.now {
			return false, nil
		}
		due = append(due, change{at, owner})
		return true, nil
	})
	if err != nil {
		return err
	}
	if err := tx.passAll(due); err != nil {
		return err
	}
	tx.state.AsOf = tx.now
	return nil
}

// passAll lets the changes that are due happen, in order of time. Then a writer does
// what they have left to decide: it plans jobs anew that could not begin, say. A reader
// searches for no nodes, and calls no program: to it such jobs are late.
func (tx *Tx) passAll(due []change) error {
	if len(due) == 0 {
		return nil
	}
	defer tx.file.Pass()()
	var late []*Job
	var renewed []string
	for _, c := range due {
		if err := tx.file.Remove(row.Changes, row.TimeKey(c.at, c.owner)); err != nil {
			return err
		}
		tx.Calendar().SetNow(c.at)
		var err error
		if row.IsReservation(c.owner) {
			renewed, err = tx.passReservation(c, renewed)
		} else {
			late, err = tx.beginJob(c, late)
		}
		if err != nil {
			return err
		}
	}
	tx.Calendar().SetNow(tx.now)
	if err := tx.renewAll(renewed); err != nil {
		return err
	}
	decide := tx.planAnew
	if !tx.Writable() {
		decide = tx.isLate
	}
	for _, j := range late {
		if err := decide(j); err != nil {
			return err
		}
	}
	return nil
}

// stamp is an instant as messages show it.
func stamp(t int64) string { return time.Unix(t, 0).UTC().Format(time.RFC3339) }

// change is an instant at which an owner's time begins or ends by the clock.
type change struct {
	at    int64
	owner uint64
}

// passReservation lets a reservation begin or end. When an occurrence of a standing
// one ends it is forgotten, and the standing one is added to those to be renewed.
func (tx *Tx) passReservation(c change, renewed []string) ([]string, error) {
	r, err := tx.reservationByID(c.owner >> 1)
	if err != nil {
		return nil, err
	}
	if c.at < r.End {
		if err := tx.beginOn(r.Nodes); err != nil {
			return renewed, err
		}
		if err := tx.happened(reservationEvent(r, "planned", "active")); err != nil {
			return renewed, err
		}
		return renewed, tx.loaded.memory.invalidate(r.Nodes) // for those whom it lets in
	}
	if err := (booking{tx, r}).end(); err != nil {
		return renewed, err
	}
	if err := tx.happened(reservationEvent(r, "active", "ended")); err != nil || r.Series == "" {
		return renewed, err
	}
	if !slices.Contains(renewed, r.Series) {
		renewed = append(renewed, r.Series)
	}
	return renewed, booking{tx, r}.forget()
}

// beginOn moves nodes on which a stretch has begun.
func (tx *Tx) beginOn(nodes []uint32) error {
	for _, n := range nodes {
		tx.Calendar().Begin(n)
	}
	return tx.reclass(nodes)
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
		class := index.None
		if state == index.Up {
			class = tx.classOf(number)
			ix.Move(b, number, ix.ClassOf(b, number), class)
		}
		if err := tx.loaded.rooms.measure(ix, number, class == index.Busy); err != nil {
			return err
		}
	}
	return ix.Err()
}

// classOf is the class of a node that is up, by what the calendar says.
func (tx *Tx) classOf(node uint32) index.Class { return placer.ClassNow(tx.Calendar(), node) }
