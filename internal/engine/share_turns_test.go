package engine

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/fairshare"
	"pgregory.net/rapid"
)

// TestTurnsInClass: inside a class priority decides, then how few of an array run (else of a user), then
// the longest walltime, then submission. What runs at the start, and who starts when a job ends.
func TestTurnsInClass(t *testing.T) {
	t.Parallel()
	array := func(n int) func(*Submission) { return func(s *Submission) { s.Array = n } }
	user := func(name string) func(*Submission) { return func(s *Submission) { s.User = name } }
	urgent := func(s *Submission) { s.Priority = 1 }
	type job struct {
		name    string
		seconds int
		with    []func(*Submission)
	}
	for _, c := range []struct {
		what string
		jobs []job
		want map[string]int // running of four nodes
	}{
		{"two arrays", []job{{"a1", 100, []func(*Submission){array(10)}}, {"a2", 100, []func(*Submission){array(10)}}},
			map[string]int{"a1": 2, "a2": 2}},
		{"an array of higher priority", []job{{"a1", 100, []func(*Submission){array(10)}},
			{"a2", 100, []func(*Submission){array(3), urgent}}}, map[string]int{"a1": 1, "a2": 3}},
		{"users", []job{{"a1", 100, nil}, {"a2", 100, nil}, {"a3", 100, nil}, {"a4", 100, nil},
			{"a5", 100, []func(*Submission){user("bob")}}, {"a6", 100, []func(*Submission){user("bob")}}},
			map[string]int{"a1": 1, "a2": 1, "a5": 1, "a6": 1}},
		{"the longest walltime", []job{{"a1", 100, nil}, {"a2", 300, nil}, {"a3", 200, nil}, {"a4", 400, nil},
			{"a5", 500, nil}}, map[string]int{"a2": 1, "a3": 1, "a4": 1, "a5": 1}},
		{"an array of longer walltime", []job{{"a1", 100, []func(*Submission){array(9)}},
			{"a2", 200, []func(*Submission){array(9)}}, {"a3", 300, []func(*Submission){array(9)}}},
			map[string]int{"a1": 1, "a2": 1, "a3": 2}},
	} {
		for _, backfill := range []Backfill{FCFS, EASY, Conservative, Relaxed} {
			s := newShareStory(t, backfill, 1, 0)
			for _, j := range c.jobs {
				s.submit(j.name, 1, j.seconds, j.with...)
			}
			s.cycle(0)
			running := make(map[string]int)
			err := s.db.View(func(tx *Tx) error {
				return tx.Jobs().Each(func(j *Job) error { running[j.Name]++; return nil }, JobRunning)
			})
			if err != nil || !maps.Equal(running, c.want) {
				t.Errorf("%s under %s: %v, want %v, %v", c.what, backfill, running, c.want, err)
			}
		}
	}
}

// TestTurnsAsClassPlan: over a random life, a cycle starts of each array what class plan says for its
// class, and a play of the queue says when.
func TestTurnsAsClassPlan(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(what string, from, to int) int { return rapid.IntRange(from, to).Draw(rt, what) }
		db, clock := newDB(t)
		defer db.Close()
		addNodes(t, db, "n", draw("nodes", 1, 9), 1)
		setShares(t, db,
			&fairshare.Settings{Default: "a", Loads: []fairshare.ClassLoad{{Class: "a", Load: draw("a", 1, 4)},
				{Class: "b", Load: draw("b", 1, 4)}}})
		backfill := rapid.SampledFrom([]Backfill{EASY, Conservative}).Draw(rt, "backfill")
		update := func(fn func(*Tx) error) {
			rt.Helper()
			if err := db.Update(fn); err != nil {
				rt.Fatal(err)
			}
		}
		update(func(tx *Tx) error { return tx.Config().Set("backfill", backfill.String()) })
		told := make(map[uint64]int64)
		for range draw("passes", 1, 4) {
			for range draw("arrays", 0, 3) {
				s := Submission{
					Request: placer.Request{Select: "1:ncpus=1", Class: rapid.SampledFrom([]string{"a", "b"}).Draw(rt,
						"class"), User: "ann", Walltime: time.Hour}, Array: draw("array", 1, 7)}
				update(func(tx *Tx) error { _, err := tx.Jobs().Submit(s); return err })
				clear(told)
			}
			before := arraysOf(rt, db)
			update(func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{}); return err })
			agreesWithClassPlan(rt, before, arraysOf(rt, db))
			startsAsTold(rt, db, told)
			clock.t += int64(draw("seconds", 0, 3000))
			n := draw("ends", 0, 3)
			update(func(tx *Tx) error {
				var running []uint64
				err := tx.Jobs().Each(func(j *Job) error { running = append(running, j.ID); return nil }, JobRunning)
				for i := 0; i < n && i < len(running) && err == nil; i++ {
					_, err = tx.Jobs().Finish(running[len(running)-1-i], 0, "")
				}
				return err
			})
			if n > 0 {
				clear(told)
			}
		}
	})
}

// arraysIn counts the jobs of the arrays of a class, in order of submission.
type arraysIn map[string]*struct {
	names   []uint64
	planned bool // a job has a plan
	fairshare.Class
}

// arraysOf counts what runs and waits of each array, by class.
func arraysOf(t *rapid.T, db *DB) arraysIn {
	out := arraysIn{"a": {}, "b": {}}
	err := db.View(func(tx *Tx) error {
		return tx.Jobs().Each(func(j *Job) error {
			c := out[j.Class]
			at := slices.Index(c.names, j.Array)
			if at < 0 {
				at = len(c.names)
				c.names, c.Jobs = append(c.names, j.Array), append(c.Jobs, fairshare.Job{})
			}
			switch {
			case j.State == JobRunning:
				c.Running++
				c.Jobs[at].Running++
			case j.State == JobQueued || j.State == JobReserved:
				c.planned = c.planned || j.State == JobReserved
				c.Waiting++
				c.Jobs[at].Waiting++
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// agreesWithClassPlan: of what each class has started, each array has the part that a plan gives it. A
// class that had plans before starts these first.
func agreesWithClassPlan(t *rapid.T, before, after arraysIn) {
	for name, was := range before {
		if was.planned {
			continue
		}
		started := after[name].Running - was.Running
		state := &fairshare.State{TotalWorkers: was.Running + started, Classes: []fairshare.Class{was.Class}}
		state.Classes[0].Load = 1
		plan, err := new(fairshare.Planner).Plan(state)
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range plan.Classes[0].JobStarts {
			if got := after[name].Jobs[i].Running - was.Jobs[i].Running; got != n {
				t.Fatalf("class %s starts %d: array %d starts %d, and class plan says %d: %+v", name, started,
					was.names[i], got, n, was.Jobs)
			}
		}
	}
}

// startsAsTold: jobs start when the last play said, as long as nothing else has happened; and plays the
// queue again.
func startsAsTold(t *rapid.T, db *DB, told map[uint64]int64) {
	err := db.View(func(tx *Tx) error {
		err := tx.Jobs().Each(func(j *Job) error {
			if at, known := told[j.ID]; known && kernel.Unix(j.Start) != at {
				return fmt.Errorf("job %d started at %d, and was told to at %d", j.ID, kernel.Unix(j.Start), at)
			}
			return nil
		}, JobRunning)
		if err != nil {
			return err
		}
		return tx.Suppose(func(tx *Tx) error {
			list, err := tx.Cycle().Play(PlaySpec{})
			for _, p := range list {
				told[p.Job] = kernel.Unix(p.Start)
			}
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}
