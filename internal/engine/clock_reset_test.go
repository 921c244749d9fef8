package engine

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/placer"
)

// TestClockReset: a process writes with a time a century ahead, all others are locked out, and
// check reports it. After the reset the file is sound, running jobs continue, and no job is
// placed on their nodes.
func TestClockReset(t *testing.T) {
	for _, overdue := range []string{"keep", "finish"} {
		db, clock := lively(t)
		was := clock.t
		ran := func(tx *Tx) (ids []uint64) {
			err := tx.Jobs().Each(func(j *Job) error { ids = append(ids, j.ID); return nil }, JobRunning)
			if err != nil {
				t.Fatal(err)
			}
			return ids
		}
		if err := db.Update(func(tx *Tx) error { return tx.Config().Set("overdue", overdue) }); err != nil {
			t.Fatal(err)
		}
		const wrong = 10_000_000
		clock.t += wrong
		var running []uint64
		err := db.Update(func(tx *Tx) error {
			if _, err := tx.Cycle().Run(CycleSpec{Backfill: Conservative}); err != nil {
				return err
			}
			if err := workHost(tx); err != nil {
				return err
			}
			if _, err := tx.Jobs().Place(placer.Request{Select: "1:ncpus=1", Walltime: time.Hour}); err != nil {
				return err
			}
			running = ran(tx)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		clock.t = was
		if err := db.Update(func(*Tx) error { return nil }); !errors.Is(err, ErrClock) ||
			!strings.Contains(err.Error(), "clock reset") {
			t.Fatal(err)
		}
		if list := strings.Join(findings(t, db), "\n"); !strings.Contains(list, "clock reset") {
			t.Errorf("check says %q", list)
		}
		behind, err := Open(db.Path(), &Options{Now: clock.now, Behind: true})
		if err != nil {
			t.Fatal(err)
		}
		var done *ClockReset
		err = behind.Update(func(tx *Tx) (err error) { done, err = tx.ResetClock(time.Unix(was, 0)); return err })
		if err != nil {
			t.Fatal(err)
		}
		if done.Was.Unix() != was+wrong || done.Now.Unix() != was || len(done.Changed) == 0 {
			t.Errorf("%+v", done)
		}
		for _, ev := range done.Changed {
			if !ev.Time.After(time.Unix(was, 0)) {
				t.Errorf("%+v happened before", ev)
			}
		}
		if list := findings(t, db); len(list) > 0 {
			t.Errorf("overdue=%s: %q", overdue, list)
		}
		err = db.Update(func(tx *Tx) error {
			if now := ran(tx); len(now) != len(running) {
				t.Errorf("jobs %v ran, and now %v", running, now)
			}
			for _, id := range ran(tx) {
				if j, err := tx.Jobs().Get(id); err != nil || j.Start.Unix() > was {
					t.Errorf("job %d runs from %v on: %v", id, j.Start, err)
				}
			}
			for {
				if _, err := tx.Jobs().Place(placer.Request{Select: "1:ncpus=1", Place: "excl",
					Walltime: time.Hour}); err != nil {
					return nil
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		clock.t += 3 * wrong
		if err := db.Update(func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{}); return err }); err != nil {
			t.Fatal(err)
		}
		if list := findings(t, db); len(list) > 0 {
			t.Errorf("overdue=%s, later: %q", overdue, list)
		}
	}
}

func workHost(tx *Tx) error {
	if _, err := tx.Batches().Next("night", "h77", "", locality.Want{Jobs: 1}); err != nil &&
		!errors.Is(err, ErrBatchIdle) && !errors.Is(err, ErrBatchOver) {
		return err
	}
	return tx.Nodes().SetState(3, index.Up, "")
}

// TestAnyTime: a process may not write with a clock that is ahead, or at a chosen instant,
// unless the database allows that. A dry run may.
func TestAnyTime(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		ahead           time.Duration
		chosen, anyTime bool
		fine            bool
	}{
		{0, false, false, true}, {50 * time.Second, false, false, true}, {70 * time.Second, false, false, false},
		{-time.Hour, false, false, true},
		{0, true, false, false}, {-time.Hour, true, false, false}, {1000 * time.Hour, true, true, true},
		{1000 * time.Hour, false, true, true},
	} {
		path := filepath.Join(t.TempDir(), "any.db")
		if err := Create(path, &Options{Now: func() time.Time { return now.Add(-2 * time.Hour) }, AnyTime: c.anyTime},
			func(tx *Tx) error {
				_, err := tx.Nodes().Put(&index.Node{Name: "n"})
				return err
			}); err != nil {
			t.Fatal(err)
		}
		db, err := Open(path, &Options{Now: func() time.Time { return now.Add(c.ahead) }, Chosen: c.chosen})
		if err != nil {
			t.Fatal(err)
		}
		change := func(tx *Tx) error { return tx.Config().Set("default_walltime", "60") }
		if err := db.DryRun(change); err != nil {
			t.Errorf("%+v: a dry run: %v", c, err)
		}
		if err := db.Update(change); (err == nil) != c.fine || err != nil && (!errors.Is(err, ErrAnyTime) ||
			!errors.Is(err, ErrInvalid)) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	// The same is true if nothing is set up.
	path := filepath.Join(t.TempDir(), "empty.db")
	if err := Create(path, &Options{AnyTime: true}, nil); err != nil {
		t.Fatal(err)
	}
	db, err := Open(path, &Options{Chosen: true, Now: func() time.Time { return now.Add(1000 * time.Hour) }})
	if err == nil {
		err = db.Update(func(tx *Tx) error { return tx.Config().Set("default_walltime", "60") })
	}
	if err != nil {
		t.Error(err)
	}
}

// TestBehind: a reader whose clock is behind gets answers as of the file's instant, and a
// warning if that is far ahead.
func TestBehind(t *testing.T) {
	db, clock := newDB(t)
	addNodes(t, db, "n", 1, 1)
	at := clock.t
	for _, c := range []struct {
		behind int64
		told   bool
	}{{0, false}, {kernel.Skew, false}, {kernel.Skew + 1, true}, {1000, true}} {
		var said []string
		reader, err := Open(db.Path(), &Options{Now: func() time.Time { return time.Unix(at-c.behind, 0) },
			Warn: func(s string) { said = append(said, s) }})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			err := reader.View(func(tx *Tx) error {
				if tx.Now().Unix() != at {
					t.Errorf("it answers as of %v", tx.Now())
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if (len(said) == 1) != c.told {
			t.Errorf("%d s behind: %q", c.behind, said)
		}
	}
}
