package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/placer"
	"pgregory.net/rapid"
)

// TestTotalsFollowAttempts compares the totals, added up when attempts end, with the rows of
// jobs and attempts (check does that), and with usage by day. In its lives, jobs start, end,
// are requeued, refused and archived, across ends of months. Archiving loses nothing.
func TestTotalsFollowAttempts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		now := time.Date(2025, 11, 28, 0, 0, 0, 0, time.UTC)
		dir := t.TempDir()
		opt := &Options{Now: func() time.Time { return now }}
		if err := Create(filepath.Join(dir, "s.db"), opt, nil); err != nil {
			rt.Fatal(err)
		}
		db, err := Open(filepath.Join(dir, "s.db"), opt)
		if err != nil {
			rt.Fatal(err)
		}
		defer db.Close()
		do := func(fn func(*Tx) error) {
			rt.Helper()
			if err := db.Update(fn); err != nil {
				rt.Fatal(err)
			}
		}
		do(func(tx *Tx) error {
			if _, err := tx.Nodes().Put(
				&index.Node{Name: "n1", Res: []index.Amount{{Res: index.NCPUs, Value: index.Value{Num: 8}},
					{Res: index.Mem, Value: index.Value{Num: 8 << 20}}}}); err != nil {
				return err
			}
			_, err := tx.Nodes().Put(
				&index.Node{Name: "n2", Res: []index.Amount{{Res: index.NCPUs, Value: index.Value{Num: 8}}}})
			return err
		})
		archives := 0
		for range rapid.IntRange(5, 25).Draw(rt, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 100_000).Draw(rt, "seconds")) * time.Second)
			one := func(tx *Tx) error {
				var running []*Job
				if err := tx.Jobs().Each(func(j *Job) error { running = append(running, j); return nil },
					JobRunning); err != nil {
					return err
				}
				if len(running) == 0 {
					return nil
				}
				j := rapid.SampledFrom(running).Draw(rt, "job")
				var err error
				switch rapid.IntRange(0, 6).Draw(rt, "end") {
				case 0:
					_, err = tx.Jobs().Release(j.ID)
				case 1:
					_, err = tx.Attempts().Finish(Finished{Job: j.ID, Status: rapid.IntRange(0, 1).Draw(rt, "status"),
						Force: true})
				case 2:
					_, err = tx.Jobs().Cancel(j.ID, "")
				case 3:
					_, err = tx.Jobs().Requeue(j.ID, "")
				case 4:
					if !j.Claimed {
						_, err = tx.Attempts().Claim(Claim{Job: j.ID, Attempt: j.Attempt, By: BySupervisor,
							Nonce: Nonce{byte(j.ID)}, Process: Process{Host: "n1", PID: 8}})
					}
				default:
					if j.Claimed {
						outcome := rapid.SampledFrom([]Outcome{OutcomeExited, OutcomeUnbegun, OutcomeRefused,
							OutcomeLost, OutcomeStopped, OutcomeSignal}).Draw(rt, "outcome")
						_, err = tx.Attempts().Report(Result{Job: j.ID, Attempt: j.Attempt, Nonce: Nonce{byte(j.ID)},
							Outcome: outcome, Exit: 1})
					}
				}
				if errors.Is(err, ErrConflict) { // it is past its end, say
					err = nil
				}
				return err
			}
			switch rapid.IntRange(0, 7).Draw(rt, "step") {
			case 0, 1, 2:
				do(func(tx *Tx) error {
					ask := placer.Request{
						Select: rapid.SampledFrom([]string{"1:ncpus=2:mem=1000kb", "2:ncpus=1", "1:ncpus=3"}).Draw(rt,
							"select"),
						User:     rapid.SampledFrom([]string{"ann", "bob"}).Draw(rt, "user"),
						Account:  rapid.SampledFrom([]string{"", "a\x00b"}).Draw(rt, "account"),
						Walltime: 30 * time.Hour}
					_, err := tx.Jobs().Submit(
						Submission{Request: ask, Payload: &Payload{Dir: "/", Script: "#!/bin/sh\n"}})
					return err
				})
				do(func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{By: BySupervisor}); return err })
			case 3, 4, 5:
				do(one)
			case 6:
				do(func(tx *Tx) error {
					if err := tx.Config().Set("overdue", rapid.SampledFrom([]string{"keep", "finish"}).Draw(rt,
						"overdue")); err != nil {
						return err
					}
					_, err := tx.Cycle().Run(CycleSpec{By: BySupervisor})
					return err
				})
			default:
				sum := totalSums(rt, db)
				archives++
				if _, err := db.Archive(filepath.Join(dir, fmt.Sprintf("%d.jsonl", archives)), now.Add(-time.Hour),
					nil); err != nil {
					rt.Fatal(err)
				}
				if diff := cmp.Diff(sum, totalSums(rt, db)); diff != "" {
					rt.Fatalf("archiving has changed what jobs have had (-before +after):\n%s", diff)
				}
			}
		}
		if err := db.Check(func(finding string) { rt.Error(finding) }); err != nil {
			rt.Fatal(err)
		}
		sameSums(rt, db, archives)
	})
}

// sameSums compares usage by month with usage by day, and, without what runs, with the table
// of SQL.
func sameSums(rt *rapid.T, db *DB, archives int) {
	err := db.View(func(tx *Tx) error {
		sum := func(by UsageBy) (cpus, jobs int64) {
			report, err := tx.Usage().Total(UsageSpec{By: by})
			if err != nil {
				rt.Fatal(err)
			}
			for _, t := range report.Totals {
				cpus, jobs = cpus+t.Held["ncpus"], jobs+t.Jobs
			}
			if by == UsageByDay && archives == 0 && report.Left > 0 {
				rt.Fatalf("%d jobs left out, and nothing was archived", report.Left)
			}
			return cpus, jobs
		}
		running := int64(0)
		err := tx.Attempts().Each(0, func(a *Attempt) error {
			j, err := tx.Jobs().Get(a.Job)
			if err != nil || a.State == AttemptEnded {
				return err
			}
			chunks, err := tx.Jobs().Asked(j)
			for i := range chunks {
				for _, w := range chunks[i].Wants {
					if w.Res == index.NCPUs {
						running += w.Value.Num * int64(chunks[i].Count) * (tx.k.Now - kernel.Unix(a.Began))
					}
				}
			}
			return err
		})
		cpus, jobs := sum(UsageByUser)
		for _, by := range []UsageBy{UsageByMonth, UsageByAccount, UsageByDay} {
			if by == UsageByDay && archives > 0 {
				continue
			}
			if c, j := sum(by); c != cpus || j != jobs {
				rt.Errorf("by %s %d cpu-seconds and %d jobs, by user %d and %d", by, c, j, cpus, jobs)
			}
		}
		if ended := totalSums(rt, db)["ncpus_seconds"]; ended+running != cpus {
			rt.Errorf("%d cpu-seconds of what has ended and %d of what runs, in all %d", ended, running, cpus)
		}
		return err
	})
	if err != nil {
		rt.Fatal(err)
	}
}

// totalSums sums up some columns of the table usage.
func totalSums(rt *rapid.T, db *DB) map[string]int64 {
	rows, err := db.Query(context.Background(), "SELECT total(jobs), total(failed), total(waits), "+
		"total(ncpus_seconds), total(mem_seconds), total(nodes_seconds) FROM usage")
	if err != nil {
		rt.Fatal(err)
	}
	sums := make(map[string]int64)
	for row, err := range rows.All() {
		if err != nil {
			rt.Fatal(err)
		}
		for i, name := range []string{"jobs", "failed", "waits", "ncpus_seconds", "mem_seconds", "nodes_seconds"} {
			sums[name] = int64(row[i].Float64())
		}
	}
	return sums
}

// TestTotalsOfResourcesThatGo: what jobs had of a resource still counts after it is removed
// and declared again.
func TestTotalsOfResourcesThatGo(t *testing.T) {
	t.Parallel()
	db, clock := newDB(t)
	steps := []func(tx *Tx) error{
		func(tx *Tx) error {
			return tx.Config().AddResource(index.Def{Name: "lic", Type: index.Long, Consumable: true})
		},
		func(tx *Tx) error {
			defs, err := tx.Config().Resources()
			if err != nil {
				return err
			}
			def, _ := defs.Lookup("lic")
			_, err = tx.Nodes().Put(
				&index.Node{Name: "n", Res: []index.Amount{{Res: index.NCPUs, Value: index.Value{Num: 8}},
					{Res: def.ID, Value: index.Value{Num: 8}}}})
			return err
		},
		func(tx *Tx) error {
			_, err := tx.Jobs().Place(placer.Request{Select: "1:ncpus=2:lic=3", Walltime: time.Hour})
			return err
		},
		func(tx *Tx) error { clock.t += 100; return nil },
		func(tx *Tx) error { _, err := tx.Jobs().Release(1); return err },
		func(tx *Tx) error {
			_, err := tx.Nodes().Put(
				&index.Node{Name: "n", Res: []index.Amount{{Res: index.NCPUs, Value: index.Value{Num: 8}}}})
			return err
		},
		func(tx *Tx) error { return tx.Config().RemoveResource("lic") },
		func(tx *Tx) error {
			return tx.Config().AddResource(index.Def{Name: "lic", Type: index.Long, Consumable: true})
		},
	}
	for i, step := range steps {
		if err := db.Update(step); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		if err := db.Check(func(finding string) { t.Errorf("step %d: %s", i, finding) }); err != nil {
			t.Fatal(err)
		}
		if i < 4 {
			continue
		}
		err := db.View(func(tx *Tx) error {
			report, err := tx.Usage().Total(UsageSpec{})
			if err == nil && (len(report.Totals) != 1 || report.Totals[0].Held["ncpus"] != 200 ||
				report.Totals[0].Held["lic"] != 300) {
				t.Errorf("step %d: %+v", i, report.Totals)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestTotalsOfAltered: what a job has had counts for its user at that time, whoever owns it
// later.
func TestTotalsOfAltered(t *testing.T) {
	t.Parallel()
	db, clock := newDB(t)
	addNodes(t, db, "n", 1, 4)
	bob, more := "bob", "1:ncpus=3"
	for i, step := range []func(tx *Tx) error{
		func(tx *Tx) error {
			_, err := tx.Jobs().Submit(
				Submission{Request: placer.Request{Select: "1:ncpus=2", User: "ann", Walltime: time.Hour}})
			return err
		},
		func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{Silent: true}); clock.t += 100; return err },
		func(tx *Tx) error { _, err := tx.Jobs().Requeue(1, ""); return err },
		func(tx *Tx) error { _, err := tx.Jobs().Alter(1, Alteration{User: &bob, Select: &more}); return err },
		func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{Silent: true}); clock.t += 100; return err },
		func(tx *Tx) error { _, err := tx.Jobs().Finish(1, 0, ""); return err },
	} {
		if err := db.Update(step); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		if err := db.Check(func(finding string) { t.Errorf("step %d: %s", i, finding) }); err != nil {
			t.Fatal(err)
		}
	}
	err := db.View(func(tx *Tx) error {
		report, err := tx.Usage().Total(UsageSpec{})
		if err == nil && (len(report.Totals) != 2 || report.Totals[0].Held["ncpus"] != 200 ||
			report.Totals[1].Held["ncpus"] != 300) {
			t.Errorf("%+v", report.Totals)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
