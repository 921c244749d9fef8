package engine

import (
	"errors"
	"testing"
	"time"

	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/placer"
)

// TestReservationsTouchJobs: a reservation may begin at the second at which a job ends, and
// end when one begins, but not overlap either by a second.
func TestReservationsTouchJobs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		start, end int64 // seconds from now; jobs have the node until 100 and from 200
		fits       bool
	}{
		{"between", 100, 200, true},
		{"a second too soon", 99, 200, false},
		{"a second too long", 100, 201, false},
		{"while a job runs", 10, 20, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			db, _ := newDB(t)
			addNodes(t, db, "n", 1, 4)
			err := db.Update(func(tx *Tx) error {
				request := placer.Request{Select: "1:ncpus=1", Place: "excl", Walltime: 100 * time.Second}
				if _, err := tx.Jobs().Place(request); err != nil {
					return err
				}
				if _, err := tx.Jobs().PlaceAt(request, kernel.Instant(tx.k.Now+200)); err != nil {
					return err
				}
				_, err := tx.Reservations().ReserveNodes("r", []uint32{0}, kernel.Instant(tx.k.Now+c.start),
					kernel.Instant(tx.k.Now+c.end))
				return err
			})
			if (err == nil) != c.fits || err != nil && !errors.Is(err, ErrConflict) {
				t.Errorf("%v, want it to fit: %v", err, c.fits)
			}
		})
	}
}
