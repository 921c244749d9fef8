package listing

import (
	"testing"
	"time"
)

// TestDoubt: a start is a range if few starts are recorded, or if a safe start is later by more than a tenth of the
// wait; never one of a single time.
func TestDoubt(t *testing.T) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	at := func(minutes int) time.Time { return now.Add(time.Duration(minutes) * time.Minute) }
	for _, c := range []struct {
		likely, safe int
		few          bool
		want         string
	}{
		{100, 110, false, "~11:40"},
		{100, 111, false, "between 11:40 and 11:51"},
		{100, 110, true, "between 11:40 and 11:50"},
		{100, 100, true, "~11:40"},
		{100, 90, true, "~11:40"},
		{0, 90, true, "by 11:30"},
	} {
		got := Doubt{now, c.few}.Start(at(c.likely), at(c.safe), func(t time.Time) string { return t.Format("15:04") })
		if got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
