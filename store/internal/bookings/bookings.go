// Package bookings says which reservations there can be.
package bookings

import (
	"fmt"

	"github.com/placectl/placectl/store/internal/row"
)

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
