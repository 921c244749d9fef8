package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/fairshare"
)

// someShares returns settings with some of everything.
func someShares() *fairshare.Settings {
	return &fairshare.Settings{
		Loads:     []fairshare.ClassLoad{{Class: "day", Load: 3}, {Class: "night", Load: 1}},
		Map:       []fairshare.Mapping{{Class: "night", Requestor: "^cron-"}, {Class: "day", Requestor: "^ann$"}},
		Default:   "day",
		Rebalance: fairshare.Rebalance{Threshold: 20, MinDuration: 600},
	}
}

func setShares(t *testing.T, db *DB, s *fairshare.Settings) {
	t.Helper()
	if err := db.Update(func(tx *Tx) error { return tx.Shares().Set(s) }); err != nil {
		t.Fatal(err)
	}
}

func TestSharesAreKept(t *testing.T) {
	db, _ := newDB(t)
	setShares(t, db, someShares())
	err := db.View(func(tx *Tx) error {
		got, err := tx.Shares().Get()
		if diff := cmp.Diff(someShares(), got); diff != "" {
			t.Error(diff)
		}
		for requestor, want := range map[string]string{"cron-7": "night", "ann": "day", "bob": "day"} {
			if class, err := tx.Shares().ClassOf(requestor); class != want || err != nil {
				t.Errorf("%s is in %s, want %s (%v)", requestor, class, want, err)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	bad := someShares()
	bad.Default = "dusk"
	err = db.Update(func(tx *Tx) error { return tx.Shares().Set(bad) })
	var setting *fairshare.SettingError
	if !errors.Is(err, ErrInvalid) || !errors.As(err, &setting) || setting.What != "default class" {
		t.Error(err)
	}
	setShares(t, db, new(fairshare.Settings))
	db.View(func(tx *Tx) error {
		if n, _ := tx.k.File.Last(row.Shares); n != nil {
			t.Errorf("a row %q is left", n)
		}
		return nil
	})
}

// The timer survives changes that do not concern it, and no others.
func TestShareTimer(t *testing.T) {
	db, clock := newDB(t)
	setShares(t, db, someShares())
	since := fairshare.Timer{Running: true, Since: clock.t - 5}
	change := func(f func(*fairshare.Settings)) fairshare.Timer {
		var got fairshare.Timer
		err := db.Update(func(tx *Tx) error {
			if err := tx.Shares().SetTimer(since); err != nil {
				return err
			}
			s, err := tx.Shares().Get()
			if err != nil {
				return err
			}
			f(s)
			if err := tx.Shares().Set(s); err != nil {
				return err
			}
			got, err = tx.Shares().Timer()
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := change(func(s *fairshare.Settings) { s.Map, s.Default = nil, "night" }); got != since {
		t.Errorf("after a change of the map: %v", got)
	}
	if got := change(func(s *fairshare.Settings) { s.Loads[0], s.Loads[1] = s.Loads[1], s.Loads[0] }); got != since {
		t.Errorf("after a change of the order: %v", got)
	}
	if got := change(func(s *fairshare.Settings) { s.Loads[0].Load++ }); got.Running {
		t.Errorf("after a change of a load: %v", got)
	}
	if got := change(func(s *fairshare.Settings) { s.Rebalance.Threshold++ }); got.Running {
		t.Errorf("after a change of the threshold: %v", got)
	}
}

// TestShareState counts by hand: nodes that are up, whole nodes and parts of them, reservations
// with and without access lists, each unit.
func TestShareState(t *testing.T) {
	db, clock := newDB(t)
	addNodes(t, db, "n", 10, 4)
	setShares(t, db, someShares())
	err := db.Update(func(tx *Tx) error {
		for _, r := range []placer.Request{
			{Select: "2:ncpus=1", Place: "scatter:excl", User: "ann"}, // 2 nodes, 8 cpus, day
			{Select: "3:ncpus=1", Place: "pack", User: "cron-1"},      // 1 node, 3 cpus, night
			{Select: "1:ncpus=2", User: "cron-2", Class: "day"},       // 1 node, 2 cpus, day
			{Select: "1:ncpus=4", User: "ann", Class: "elsewhere"},    // no such class: day
		} {
			r.Walltime = time.Hour
			placed, err := tx.Jobs().Place(r)
			if err != nil {
				return err
			}
			job := placed.Row()
			job.Queued, job.Launched = true, true // as if submitted: others are not stopped
			if err := jobs.PutJob(tx.k, &job, JobRunning); err != nil {
				return err
			}
		}
		if _, err := tx.Jobs().Submit(
			Submission{Request: placer.Request{Select: "3:ncpus=2", User: "cron-3"}}); err != nil {
			return err
		}
		if _, err := tx.Reservations().ReserveNodes("other", []uint32{8}, kernel.Instant(tx.k.Now),
			kernel.Instant(tx.k.Now+600)); err != nil {
			return err
		}
		if _, err := tx.Reservations().ReserveNodes("later", []uint32{7}, kernel.Instant(tx.k.Now+60),
			kernel.Instant(tx.k.Now+600)); err != nil {
			return err
		}
		return tx.Nodes().SetState(9, index.Down, "disk")
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		unit              string
		total, away       int
		day, night, waits int
		taskUnits         int
	}{
		{"ncpus", 36, 4, 14, 3, 6, 14},
		{"nodes", 9, 1, 4, 1, 3, 4},
		{"mem", 0, 0, 0, 0, 0, 0},
	} {
		err := db.Update(func(tx *Tx) error {
			if err := tx.Config().Set("share_unit", c.unit); err != nil {
				return err
			}
			s, err := tx.Shares().State()
			if err != nil {
				return err
			}
			day, night := s.Classes[0], s.Classes[1]
			got := []int{s.TotalWorkers, s.Away, day.Running, night.Running, night.Waiting}
			if want := []int{c.total, c.away, c.day, c.night, c.waits}; !cmp.Equal(got, want) {
				t.Errorf("%s: total, away, day, night, waits %v, want %v", c.unit, got, want)
			}
			units := 0
			for _, task := range day.Tasks {
				units += task.Units
			}
			if units != c.taskUnits || s.Now != clock.t || s.Rebalance != someShares().Rebalance {
				t.Errorf("%s: tasks %v, now %d, rebalance %v", c.unit, day.Tasks, s.Now, s.Rebalance)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if list := findings(t, db); len(list) > 0 {
		t.Errorf("%q", list)
	}
}

func TestShareUnitIsRefused(t *testing.T) {
	db, _ := newDB(t)
	for value, want := range map[string]string{"arch": "arch is not used up by jobs", "ncpu": "did you mean ncpus"} {
		err := db.Update(func(tx *Tx) error { return tx.Config().Set("share_unit", value) })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", value, err)
		}
	}
}

func TestCheckFindsBadShares(t *testing.T) {
	db, clock := newDB(t)
	setShares(t, db, someShares())
	bad := someShares()
	bad.Loads[0].Load = -1
	rewrite(t, db, row.Shares, func(key, _ []byte) []byte { return row.ShareSettingsRow.Encode(bad) })
	if list := findings(t, db); len(list) != 1 || !strings.Contains(list[0], "a load of -1") {
		t.Errorf("%q", list)
	}
	setShares(t, db, someShares())
	for _, c := range []struct {
		want string
		do   func(*Tx) error
	}{
		{"out of balance since", func(tx *Tx) error {
			return tx.Shares().SetTimer(fairshare.Timer{Running: true, Since: clock.t + 100})
		}},
		{"table shares has no row 78", func(tx *Tx) error { return tx.k.File.Put(row.Shares, []byte("x"), []byte{1}) }},
	} {
		if err := db.Update(c.do); err != nil {
			t.Fatal(err)
		}
		if list := strings.Join(findings(t, db), "\n"); !strings.Contains(list, c.want) {
			t.Errorf("%q, want %q", list, c.want)
		}
	}
}

// TestSharesCountPlansOnce: a job with a plan that could start now counts once against a limit,
// not also by its plan. Otherwise another class seems to have nothing that may start, and a second
// cycle starts what the first one left.
func TestSharesCountPlansOnce(t *testing.T) {
	t.Parallel()
	db, clock := newDB(t)
	addNodes(t, db, "n", 1, 4)
	update := func(fn func(*Tx) error) {
		t.Helper()
		if err := db.Update(fn); err != nil {
			t.Fatal(err)
		}
	}
	submit := func(class string, cpus int, walltime time.Duration) {
		t.Helper()
		update(func(tx *Tx) error {
			_, err := tx.Jobs().Submit(
				Submission{Request: placer.Request{Select: fmt.Sprintf("1:ncpus=%d", cpus), Class: class,
					Walltime: walltime}})
			return err
		})
	}
	cycle := func() (started []uint64) {
		t.Helper()
		update(func(tx *Tx) error {
			r, err := tx.Cycle().Run(CycleSpec{})
			if err == nil {
				started = ids(r.Started)
			}
			return err
		})
		return started
	}
	update(func(tx *Tx) error {
		return errors.Join(tx.Config().Set("backfill", "relaxed"), tx.Config().Set("slack", "0"),
			tx.Shares().Set(&fairshare.Settings{Default: "a", Loads: []fairshare.ClassLoad{{Class: "a", Load: 1},
				{Class: "b", Load: 0}}}))
	})
	submit("a", 4, 30*time.Minute)
	submit("a", 1, time.Minute)
	cycle() // job 1 runs, and job 2 is planned behind it
	submit("a", 2, time.Minute)
	submit("b", 1, time.Hour)
	clock.t += 600
	update(func(tx *Tx) error {
		_, err := tx.Jobs().Release(1)
		return errors.Join(err, tx.Limits().Set(Limit{Key: "all", Measure: "ncpus", Max: 2}))
	})
	err := db.View(func(tx *Tx) error {
		s, err := tx.Shares().State()
		if err == nil && (s.Classes[0].Waiting != 1 || s.Classes[1].Waiting != 1) {
			t.Errorf("may start now: %d cpus of class a and %d of class b, want 1 of each", s.Classes[0].Waiting,
				s.Classes[1].Waiting)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if first, second := cycle(), cycle(); !slices.Equal(first, []uint64{2, 4}) || len(second) > 0 {
		t.Errorf("a cycle starts jobs %v and another %v, want 2 and 4, then none", first, second)
	}
}
