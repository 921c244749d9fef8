package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/placectl/placectl/store/internal/kernel"
	"github.com/placectl/placectl/store/internal/row"
	"pgregory.net/rapid"
)

// Part of a second counts as a whole one, as in a walltime, so that a limit is never read as
// none.
func TestInstants(t *testing.T) {
	for d, want := range map[time.Duration]int64{0: 0, 1: 1, time.Second: 1, 1500 * time.Millisecond: 2, -1: -1, -time.Second: -1} {
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
		again := row.Standing{ReserveSpec: row.SpecOf(&got.ReserveSpec, kernel.Unix, kernel.Seconds), Made: got.Made, Last: kernel.Unix(got.Last), Over: got.Over, Note: got.Note, Missing: kernel.Converted(got.Missing, kernel.Unix)}
		if diff := cmp.Diff(s, again, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("-row +the same as a caller's and back\n%s", diff)
		}
	})
}
