package engine

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/preempt"
	"pgregory.net/rapid"
)

// Part of a second counts as a whole one, as in a walltime, so that a limit is never read as
// none.
func TestInstants(t *testing.T) {
	for d, want := range map[time.Duration]int64{0: 0, 1: 1, time.Second: 1, 1500 * time.Millisecond: 2, -1: -1,
		-time.Second: -1} {
		if got := kernel.Seconds(d); got != want {
			t.Errorf("%v is %d s, want %d", d, got, want)
		}
	}
	for at, want := range map[time.Time]int64{{}: 0, time.Unix(7, 999): 7, time.Unix(-1, 0): -1} {
		if got := kernel.Unix(at); got != want || kernel.Unix(kernel.Instant(got)) != got {
			t.Errorf("%v is %d, want %d", at, got, want)
		}
	}
	if !kernel.Instant(0).IsZero() {
		t.Error("0 is an instant")
	}
}

// A repeating reservation as callers see it has everything that was requested.
func TestStandingsAreTheirRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.Make[row.Standing]().Draw(t, "standing")
		s.Limit %= kernel.MaxWalltime
		got := kernel.StandingOf(&s)
		again := row.Standing{ReserveSpec: row.SpecOf(&got.ReserveSpec, kernel.Unix, kernel.Seconds), Made: got.Made,
			Last: kernel.Unix(got.Last), Over: got.Over, Note: got.Note,
			Missing: kernel.Converted(got.Missing, kernel.Unix)}
		if diff := cmp.Diff(s, again, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("-row +the same as a caller's and back\n%s", diff)
		}
	})
}

// TestFarInstants: what no reader could decode is refused as invalid, and the database stays sound. A queue
// that reaches beyond the last instant gets plans up to there.
func TestFarInstants(t *testing.T) {
	db, _ := newDB(t)
	addNodes(t, db, "n", 2, 8)
	r := placer.Request{Select: "2:ncpus=8", Walltime: time.Hour}
	for _, seconds := range []int64{math.MaxInt64, math.MaxInt64 - 1000, math.MinInt64, 1 << 61, 1<<41 + 1, -1 << 41,
		1 << 40, 253402300799} {
		at := time.Unix(seconds, 0)
		for name, fn := range map[string]func(*Tx) error{
			"begin": func(tx *Tx) error {
				_, err := tx.Jobs().Submit(Submission{Request: r, Begin: at})
				return err
			},
			"deadline": func(tx *Tx) error {
				_, err := tx.Jobs().Submit(Submission{Request: r, Deadline: at})
				return err
			},
			"place":   func(tx *Tx) error { _, err := tx.Jobs().PlaceAt(r, at); return err },
			"reserve": func(tx *Tx) error { _, err := tx.Reservations().Reserve("r", r, at); return err },
			"nodes": func(tx *Tx) error {
				_, err := tx.Reservations().ReserveNodes("s", []uint32{0}, at, at.Add(time.Hour))
				return err
			},
			"pool": func(tx *Tx) error {
				return tx.Pools().Set(Pool{Name: "p", Amount: 1, Outside: 1, Until: at}, true)
			},
			"preempt": func(tx *Tx) error {
				return tx.Preemption().Set(&preempt.Rule{Soft: true, Grace: seconds, MinRun: seconds,
					AtMost: int(seconds)})
			},
			"everybody over everybody": func(tx *Tx) error { return tx.Preemption().Set(&preempt.Rule{}) },
			"limit": func(tx *Tx) error {
				return tx.Limits().Set(Limit{Key: "user=*", Measure: "ncpus.left", Max: seconds})
			},
		} {
			if err := db.DryRun(fn); err != nil && !errors.Is(err, ErrInvalid) && !errors.Is(err, placer.ErrRequest) &&
				!errors.Is(err, placer.ErrNotNow) && !errors.Is(err, ErrConflict) && !errors.Is(err, ErrExists) {
				t.Errorf("%s %d: %v", name, seconds, err)
			}
			_ = db.Update(fn) // most are refused
			sound(t, db)
		}
	}
	mustUpdate(t, db, func(tx *Tx) error {
		_, err := tx.Jobs().Submit(
			Submission{Request: placer.Request{Select: "2:ncpus=8", Walltime: 100 * 365 * 24 * time.Hour}, Array: 800})
		return err
	})
	mustUpdate(t, db, func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{Backfill: Conservative}); return err })
	sound(t, db)
}
