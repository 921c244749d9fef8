package engine

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/limits"
	"pgregory.net/rapid"
)

// TestLimitedAreInNobodysWay: in random queues, with easy backfilling and first come, first
// served, a job that a limit holds back changes no start of jobs that share no limit with it.
// A cycle decides those as if the job did not exist.
func TestLimitedAreInNobodysWay(t *testing.T) {
	t.Parallel()
	kept := 0
	rapid.Check(t, func(rt *rapid.T) {
		db, clock := newDB(t)
		addNodes(t, db, "n", rapid.IntRange(1, 3).Draw(rt, "nodes"), 4)
		update := func(what string, fn func(*Tx) error) {
			if err := db.Update(fn); err != nil {
				rt.Fatalf("%s: %v", what, err)
			}
		}
		users, accounts := []string{"ann", "bob", "eve"}, []string{"", "org"}
		for range rapid.IntRange(1, 3).Draw(rt, "limits") {
			l := Limit{
				Key: rapid.SampledFrom([]string{"user=*", "user=ann", "account=*", "all",
					"account=org,user=*"}).Draw(rt, "key"),
				Measure: rapid.SampledFrom([]string{"running", "ncpus", "nodes", "ncpus.left"}).Draw(rt, "measure"),
				Max:     int64(rapid.IntRange(0, 6).Draw(rt, "max"))}
			if l.Measure == "ncpus.left" {
				l.Max *= 300
			}
			update("limit", func(tx *Tx) error { return tx.Limits().Set(l) })
		}
		spec := CycleSpec{Backfill: rapid.SampledFrom([]Backfill{EASY, FCFS, Relaxed}).Draw(rt, "backfill")}
		if spec.Backfill == EASY {
			spec.Depth = rapid.IntRange(1, 3).Draw(rt, "depth")
		}
		for range rapid.IntRange(1, 4).Draw(rt, "rounds") {
			for range rapid.IntRange(1, 6).Draw(rt, "jobs") {
				s := Submission{
					Request: placer.Request{Select: fmt.Sprintf("%d:ncpus=%d", rapid.IntRange(1, 3).Draw(rt, "chunks"),
						rapid.IntRange(1, 4).Draw(rt, "cpus")),
						Walltime: time.Duration(rapid.IntRange(1, 20).Draw(rt, "minutes")) * time.Minute,
						User:     rapid.SampledFrom(users).Draw(rt, "user"),
						Account:  rapid.SampledFrom(accounts).Draw(rt, "account")},
					Priority: int64(rapid.IntRange(0, 2).Draw(rt, "priority"))}
				update("submit", func(tx *Tx) error { _, err := tx.Jobs().Submit(s); return err })
			}
			_, limited := decidedBy(rt, db, spec, nil)
			kept += len(limited)
			gone := sharers(rt, db, limited)
			all, still := decidedBy(rt, db, spec, gone)
			for more := true; more; { // others may be kept without those, and what shares a limit with them goes, too
				before := len(gone)
				maps.Copy(gone, sharers(rt, db, still))
				if more = len(gone) > before; more {
					all, still = decidedBy(rt, db, spec, gone)
				}
			}
			for id := range still {
				gone[id] = true
			}
			without, _ := decidedBy(rt, db, spec, gone)
			for id, is := range all {
				if other := without[id]; !gone[id] && is != other {
					rt.Fatalf("%v: job %d is %s, and without those whom a limit keeps, %v, %s", spec.Backfill, id, is,
						limited, other)
				}
			}
			update("cycle", func(tx *Tx) error { _, err := tx.Cycle().Run(spec); return err })
			clock.t += int64(rapid.IntRange(1, 900).Draw(rt, "seconds"))
			update("overdue", func(tx *Tx) error { return tx.Config().Set("overdue", "finish") })
		}
		_ = db.Close()
	})
	if kept == 0 {
		t.Error("no limit ever kept a job")
	}
}

// sharers returns the waiting jobs that share a limit with some of others.
func sharers(t fataler, db *DB, with map[uint64]bool) map[uint64]bool {
	out, keys := make(map[uint64]bool), make(map[uint64][]string)
	err := db.View(func(tx *Tx) error {
		return tx.k.EachJob(func(j *row.Job) error {
			return tx.k.Counters().Rules.EachTimed(j, func(key string, _ *limits.Counter, _ limits.Holder) error {
				keys[j.ID] = append(keys[j.ID], key)
				return nil
			})
		}, JobQueued, JobReserved)
	})
	if err != nil {
		t.Fatal(err)
	}
	for id := range keys {
		for other := range with {
			shared := slices.ContainsFunc(keys[id], func(k string) bool { return slices.Contains(keys[other], k) })
			out[id] = out[id] || shared && !with[id]
		}
	}
	maps.DeleteFunc(out, func(_ uint64, shares bool) bool { return !shares })
	return out
}

// TestPlansAreNotLiftedForNothing: a plan is as it would be without earlier jobs that a limit
// holds back, although the cycle first had to find out that nothing else does.
func TestPlansAreNotLiftedForNothing(t *testing.T) {
	t.Parallel()
	db, clock := newDB(t)
	addNodes(t, db, "n", 2, 4)
	type job struct {
		user, sel         string
		minutes, priority int64
	}
	submit := func(list ...job) {
		t.Helper()
		err := db.Update(func(tx *Tx) error {
			for _, j := range list {
				r := placer.Request{Select: j.sel, User: j.user, Walltime: time.Duration(j.minutes) * time.Minute}
				if _, err := tx.Jobs().Submit(Submission{Request: r, Priority: j.priority}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	spec := CycleSpec{Backfill: EASY, Depth: 2}
	submit(job{"bob", "1:ncpus=4", 5, 2}, job{"eve", "2:ncpus=3", 5, 1}, job{"eve", "1:ncpus=3", 11, 0},
		job{"ann", "2:ncpus=3", 3, 1}, job{"ann", "2:ncpus=4", 4, 2})
	err := db.Update(func(tx *Tx) error {
		if err := tx.Limits().Set(Limit{Key: "user=ann", Measure: "ncpus", Max: 0}); err != nil {
			return err
		}
		_, err := tx.Cycle().Run(spec)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	clock.t += 607
	if err := db.Update(func(tx *Tx) error { return tx.Config().Set("overdue", "finish") }); err != nil {
		t.Fatal(err)
	}
	submit(job{"eve", "3:ncpus=2", 8, 1}, job{"eve", "3:ncpus=3", 3, 2}, job{"ann", "1:ncpus=1", 3, 1})
	all, kept := decidedBy(t, db, spec, nil)
	if len(kept) != 4 {
		t.Fatalf("%v are kept, not ann's three and the one that can never run", kept)
	}
	without, _ := decidedBy(t, db, spec, kept)
	if all[6] != without[6] {
		t.Errorf("job 6 is %s, and without those whom a limit keeps %s", all[6], without[6])
	}
}

// decidedBy returns what a cycle decides for each job after some are gone. limited are those
// without a start or a plan that a limit then holds back, or that can never run.
func decidedBy(t fataler, db *DB, spec CycleSpec, gone map[uint64]bool) (is map[uint64]string,
	limited map[uint64]bool) {
	is, limited = make(map[uint64]string), make(map[uint64]bool)
	err := db.DryRun(func(tx *Tx) error {
		for id := range gone {
			if _, err := tx.Jobs().Cancel(id, ""); err != nil {
				return err
			}
		}
		report, err := tx.Cycle().Run(spec)
		if err != nil {
			return err
		}
		for _, id := range neverIDs(report) {
			limited[id] = true
		}
		return tx.Jobs().Each(func(j *Job) error {
			is[j.ID] = fmt.Sprint(j.State, j.Start.Unix(), j.AllNodes())
			if j.State != JobQueued {
				return nil
			}
			r := j.Row()
			keeps, err := plan.HoldsBack(tx.k, &r)
			if keeps {
				limited[j.ID] = true
			}
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return is, limited
}
