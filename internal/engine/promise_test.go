package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/placer"
)

// TestPromiseFallsAtStart: a job that starts later than promised, because another one ran past
// its end, no longer has a promise, and an event says why.
func TestPromiseFallsAtStart(t *testing.T) {
	t.Parallel()
	db, clock := newDB(t)
	addNodes(t, db, "n", 2, 4)
	submit := func(tx *Tx, cpus string, walltime time.Duration) {
		t.Helper()
		if _, err := tx.Jobs().Submit(
			Submission{Request: placer.Request{Select: "1:ncpus=" + cpus, Walltime: walltime}}); err != nil {
			t.Fatal(err)
		}
	}
	cycle := func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{Backfill: Relaxed}); return err }
	steps := []func(tx *Tx) error{
		func(tx *Tx) error {
			if err := tx.Config().Set("slack", "0"); err != nil {
				return err
			}
			submit(tx, "4", 2*time.Minute) // 1: runs past its end
			submit(tx, "4", time.Hour)     // 2: ends early
			submit(tx, "3", time.Hour)     // 3: planned behind job 1
			return cycle(tx)
		},
		func(tx *Tx) error { clock.t += 600; return nil },
		func(tx *Tx) error { _, err := tx.Jobs().Finish(2, 0, ""); return err },
		cycle,
	}
	for _, step := range steps {
		if err := db.Update(step); err != nil {
			t.Fatal(err)
		}
	}
	fell := ""
	err := db.View(func(tx *Tx) error {
		if j, err := tx.Jobs().Get(3); err != nil || j.State != JobRunning || !j.Promised.IsZero() {
			t.Errorf("job 3 is %+v (%v)", j, err)
		}
		return tx.EachEvent(0, func(ev *Event) (bool, error) {
			if ev.Event == "promise" && ev.Job == 3 {
				fell += ev.Reason.String() + "\n"
			}
			return true, nil
		})
	})
	if err != nil || strings.Count(fell, "\n") != 1 || !strings.Contains(fell, "job 1") {
		t.Errorf("the promise fell %q (%v)", fell, err)
	}
}
