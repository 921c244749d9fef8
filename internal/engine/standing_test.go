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
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/recur"
)

// everyMinute returns a reservation of one node for half of each minute.
func everyMinute(tx *Tx, name string, node uint32) ReserveSpec {
	return ReserveSpec{Name: name, Nodes: []uint32{node}, Start: kernel.Instant(tx.k.Now),
		End: kernel.Instant(tx.k.Now + 30), Repeat: recur.Repeat{Rule: "FREQ=MINUTELY"}, Depth: 2}
}

// reservedNames returns the names of all reservations, and their series.
func reservedNames(t *testing.T, db *DB) []string {
	t.Helper()
	var out []string
	err := db.View(func(tx *Tx) error {
		return tx.Reservations().Each(func(r *Reservation) error {
			out = append(out, strings.TrimSuffix(r.Name+" of "+r.Series, " of "))
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestOccurrencesTakeNoName: a repeating reservation exists beside others whose names look
// like those of its occurrences, whichever was there first, and skips those names.
func TestOccurrencesTakeNoName(t *testing.T) {
	t.Parallel()
	hours := int64(0)
	later := func(name string) func(*Tx) error {
		hours++
		from := hours * 3600
		return func(tx *Tx) error {
			_, err := tx.Reservations().ReserveNodes(name, []uint32{1}, kernel.Instant(tx.k.Now+from),
				kernel.Instant(tx.k.Now+from+3600))
			return err
		}
	}
	soon := func(name string) func(*Tx) error {
		return func(tx *Tx) error {
			_, err := tx.Reservations().ReserveNodes(name, []uint32{1}, kernel.Instant(tx.k.Now),
				kernel.Instant(tx.k.Now+1))
			return err
		}
	}
	standing := func(name string, node uint32) func(*Tx) error {
		return func(tx *Tx) error { _, err := tx.Reservations().Add(everyMinute(tx, name, node)); return err }
	}
	for _, c := range []struct {
		name        string
		do          []func(*Tx) error
		now, passed string // the state then, and three minutes later
		left        string // when the standing one has been given up
	}{
		{"ahead of them", []func(*Tx) error{later("night.3"), standing("night", 0)},
			"night.1 of night, night.2 of night, night.3", "night.3, night.5 of night, night.6 of night", "night.3"},
		{"among the first", []func(*Tx) error{later("night.2"), standing("night", 0)},
			"night.1 of night, night.2, night.3 of night", "night.2, night.5 of night, night.6 of night", "night.2"},
		{"given afterwards", []func(*Tx) error{standing("night", 0), later("night.3"), later("night.4")},
			"night.1 of night, night.2 of night, night.3, night.4",
			"night.3, night.4, night.6 of night, night.7 of night", "night.3, night.4"},
		{"one that has ended", []func(*Tx) error{soon("night.3"), standing("night", 0)},
			"night.1 of night, night.2 of night, night.3", "night.3, night.5 of night, night.6 of night", "night.3"},
		{"another that repeats", []func(*Tx) error{standing("night.3", 1), standing("night", 0)},
			"night.1 of night, night.2 of night, night.3.1 of night.3, night.3.2 of night.3",
			"night.3.4 of night.3, night.3.5 of night.3, night.5 of night, night.6 of night",
			"night.3.4 of night.3, night.3.5 of night.3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			db, clock := newDB(t)
			addNodes(t, db, "n", 2, 4)
			for _, do := range c.do {
				if err := db.Update(do); err != nil {
					t.Fatal(err)
				}
			}
			same := func(when, want string) {
				t.Helper()
				if diff := cmp.Diff(strings.Split(want, ", "), reservedNames(t, db)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", when, diff)
				}
				if list := findings(t, db); len(list) > 0 {
					t.Errorf("%s: %q", when, list)
				}
			}
			same("now", c.now)
			for range 3 {
				clock.t += 60
				if err := db.Update(func(tx *Tx) error {
					return tx.Config().Set("default_walltime", "60")
				}); err != nil {
					t.Fatal(err)
				}
			}
			same("three minutes later", c.passed)
			if err := db.Repair(func(string) {}); err != nil {
				t.Fatal(err)
			}
			same("after a repair", c.passed)
			if err := db.Update(func(tx *Tx) error {
				_, err := tx.Reservations().Remove("night")
				return err
			}); err != nil {
				t.Fatal(err)
			}
			same("afterwards", c.left)
		})
	}
}

// A name that is taken is refused, and nothing changes.
func TestNamesOfOccurrencesAreTaken(t *testing.T) {
	t.Parallel()
	db, _ := newDB(t)
	addNodes(t, db, "n", 2, 4)
	err := db.Update(func(tx *Tx) error { _, err := tx.Reservations().Add(everyMinute(tx, "night", 0)); return err })
	if err != nil {
		t.Fatal(err)
	}
	before := reservedNames(t, db)
	for _, name := range []string{"night", "night.1", "night.2"} {
		for _, repeats := range []string{"", "daily"} {
			err := db.Update(func(tx *Tx) error {
				s := everyMinute(tx, name, 1)
				s.Repeat.Rule = repeats
				_, err := tx.Reservations().Add(s)
				return err
			})
			if !errors.Is(err, ErrConflict) {
				t.Errorf("reserve %s, repeating %q: %v", name, repeats, err)
			}
		}
	}
	if diff := cmp.Diff(before, reservedNames(t, db)); diff != "" {
		t.Error(diff)
	}
}

// The note of an occurrence says if its number is not the next one.
func TestOccurrenceSaysItsName(t *testing.T) {
	t.Parallel()
	db, _ := newDB(t)
	addNodes(t, db, "n", 2, 4)
	err := db.Update(func(tx *Tx) error {
		if _, err := tx.Reservations().ReserveNodes("night.1", []uint32{1}, kernel.Instant(tx.k.Now),
			kernel.Instant(tx.k.Now+10)); err != nil {
			return err
		}
		made, err := tx.Reservations().Add(everyMinute(tx, "night", 0))
		if err != nil {
			return err
		}
		if made[0].Name != "night.2" || !strings.Contains(made[0].Note, "night.1") || made[1].Note != "" {
			t.Errorf("%+v, %+v", made[0], made[1])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A window in which nothing is available is skipped; the reservation continues.
func TestStandingOutlivesWindowsItMisses(t *testing.T) {
	t.Parallel()
	db, clock := newDB(t)
	addNodes(t, db, "n", 1, 4)
	err := db.Update(func(tx *Tx) error {
		s := everyMinute(tx, "night", 0)
		s.Depth = 1
		if _, err := tx.Reservations().Add(s); err != nil {
			return err
		}
		_, err := tx.Reservations().ReserveNodes("other", []uint32{0}, kernel.Instant(tx.k.Now+60),
			kernel.Instant(tx.k.Now+300))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	clock.t += 40
	err = db.Update(func(tx *Tx) error {
		list, err := tx.Reservations().Occurrences("night")
		if err == nil && (len(list) != 1 || kernel.Unix(list[0].Start) != 1_000_300) {
			t.Errorf("%+v", list)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestStandingAfterPlansMove: a window is missed because of a plan, which waits for an earlier one to
// end. A node of the earlier one fails. The plan moves, and the same transaction makes the occurrence.
func TestStandingAfterPlansMove(t *testing.T) {
	s := newMachineStory(t)
	addNodes(t, s.db, "m", 1, 8)
	s.do(func(tx *Tx) error {
		night := everyMinute(tx, "night", 0)
		night.Depth = 1
		_, err := tx.Reservations().Add(night)
		for _, r := range []placer.Request{ // the first keeps m0 from the second
			{Select: "1:ncpus=8", Walltime: 50 * time.Second},
			{Select: "1:ncpus=8+1:ncpus=4", Place: "scatter", Walltime: 10 * time.Second},
			{Select: "2:ncpus=4", Place: "scatter", Walltime: 25 * time.Second}, // 5 s too long to go before that
		} {
			if err == nil {
				_, err = tx.Jobs().Submit(Submission{Request: r, Command: []string{"true"}})
			}
		}
		if err == nil {
			_, err = tx.Cycle().Run(CycleSpec{Backfill: Conservative})
		}
		return err
	})
	state := func() (out string) {
		s.do(func(tx *Tx) error {
			night, err := tx.Reservations().Standing("night")
			if err != nil {
				return err
			}
			list, err := tx.Reservations().Occurrences("night")
			for _, r := range list {
				out += fmt.Sprintf("%s at %d, ", r.Name, r.Start.Unix()-1_000_000)
			}
			j, missing := tx.Jobs().Get(3)
			out += fmt.Sprintf("%d missing, job 3 %s at %d", len(night.Missing), j.State, j.Start.Unix()-1_000_000)
			return errors.Join(err, missing)
		})
		return out
	}
	s.t += 32
	if got, want := state(), "night.2 at 120, 1 missing, job 3 reserved at 60"; got != want {
		t.Fatalf("%s, not %s", got, want)
	}
	s.do(func(tx *Tx) error { return tx.Nodes().SetState(2, index.Down, "") })
	if got, want := state(), "night.3 at 60, night.2 at 120, 0 missing, job 3 running at 32"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

// Whatever the name, the names of its occurrences are valid.
func TestStandingNameLeavesRoom(t *testing.T) {
	t.Parallel()
	db, _ := newDB(t)
	addNodes(t, db, "n", 1, 4)
	for _, c := range []struct {
		length int
		fine   bool
	}{{plan.MaxStandingName, true}, {plan.MaxStandingName + 1, false}} {
		err := db.DryRun(func(tx *Tx) error {
			_, err := tx.Reservations().Add(everyMinute(tx, strings.Repeat("x", c.length), 0))
			return err
		})
		if c.fine != (err == nil) || !c.fine && !errors.Is(err, ErrInvalid) {
			t.Errorf("%d bytes: %v", c.length, err)
		}
	}
}

// The first window is the first that the rule names, and its note says so.
func TestStandingBeginsWhereItsRuleDoes(t *testing.T) {
	t.Parallel()
	db, _ := newDB(t) // on Monday 12 January 1970, at 13:46:40
	addNodes(t, db, "n", 1, 4)
	for _, c := range []struct {
		rule  string
		first string
		note  bool
	}{
		{"FREQ=WEEKLY;BYDAY=MO", "1970-01-12T13:46:40Z", false},
		{"FREQ=WEEKLY;BYDAY=SA", "1970-01-17T13:46:40Z", true},
		{"FREQ=DAILY;BYHOUR=6", "1970-01-13T06:46:40Z", true},
		{"FREQ=WEEKLY;BYDAY=SA;COUNT=1", "1970-01-17T13:46:40Z", true},
		{"daily", "1970-01-12T13:46:40Z", false},
	} {
		err := db.DryRun(func(tx *Tx) error {
			s := everyMinute(tx, "w", 0)
			s.Repeat.Rule = c.rule
			made, err := tx.Reservations().Add(s)
			if err != nil {
				return err
			}
			noted := slices.IndexFunc(made, func(r *Reservation) bool { return r.Note != "" }) == 0
			if got := kernel.Stamp(kernel.Unix(made[0].Start)); got != c.first || noted != c.note ||
				made[0].End.Sub(made[0].Start) != 30*time.Second {
				return fmt.Errorf("first at %s, note %q", got, made[0].Note)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", c.rule, err)
		}
	}
}
