package store

import (
	"errors"
	"fmt"
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/timeline"
)

// ReserveNodes keeps whole nodes for [start, end). It fails with a Conflict
// where a node is taken in that time, by a job or by another reservation. The
// name of a reservation that has ended may be used again.
func (tx *Tx) ReserveNodes(name string, nodes []uint32, start, end int64) (*Reservation, error) {
	if err := tx.validReservation(name, start, end); err != nil {
		return nil, err
	}
	if len(nodes) == 0 {
		return nil, fmt.Errorf("%w: reservation %s has no nodes", ErrInvalid, name)
	}
	r := &Reservation{ID: tx.state.nextReservation, Name: name, Start: start, End: end, Nodes: slices.Clone(nodes)}
	slices.Sort(r.Nodes)
	r.Nodes = slices.Compact(r.Nodes)
	tx.state.nextReservation++
	owner := reservationOwner(r.ID)
	for _, n := range r.Nodes {
		if err := tx.inTheWay("reservation "+name, n, start, end, owner); err != nil {
			return nil, err
		}
	}
	for _, n := range r.Nodes {
		if err := tx.Calendar().Add(n, timeline.Busy{Start: start, End: end, Owner: owner}); err != nil {
			return nil, tx.spoil(err)
		}
	}
	if err := tx.reclass(r.Nodes); err != nil {
		return nil, err
	}
	for _, t := range []int64{start, end} {
		if t > tx.now {
			if err := tx.mark(tableChanges, timeKey(t, owner)); err != nil {
				return nil, err
			}
		}
	}
	if err := tx.mark(tableEndings, timeKey(end, owner)); err != nil {
		return nil, err
	}
	return r, tx.putReservation(r)
}

// Reserve keeps as many nodes as a request asks for, chosen once, for the
// request's walltime from start on.
func (tx *Tx) Reserve(name string, r placer.Request, start int64) (*Reservation, error) {
	a, err := tx.Ask(r)
	if err != nil {
		return nil, err
	}
	if err := tx.validReservation(name, start, start+a.Duration); err != nil {
		return nil, err
	}
	snap, err := tx.snapshot(r.Queue)
	if err != nil {
		return nil, err
	}
	plan, err := snap.Place(a, max(start, tx.now))
	if err != nil {
		return nil, err
	}
	var nodes []uint32
	for _, c := range plan.Chunks {
		for _, p := range c.Picks {
			nodes = append(nodes, p.Node)
		}
	}
	return tx.ReserveNodes(name, nodes, plan.Start, plan.End)
}

func (tx *Tx) validReservation(name string, start, end int64) error {
	switch {
	case !tx.Writable():
		return ErrReadOnly
	case !index.ValidNodeName(name):
		return fmt.Errorf("%w reservation name %q: use letters, digits, dots, - and _", ErrInvalid, name)
	case end <= start || end-start > maxWalltime:
		return fmt.Errorf("%w: reservation %s lasts %d s; it must be from 1 s to %d s", ErrInvalid, name, end-start, maxWalltime)
	case end <= tx.now:
		return fmt.Errorf("%w: reservation %s would be over already", ErrInvalid, name)
	}
	old, err := tx.Reservation(name)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if old.State(tx.now) != "ended" {
		return &Conflict{"reservation " + name, ErrExists.Error()}
	}
	return tx.forgetReservation(old)
}

// inTheWay is the Conflict of wanting a node for a time in which somebody else
// than owner has it; nil when nobody does.
func (tx *Tx) inTheWay(what string, node uint32, start, end int64, owner uint64) error {
	for _, b := range tx.Calendar().At(node) {
		until := tx.Calendar().End(b)
		if b.Owner == owner || b.Start >= end || until <= start {
			continue
		}
		name, err := tx.nodeName(node)
		if err != nil {
			return err
		}
		who, err := tx.Owner(b)
		if err != nil {
			return err
		}
		return &Conflict{what, fmt.Sprintf("node %s is taken by %s from %s to %s", name, who, stamp(b.Start), stamp(until))}
	}
	return tx.Calendar().Err()
}

// Unreserve gives a reservation's nodes back and forgets it.
func (tx *Tx) Unreserve(name string) (*Reservation, error) {
	if !tx.Writable() {
		return nil, ErrReadOnly
	}
	r, err := tx.Reservation(name)
	if err != nil {
		return nil, err
	}
	if r.State(tx.now) != "ended" {
		if err := tx.endReservation(r); err != nil {
			return nil, err
		}
	}
	return r, tx.forgetReservation(r)
}

// endReservation takes a reservation off the calendar. The row stays, to be
// looked at.
func (tx *Tx) endReservation(r *Reservation) error {
	owner := reservationOwner(r.ID)
	for _, n := range r.Nodes {
		if err := tx.Calendar().Remove(n, owner); err != nil {
			return fmt.Errorf("%w: %v", ErrDamaged, err)
		}
	}
	if err := tx.reclass(r.Nodes); err != nil {
		return err
	}
	for _, t := range []int64{r.Start, r.End} {
		if err := tx.remove(tableChanges, timeKey(t, owner)); err != nil {
			return err
		}
	}
	return tx.remove(tableEndings, timeKey(r.End, owner))
}

func (tx *Tx) forgetReservation(r *Reservation) error {
	if err := tx.remove(tableReservationIDs, key64(r.ID)); err != nil {
		return err
	}
	return tx.remove(tableReservations, []byte(r.Name))
}
