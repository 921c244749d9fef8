// Package bookings keeps the rows of reservations: each by its name, to be found by its
// number and by whom it lets in.
package bookings

import (
	"fmt"

	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
)

// Put writes a reservation and makes it findable.
func Put(rows *file.Recorder, r *row.Reservation) error {
	if err := rows.Put(row.ReservationIDs, row.Key64(r.ID), row.EncodeText(r.Name)); err != nil {
		return err
	}
	for _, a := range r.Access {
		if err := rows.Mark(row.Access, row.AccessKey(a, r.ID)); err != nil {
			return err
		}
	}
	return rows.Put(row.Reservations, []byte(r.Name), row.EncodeReservation(r))
}

// Forget removes a reservation and all by which it is found.
func Forget(rows *file.Recorder, r *row.Reservation) error {
	if err := rows.Remove(row.ReservationIDs, row.Key64(r.ID)); err != nil {
		return err
	}
	for _, a := range r.Access {
		if err := rows.Remove(row.Access, row.AccessKey(a, r.ID)); err != nil {
			return err
		}
	}
	return rows.Remove(row.Reservations, []byte(r.Name))
}

// Valid refuses a reservation, at an instant, of no nodes or of a time that is none; it lasts
// at most longest seconds.
func Valid(r *row.Reservation, now, longest int64) error {
	if len(r.Nodes) == 0 {
		return fmt.Errorf("%w: reservation %s has no nodes", row.ErrInvalid, r.Name)
	}
	if r.Limit < 0 {
		return fmt.Errorf("%w: reservation %s lets a job use %d s of it", row.ErrInvalid, r.Name, r.Limit)
	}
	return ValidTime(r, now, longest)
}

// ValidTime is Valid for one that has no nodes yet.
func ValidTime(r *row.Reservation, now, longest int64) error {
	switch {
	case r.End <= r.Start || r.End-r.Start > longest:
		return fmt.Errorf("%w: reservation %s lasts %d s; it must be from 1 s to %d s", row.ErrInvalid, r.Name, r.End-r.Start, longest)
	case r.End <= now:
		return fmt.Errorf("%w: reservation %s would be over already", row.ErrInvalid, r.Name)
	}
	return nil
}
