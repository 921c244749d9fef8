package store

import (
	"time"

	"github.com/placectl/placectl/internal/engine"
)

// Reserve keeps nodes, or amounts of them, for a time: for those on its access list, or unused. A
// repeating one returns its first occurrences. It needs the rights of an operator.
func (tx *Tx) Reserve(r ReserveSpec) ([]*Reservation, error) {
	spec := engine.ReserveSpec{Name: r.Name, Request: r.Request, Start: r.Start, End: r.End, Access: r.Access,
		Limit: r.Limit, Repeat: r.Repeat, Depth: r.Ahead}
	if r.Nodes != "" {
		var err error
		if spec.Nodes, err = tx.tx.Nodes().Resolve(r.Nodes); err != nil {
			return nil, err
		}
	}
	return tx.reservations(tx.tx.Reservations().Add(spec))
}

// Unreserve deletes a reservation, a repeating one with its occurrences. It needs the rights of an operator.
func (tx *Tx) Unreserve(name string) error {
	_, err := tx.tx.Reservations().Remove(name)
	return err
}

// Reservation returns a reservation, or the occurrences of a repeating one.
func (tx *Tx) Reservation(name string) ([]*Reservation, error) {
	return tx.reservations(tx.tx.Reservations().Occurrences(name))
}

func (tx *Tx) reservations(list []*engine.Reservation, err error) ([]*Reservation, error) {
	return listed(list, err, func(r *engine.Reservation) (*Reservation, error) {
		names, err := tx.tx.Nodes().Names(r.Nodes)
		return &Reservation{Name: r.Name, Series: r.Series, State: stateOf(r, tx.Now()), Nodes: names, Start: r.Start,
			End: r.End, Access: r.Access, Note: r.Note}, err
	})
}

// stateOf returns planned, active or ended.
func stateOf(r *engine.Reservation, now time.Time) string {
	switch {
	case now.Before(r.Start):
		return "planned"
	case now.Before(r.End):
		return "active"
	}
	return "ended"
}
