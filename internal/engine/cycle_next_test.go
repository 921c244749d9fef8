package engine

import (
	"testing"
	"time"

	"github.com/placectl/placectl/internal/kernel"
	"pgregory.net/rapid"
)

// TestCycleNext: until the instant that a cycle names, further cycles do nothing, whether jobs
// wait for their begin, their deadline, or nodes that the clock releases.
func TestCycleNext(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		db, clock := newDB(t)
		addNodes(t, db, "n", 3, 2)
		update := func(fn func(*Tx) error) {
			r.Helper()
			if err := db.Update(fn); err != nil {
				r.Fatal(err)
			}
		}
		update(func(tx *Tx) error { return tx.Config().Set("overdue", "finish") })
		backfill := rapid.SampledFrom([]Backfill{FCFS, EASY, Conservative, Relaxed}).Draw(r, "backfill")
		spec := CycleSpec{Backfill: backfill}
		if backfill == EASY {
			spec.Depth = rapid.IntRange(1, 3).Draw(r, "depth")
		}
		cycle := func() (report *CycleReport) {
			update(func(tx *Tx) (err error) {
				report, err = tx.Cycle().Run(spec)
				return err
			})
			return report
		}
		var last uint64
		for range rapid.IntRange(1, 12).Draw(r, "submissions") {
			s := Submission{Request: wholeNodes(rapid.IntRange(1, 3).Draw(r, "nodes"),
				time.Duration(rapid.IntRange(1, 40).Draw(r, "walltime"))*time.Second)}
			if rapid.Bool().Draw(r, "late") {
				s.Begin = kernel.Instant(clock.t + int64(rapid.IntRange(1, 60).Draw(r, "begin")))
			}
			if rapid.IntRange(0, 3).Draw(r, "hurries") == 0 {
				s.Deadline = kernel.Instant(clock.t + int64(rapid.IntRange(100, 150).Draw(r, "deadline")))
			}
			if last != 0 && rapid.IntRange(0, 3).Draw(r, "follows") == 0 {
				s.After = []Dependency{{When: AfterOK, Job: last}}
			}
			update(func(tx *Tx) error {
				list, err := tx.Jobs().Submit(s)
				if err == nil {
					last = list[0].ID
				}
				return err
			})
		}
		for range 200 {
			next := cycle().Next
			if next.IsZero() {
				break
			}
			if next.Unix() <= clock.t {
				r.Fatalf("at %d the next instant is %d", clock.t, next.Unix())
			}
			if until := next.Unix() - 1; until > clock.t {
				clock.t = int64(rapid.Int64Range(clock.t+1, until).Draw(r, "between"))
				did := cycle()
				if n := len(did.Started) + len(did.Finished) + len(did.Planned) + len(did.Cancelled) +
					len(did.Launch); n > 0 || !did.Next.IsZero() && did.Next.Before(next) {
					r.Fatalf("at %d, before %d, a cycle does something: %+v", clock.t, next.Unix(), did)
				}
			}
			clock.t = next.Unix()
		}
		left := 0
		update(func(tx *Tx) error {
			return tx.Jobs().Each(func(*Job) error { left++; return nil }, JobQueued, JobReserved, JobRunning)
		})
		if left > 0 {
			r.Fatalf("%d jobs are left, and nothing is to come", left)
		}
	})
}

// TestPromiseLeavesRoom: a job whose deadline left it no plan beside a promise gets one in the cycle in which the
// promised job starts, and not in a second one.
func TestPromiseLeavesRoom(t *testing.T) {
	t.Parallel()
	db, clock := newDB(t)
	addNodes(t, db, "n", 3, 2)
	began := clock.t
	cycle := func(at int64) (did *CycleReport) {
		clock.t = began + at
		if err := db.Update(func(tx *Tx) (err error) {
			did, err = tx.Cycle().Run(CycleSpec{Backfill: Relaxed})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return did
	}
	for _, j := range []struct{ nodes, walltime, begin, deadline int64 }{{2, 4, 12, 0}, {3, 36, 2, 0}, {1, 39, 15, 144},
		{3, 37, 18, 0}, {3, 33, 9, 0}, {2, 6, 0, 0}} {
		s := Submission{Request: wholeNodes(int(j.nodes), time.Duration(j.walltime)*time.Second),
			Begin: kernel.Instant(began + j.begin)}
		if j.deadline > 0 {
			s.Deadline = kernel.Instant(began + j.deadline)
		}
		if err := db.Update(func(tx *Tx) error { _, err := tx.Jobs().Submit(s); return err }); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Update(func(tx *Tx) error { return tx.Config().Set("overdue", "finish") }); err != nil {
		t.Fatal(err)
	}
	planned := false
	for _, at := range []int64{0, 5, 6, 9, 12, 15, 18, 43, 48} {
		planned = len(cycle(at).Planned) == 1
		if again := cycle(at); len(again.Started)+len(again.Planned) > 0 {
			t.Errorf("at %d a second cycle does something: %+v", at, again)
		}
	}
	if !planned {
		t.Error("the last cycle plans no job")
	}
}
