package plan

import (
	"fmt"

	"github.com/placectl/placectl/internal/row"
)

// valid refuses a reservation without nodes, or with an invalid time at the instant now. It
// may last at most longest seconds.
func valid(r *row.Reservation, now, longest int64) error {
	if len(r.Nodes) == 0 {
		return fmt.Errorf("%w: reservation %s has no nodes", row.ErrInvalid, r.Name)
	}
	if r.Limit < 0 {
		return fmt.Errorf("%w: reservation %s lets a job use %d s of it", row.ErrInvalid, r.Name, r.Limit)
	}
	return validTime(r, now, longest)
}

// validTime does the same for a reservation that has no nodes yet.
func validTime(r *row.Reservation, now, longest int64) error {
	switch {
	case r.End <= r.Start || r.End-r.Start > longest:
		return fmt.Errorf("%w: reservation %s lasts %d s; it must be from 1 s to %d s", row.ErrInvalid, r.Name,
			r.End-r.Start, longest)
	case r.Start > row.LastInstant:
		return fmt.Errorf("%w: reservation %s would begin after the year 9999", row.ErrInvalid, r.Name)
	case r.End <= now:
		return fmt.Errorf("%w: reservation %s would be over already", row.ErrInvalid, r.Name)
	}
	return nil
}
