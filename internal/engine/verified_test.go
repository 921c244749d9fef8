package engine

import (
	"errors"
	"testing"
	"time"

	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/placer"
)

// TestPlansAreVerified: a plan that does not fit is refused, whoever made it. It is checked
// against the nodes' own rows and the calendar, not against the snapshot from which it was
// made.
func TestPlansAreVerified(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, place, has, wants string
		fits                    bool
	}{
		{"as much as is left", "shared", "1:ncpus=3", "1:ncpus=1", true},
		{"one cpu more than is left", "shared", "1:ncpus=3", "1:ncpus=2", false},
		{"a whole node that is shared", "excl", "1:ncpus=1", "1:ncpus=1", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			db, _ := newDB(t)
			addNodes(t, db, "n", 1, 4)
			wants := placer.Request{Select: c.wants, Place: c.place, Walltime: time.Hour}
			err := db.Update(func(tx *Tx) error {
				a, err := tx.Ask().Ask(wants)
				if err != nil {
					return err
				}
				snap, err := plan.Snapshot(tx.k, "")
				if err != nil {
					return err
				}
				plan, err := snap.Place(a, tx.k.Now) // while the node is idle
				if err != nil {
					return err
				}
				if _, err := tx.Jobs().Place(placer.Request{Select: c.has, Place: "shared",
					Walltime: time.Hour}); err != nil {
					return err
				}
				_, err = jobs.NewJob(tx.k, wants, a, plan)
				return err
			})
			if fits := err == nil; fits != c.fits || !fits && !errors.Is(err, ErrConflict) {
				t.Errorf("%v, want it to fit: %v", err, c.fits)
			}
		})
	}
}
