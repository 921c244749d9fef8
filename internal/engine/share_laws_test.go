package engine

import (
	"errors"
	"testing"
	"time"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/fairshare"
	"pgregory.net/rapid"
)

// TestShareLaws: on an empty cluster of nodes with one processor, if each class has more jobs
// than its share of nodes, each starts its entitlement. If some have fewer jobs, no node stays
// idle.
func TestShareLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		db, _ := newDB(t)
		defer db.Close()
		n := rapid.IntRange(1, 12).Draw(rt, "nodes")
		addNodes(t, db, "n", n, 1)
		s := new(fairshare.Settings)
		classes := []string{"a", "b", "c"}[:rapid.IntRange(2, 3).Draw(rt, "classes")]
		for _, c := range classes {
			s.Loads = append(s.Loads, fairshare.ClassLoad{Class: c, Load: rapid.IntRange(1, 9).Draw(rt, "load")})
		}
		s.Default = "a"
		setShares(t, db, s)
		waiting := make(map[string]int)
		backfill := rapid.SampledFrom([]Backfill{EASY, Conservative}).Draw(rt, "backfill")
		running, wants := make(map[string]int), make(map[string]int)
		err := db.Update(func(tx *Tx) error {
			for _, c := range classes {
				waiting[c] = rapid.IntRange(0, 2*n).Draw(rt, "jobs")
				for range waiting[c] {
					r := placer.Request{Select: "1:ncpus=1", Class: c, User: "ann",
						Walltime: time.Duration(rapid.IntRange(1, 9).Draw(rt, "walltime")) * time.Minute}
					if _, err := tx.Jobs().Submit(
						Submission{Request: r,
							Priority: int64(rapid.IntRange(0, 2).Draw(rt, "priority"))}); err != nil {
						return err
					}
				}
			}
			state, err := tx.Shares().State()
			if err != nil {
				return err
			}
			plan, err := new(fairshare.Planner).Plan(state)
			if err != nil {
				return err
			}
			for _, c := range plan.Classes {
				wants[c.Name] = c.Start
			}
			_, err = tx.Cycle().Run(CycleSpec{Backfill: backfill})
			return errors.Join(err, tx.Jobs().Each(func(j *Job) error { running[j.Class]++; return nil }, JobRunning))
		})
		if err != nil {
			rt.Fatal(err)
		}
		for _, c := range classes {
			if running[c] != wants[c] {
				rt.Fatalf("class %s runs %d, and class plan says %d: %v wait", c, running[c], wants[c], waiting)
			}
		}
	})
}
