package engine

import (
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
)

// TestStartable: the count of commits that may let something start or stop increases with each
// change of the queue and of the cluster. It stays the same with claims, heartbeats and
// cycles.
func TestStartable(t *testing.T) {
	t.Parallel()
	db, clock := newDB(t)
	addNodes(t, db, "n", 2, 2)
	commit := func(fn func(*Tx) error) (moved bool) {
		t.Helper()
		var before, after uint64
		if err := db.View(func(tx *Tx) error { before = tx.Cycle().Startable(); return nil }); err != nil {
			t.Fatal(err)
		}
		if err := db.Update(fn); err != nil {
			t.Fatal(err)
		}
		if err := db.View(func(tx *Tx) error { after = tx.Cycle().Startable(); return nil }); err != nil {
			t.Fatal(err)
		}
		return after != before
	}
	submit := func(walltime time.Duration) func(*Tx) error {
		return func(tx *Tx) error {
			_, err := tx.Jobs().Submit(
				Submission{Request: placer.Request{Select: "1:ncpus=2", Walltime: walltime, User: "ann"},
					Command: []string{"true"}})
			return err
		}
	}
	cycle := func(tx *Tx) error {
		_, err := tx.Cycle().Run(CycleSpec{By: BySupervisor, Backfill: EASY})
		return err
	}
	nonce := Nonce{1}
	beat := func(tx *Tx) error { return tx.Hosts().Beat("n0", "ann", "boot") }
	holder := Nonce{2}
	var run *HookRun
	for _, c := range []struct {
		name  string
		after int64 // seconds
		fn    func(*Tx) error
		moves bool
	}{
		{"lost_after", 0, func(tx *Tx) error { return tx.Config().Set("lost_after", "60") }, true},
		{"hook", 0, func(tx *Tx) error { return tx.Config().Set("hook", "/bin/true") }, true},
		{"a job", 0, submit(100 * time.Second), true},
		{"a second one", 0, submit(100 * time.Second), true},
		{"a third one", 0, submit(100 * time.Second), true},
		{"a cycle that starts", 0, cycle, false},
		{"a cycle that finds nothing", 0, cycle, false},
		{"a claim", 0, func(tx *Tx) error {
			_, err := tx.Attempts().Claim(Claim{Job: 1, Attempt: 1, By: BySupervisor, Nonce: nonce,
				Process: Process{Host: "n0", PID: 1}})
			return err
		}, false},
		{"the same claim by another process", 0, func(tx *Tx) error {
			_, err := tx.Attempts().Claim(Claim{Job: 1, Attempt: 1, By: BySupervisor, Nonce: nonce,
				Process: Process{Host: "n0", PID: 2}})
			return err
		}, false},
		{"the other one was not reached", 0, func(tx *Tx) error { return tx.Attempts().Unreached(2, 1, "no route") },
			false},
		{"its processes may be left elsewhere", 0,
			func(tx *Tx) error { return tx.Attempts().LeftOver(1, 1, nonce, "n1 was not reached") }, false},
		{"the first beat", 0, beat, true},
		{"the next beat", 10, beat, false},
		{"a beat after a silence", 50, beat, true},
		{"the hook begins", 0, func(tx *Tx) (err error) { run, err = tx.Hook().Begin(holder); return err }, false},
		{"the hook ends", 0, func(tx *Tx) error { _, err := tx.Hook().End(run, false, ""); return err }, false},
		{"a job that is held and a cycle, in one commit", 0, func(tx *Tx) error {
			if _, err := tx.Jobs().Hold(3, ""); err != nil {
				return err
			}
			return cycle(tx)
		}, true},
		{"one that is not, and a cycle as passes make it", 0, func(tx *Tx) error {
			_, err := tx.Jobs().Unhold(3)
			if err == nil {
				_, err = tx.Cycle().Run(CycleSpec{By: BySupervisor})
			}
			return err
		}, false},
		{"an end", 0, func(tx *Tx) error {
			_, err := tx.Attempts().Report(Result{Job: 1, Attempt: 1, Nonce: nonce, Outcome: OutcomeExited})
			return err
		}, true},
		{"a job that begins later, and a cycle as passes make it", 0, func(tx *Tx) error {
			_, err := tx.Jobs().Submit(Submission{Request: placer.Request{Select: "1:ncpus=2", Walltime: time.Minute},
				Begin: tx.Now().Add(time.Second)})
			if err == nil {
				_, err = tx.Cycle().Run(CycleSpec{By: BySupervisor})
			}
			return err
		}, true},
		{"a cycle that finds it again", 0,
			func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{By: BySupervisor}); return err }, false},
		{"a node", 0, func(tx *Tx) error { return tx.Nodes().SetState(1, index.Drained, "") }, true},
		{"a cancelled job", 0, func(tx *Tx) error { _, err := tx.Jobs().Cancel(2, ""); return err }, true},
		{"a setting", 0, func(tx *Tx) error { return tx.Config().Set("depth", "3") }, true},
	} {
		clock.t += c.after
		if moved := commit(c.fn); moved != c.moves {
			t.Errorf("%s: moved %v, want %v", c.name, moved, c.moves)
		}
	}
}

// TestUnreachedUntilClaimed: the reason why a job is not executed yet disappears when it is.
func TestUnreachedUntilClaimed(t *testing.T) {
	t.Parallel()
	db, _ := newDB(t)
	addNodes(t, db, "n", 1, 2)
	reason := func(want string, fn func(*Tx) error) {
		t.Helper()
		if err := db.Update(fn); err != nil {
			t.Fatal(err)
		}
		err := db.View(func(tx *Tx) error {
			j, err := tx.Jobs().Get(1)
			if err == nil && j.Reason.String() != want {
				t.Errorf("the reason is %q, want %q", j.Reason, want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	reason("", func(tx *Tx) error {
		_, err := tx.Jobs().Submit(Submission{Request: placer.Request{Select: "1:ncpus=2", Walltime: time.Minute},
			Command: []string{"true"}})
		if err == nil {
			_, err = tx.Cycle().Run(CycleSpec{By: BySupervisor})
		}
		return err
	})
	reason("no route", func(tx *Tx) error { return tx.Attempts().Unreached(1, 1, "no route") })
	claim := func(tx *Tx) error {
		_, err := tx.Attempts().Claim(Claim{Job: 1, Attempt: 1, By: BySupervisor, Nonce: Nonce{1},
			Process: Process{Host: "n0", PID: 1}})
		return err
	}
	reason("", claim)
	reason("", func(tx *Tx) error { return tx.Attempts().Unreached(1, 1, "no route") })
}
