package engine

import (
	"testing"
	"time"

	"github.com/placectl/placectl/internal/queue"
	"github.com/placectl/placectl/placer"
)

// TestKeepEnded: cycles drop jobs that ended longer ago than keep_ended, with their events, a
// limited number each time. They drop no job that has not ended or on which another depends.
func TestKeepEnded(t *testing.T) {
	db, clock := newDB(t)
	addNodes(t, db, "n", 2, 1)
	one := placer.Request{Select: "1:ncpus=1", Place: "excl", Walltime: time.Hour}
	const many = 2*queue.ForgetStep + 100
	run := func() {
		t.Helper()
		err := db.Update(func(tx *Tx) error {
			_, err := tx.Cycle().Run(CycleSpec{})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	err := db.Update(func(tx *Tx) error {
		for range many {
			jobs, err := tx.Jobs().Submit(Submission{Request: one, Hold: true})
			if err != nil {
				return err
			}
			if _, err := tx.Jobs().Cancel(jobs[0].ID, ""); err != nil {
				return err
			}
		}
		_, err := tx.Jobs().Submit(Submission{Request: one, Hold: true}) // it has not ended
		if err != nil {
			return err
		}
		needed, err := tx.Jobs().Submit(Submission{Request: one, Hold: true})
		if err != nil {
			return err
		}
		if _, err := tx.Jobs().Submit(Submission{Request: one, Hold: true,
			After: []Dependency{{When: AfterAny, Job: needed[0].ID}}}); err != nil {
			return err
		}
		_, err = tx.Jobs().Cancel(needed[0].ID, "")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	count := func() (jobs, events int) {
		err := db.View(func(tx *Tx) error {
			if err := tx.Jobs().Each(func(*Job) error { jobs++; return nil }); err != nil {
				return err
			}
			return tx.EachEvent(0, func(*Event) (bool, error) { events++; return true, nil })
		})
		if err != nil {
			t.Fatal(err)
		}
		return jobs, events
	}
	clock.t += 86400
	run()
	if jobs, _ := count(); jobs != many+3 {
		t.Fatalf("%d jobs, though none should be deleted yet", jobs)
	}
	if err := db.Update(func(tx *Tx) error { return tx.Config().Set("keep_ended", "12h") }); err != nil {
		t.Fatal(err)
	}
	run()
	if jobs, _ := count(); jobs < many+3-queue.ForgetStep || jobs == many+3 {
		t.Errorf("%d jobs of %d after a cycle", jobs, many+3)
	}
	for range 12 {
		run()
	}
	if jobs, events := count(); jobs != 3 || events > 8 {
		t.Errorf("%d jobs and %d events are left", jobs, events)
	}
	if list := findings(t, db); len(list) > 0 {
		t.Errorf("%q", list)
	}
}
