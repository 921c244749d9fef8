package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"pgregory.net/rapid"
)

// TestUntold: a job whose start no cycle announced never finishes, however much time passes. A
// cycle that comes too late queues it again.
func TestUntold(t *testing.T) {
	t.Parallel()
	for _, overdue := range []string{"keep", "finish"} {
		t.Run(overdue, func(t *testing.T) {
			t.Parallel()
			testUntold(t, overdue)
		})
	}
}

func testUntold(t *testing.T, overdue string) {
	const minute = 60
	db, c := newDB(t)
	addNodes(t, db, "n", 4, 1)
	began := c.t
	states := func(tx *Tx, want ...string) {
		t.Helper()
		i := 0
		err := tx.k.EachJob(func(j *row.Job) error {
			got := j.State.String()
			if j.Start != 0 {
				got += fmt.Sprintf(" %d-%d", (j.Start-began)/minute, (j.End-began)/minute)
			}
			if got != want[i] {
				t.Errorf("at %d: job %d is %s, want %s", (tx.k.Now-began)/minute, j.ID, got, want[i])
			}
			i++
			return nil
		})
		if err != nil || i != len(want) {
			t.Errorf("%d jobs, want %d: %v", i, len(want), err)
		}
	}
	update := func(at int64, fn func(tx *Tx) error) {
		t.Helper()
		c.t = began + at*minute
		if err := db.Update(fn); err != nil {
			t.Fatal(err)
		}
	}
	cycle := func(tx *Tx, silent bool, launch ...uint64) error {
		t.Helper()
		r, err := tx.Cycle().Run(CycleSpec{Backfill: Conservative, Silent: silent})
		if err == nil && fmt.Sprint(ids(r.Launch)) != fmt.Sprint(launch) {
			t.Errorf("at %d: launched %v, want %v", (tx.k.Now-began)/minute, ids(r.Launch), launch)
		}
		return err
	}
	update(0, func(tx *Tx) error {
		if err := tx.Config().Set("overdue", overdue); err != nil {
			return err
		}
		for _, s := range []Submission{{}, {}, {}, {After: []Dependency{{When: AfterOK, Job: 2}}},
			{After: []Dependency{{When: After, Job: 3}}}} {
			s.Request = wholeNodes(4, time.Hour)
			if _, err := tx.Jobs().Submit(s); err != nil {
				return err
			}
		}
		return cycle(tx, false, 1)
	})
	update(30, func(tx *Tx) error { _, err := tx.Jobs().Finish(1, 0, ""); return err })
	look := func(at int64, want ...string) {
		t.Helper()
		c.t = began + at*minute
		if err := db.View(func(tx *Tx) error { states(tx, want...); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	look(90, "finished 0-30", "running 60-120", "reserved 120-180", "queued", "queued")
	look(125, "finished 0-30", "queued", "running 120-180", "queued", "queued") // job 3 has begun on its nodes
	update(200, func(tx *Tx) error {
		if err := cycle(tx, true); err != nil {
			return err
		}
		states(tx, "finished 0-30", "running 200-260", "reserved 260-320", "queued", "queued")
		return nil
	})
	update(270, func(tx *Tx) error { // by another gap job 2, started by a silent cycle, is missed again
		states(tx, "finished 0-30", "queued", "running 260-320", "queued", "queued")
		if err := cycle(tx, false, 3); err != nil {
			return err
		}
		states(tx, "finished 0-30", "reserved 320-380", "running 260-320", "queued", "reserved 380-440")
		return nil
	})
	if list := findings(t, db); len(list) > 0 {
		t.Error(list)
	}
}

// TestUntoldDependents: a job that waits for another's start waits again if no launcher was
// told of that, and starts when the other does.
func TestUntoldDependents(t *testing.T) {
	t.Parallel()
	db, c := newDB(t)
	addNodes(t, db, "n", 4, 1)
	steps := []func(tx *Tx) error{
		func(tx *Tx) error {
			for _, s := range []Submission{{Request: wholeNodes(1, time.Hour)},
				{Request: wholeNodes(1, 5*time.Hour), After: []Dependency{{When: After, Job: 1}}}} {
				if _, err := tx.Jobs().Submit(s); err != nil {
					return err
				}
			}
			_, err := tx.Cycle().Run(CycleSpec{Silent: true}) // job 1 starts, and with it job 2
			return err
		},
		func(tx *Tx) error {
			r, err := tx.Cycle().Run(CycleSpec{})
			if got := fmt.Sprint(ids(r.Started), ids(r.Launch)); err == nil && got != "[1 2] [1 2]" {
				t.Errorf("started and launched %s, want both, in their order", got)
			}
			if j, err := tx.Jobs().Get(2); err != nil || j.State != JobRunning || kernel.Unix(j.Start) != tx.k.Now {
				t.Errorf("%v, %v", j, err)
			}
			return err
		},
	}
	for _, step := range steps {
		if err := db.Update(step); err != nil {
			t.Fatal(err)
		}
		c.t += 2 * 3600
	}
}

// TestPlacedFinishes: a caller that places a job has its nodes from then on, and needs no
// announcement.
func TestPlacedFinishes(t *testing.T) {
	t.Parallel()
	db, c := newDB(t)
	addNodes(t, db, "n", 1, 1)
	err := db.Update(func(tx *Tx) error {
		if err := tx.Config().Set("overdue", "finish"); err != nil {
			return err
		}
		_, err := tx.Jobs().PlaceAt(placer.Request{Select: "1:ncpus=1", Walltime: time.Hour},
			kernel.Instant(tx.k.Now+60))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	c.t += 7200
	err = db.Update(func(tx *Tx) error {
		r, err := tx.Cycle().Run(CycleSpec{})
		if err == nil && (len(r.Finished) != 1 || r.Finished[0].State != JobFinished) {
			t.Errorf("%+v", r)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestStopIsTold: in random lives, whatever takes a launched job off its nodes makes the next
// cycle tell its launcher to stop it, unless the launcher itself reported the end.
func TestStopIsTold(tt *testing.T) {
	tt.Parallel()
	rapid.Check(tt, func(t *rapid.T) {
		db, clock := newDB(tt)
		addNodes(tt, db, "n", 3, 4)
		overdue := rapid.SampledFrom([]string{"keep", "finish"}).Draw(t, "overdue")
		err := db.Update(func(tx *Tx) error { return tx.Config().Set("overdue", overdue) })
		if err != nil {
			t.Fatal(err)
		}
		launched := map[uint64]bool{} // reported to be started, and not to be stopped
		for range rapid.IntRange(5, 40).Draw(t, "steps") {
			job := rapid.Uint64Range(1, 10).Draw(t, "job")
			what := rapid.SampledFrom([]string{"submit", "submit", "cancel", "requeue", "release", "done", "hold",
				"time"}).Draw(t, "what")
			clock.t += int64(rapid.IntRange(0, 900).Draw(t, "passes"))
			err := db.Update(func(tx *Tx) (err error) {
				switch what {
				case "submit":
					_, err = tx.Jobs().Submit(
						Submission{Request: placer.Request{Select: "1:ncpus=3", Walltime: 20 * time.Minute}})
				case "cancel":
					_, err = tx.Jobs().Cancel(job, "")
				case "requeue":
					_, err = tx.Jobs().Requeue(job, "")
				case "release":
					_, err = tx.Jobs().Release(job)
				case "done":
					_, err = tx.Jobs().Finish(job, rapid.IntRange(0, 1).Draw(t, "status"), "")
				case "hold":
					_, err = tx.Jobs().Hold(job, "")
				}
				return err
			})
			if what == "done" && err == nil {
				delete(launched, job)
			}
			var r *CycleReport
			running := map[uint64]bool{}
			if err := db.Update(func(tx *Tx) error {
				if err := tx.Jobs().Each(func(j *Job) error { running[j.ID] = true; return nil },
					JobRunning); err != nil {
					return err
				}
				var err error
				r, err = tx.Cycle().Run(CycleSpec{})
				return err
			}); err != nil {
				t.Fatal(err)
			}
			told := map[uint64]bool{}
			for _, j := range r.Stopped {
				if !launched[j.ID] {
					t.Fatalf("after %s of %d: told to stop %d, which was not launched", what, job, j.ID)
				}
				told[j.ID] = true
			}
			for id := range launched {
				if !running[id] && !told[id] {
					t.Fatalf("after %s of %d: %d is off its nodes, and its launcher was not told", what, job, id)
				}
			}
			for id := range told {
				delete(launched, id)
			}
			for _, j := range r.Launch {
				launched[j.ID] = true
			}
		}
	})
}
