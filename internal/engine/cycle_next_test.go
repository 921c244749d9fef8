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
