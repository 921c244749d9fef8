package plan

import (
	"fmt"
	"slices"

	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
)

// Cause is what changes the state of a reservation.
type Cause uint8

const (
	Made      Cause = iota // a command makes it, or its standing reservation
	Due                    // the instant at which it begins or ends has come
	Withdrawn              // a command deletes it
	Forgotten              // an occurrence has ended, or the name of an ended reservation is used again
)

// Step is a change of a reservation's state; before it is made, that is "".
type Step struct {
	Cause    Cause
	From, To string
}

// Steps lists the allowed ones.
var Steps = []Step{
	{Made, "", row.ReservationPlanned},
	{Made, "", row.ReservationActive},
	{Due, row.ReservationPlanned, row.ReservationActive},
	{Due, row.ReservationActive, row.ReservationEnded},
	{Withdrawn, row.ReservationPlanned, row.ReservationRemoved},
	{Withdrawn, row.ReservationActive, row.ReservationRemoved},
	{Withdrawn, row.ReservationEnded, row.ReservationRemoved},
	{Forgotten, row.ReservationEnded, row.ReservationRemoved},
}

// Booking is a reservation that changes its state in a transaction.
type Booking struct {
	Tx *kernel.Tx
	*row.Reservation
}

// Do changes the state of a reservation. Its instants and the clock say which it has until it is
// removed, so one that is made or due has its new state already. Callers ask for nothing else: a step
// that is refused comes from a damaged file. An error after the first change spoils the transaction.
func (r Booking) Do(s Step) error {
	known := s.To
	if s.To == row.ReservationRemoved {
		known = s.From
	}
	if is := r.State(r.Tx.Calendar().Now()); is != known || !slices.Contains(Steps, s) {
		return fmt.Errorf("%w: reservation %s is %s and cannot become %s", row.ErrDamaged, r.Name, is, s.To)
	}
	return r.Tx.Spoil(r.change(s))
}

func (r Booking) change(s Step) (err error) {
	switch {
	case s.Cause == Made:
		err = r.enter()
	case s.To == row.ReservationActive:
		if err = Begin(r.Tx, r.Nodes); err == nil {
			r.Tx.Loaded.Freed.On(r.Nodes) // for the jobs that it admits
		}
	case s.From != row.ReservationEnded:
		err = r.leave()
	}
	if err == nil && s.From != row.ReservationEnded {
		err = r.Tx.Happened(row.Event{Event: kernel.ReservationEvents, Node: r.Name, Old: s.From, New: s.To,
			Reason: row.Because(row.CauseNone, r.Name)})
	}
	switch {
	case err != nil:
		return err
	case s.Cause == Made:
		return r.Tx.Loaded.Reservations.Put(r.Reservation)
	case s.To == row.ReservationRemoved:
		return r.Tx.Loaded.Reservations.Remove([]byte(r.Name))
	}
	return nil
}

// Begin moves nodes on which a stretch has begun.
func Begin(tx *kernel.Tx, nodes []uint32) error {
	for _, n := range nodes {
		tx.Calendar().Begin(n)
	}
	return tx.NodeIndex().Reclass(nodes, tx.Calendar().Now())
}

// enter puts a reservation on its nodes.
func (r Booking) enter() error {
	r.ID = r.Tx.State.NextReservation
	r.Tx.State.NextReservation++
	owner := row.ReservationOwner(r.ID)
	for i, n := range r.Nodes {
		if err := r.Tx.Calendar().Put(n, r.Span(i)); err != nil {
			return err
		}
	}
	if err := r.holdPools(r.Tx.Counters().Put); err != nil {
		return err
	}
	if err := r.Tx.NodeIndex().Reclass(r.Nodes, r.Start); err != nil {
		return err
	}
	for _, t := range []int64{r.Start, r.End} {
		if t > r.Tx.Now {
			if err := r.Tx.File.Mark(row.Changes, row.TimeKey(t, owner)); err != nil {
				return err
			}
		}
	}
	if len(r.Access) > 0 { // for the jobs that insist on it
		r.Tx.Loaded.Freed.On(r.Nodes)
	}
	return r.Tx.Loaded.Releases.Put(r.End, owner, r.Nodes)
}

// leave takes a reservation off its nodes.
func (r Booking) leave() error {
	owner := row.ReservationOwner(r.ID)
	for _, n := range r.Nodes {
		if err := r.Tx.Calendar().Remove(n, owner); err != nil {
			return fmt.Errorf("%w: %v", row.ErrDamaged, err)
		}
	}
	r.Tx.Loaded.Freed.On(r.Nodes)
	if err := r.holdPools(r.Tx.Counters().Remove); err != nil {
		return err
	}
	if err := r.Tx.NodeIndex().Reclass(r.Nodes, r.Start); err != nil {
		return err
	}
	for _, t := range []int64{r.Start, r.End} {
		if err := r.Tx.File.Remove(row.Changes, row.TimeKey(t, owner)); err != nil {
			return err
		}
	}
	return r.Tx.Loaded.Releases.Remove(r.End, owner)
}
