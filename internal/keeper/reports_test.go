package keeper

import (
	"strings"
	"testing"
	"time"
)

// TestBadReport: a report that the database never accepts delays no other attempt, is noted once, and is
// accepted once it can be.
func TestBadReport(t *testing.T) {
	s := newSite(t)
	bad := s.job("exit 3")
	s.change(func(st *fakeState) { st.Bad = bad.Job })
	keeper := s.start(nil, "keep")
	s.until("the bad report is put off", func() bool { return strings.Contains(s.file("notes"), bad.String()+": ") })
	for range 3 {
		k := s.job("exit 4")
		s.start(nil, "pass").wait()
		s.until("another attempt has ended", s.ended(k))
	}
	if n := strings.Count(s.file("notes"), bad.String()+": "); n != 1 {
		t.Errorf("the report is noted %d times:\n%s", n, s.file("notes"))
	}
	s.change(func(st *fakeState) { st.Bad = 0 })
	s.until("the report is accepted", s.ended(bad))
	keeper.wait()
	if r := s.attempt(bad).Result; r.Exit != 3 {
		t.Errorf("result %+v, want exit 3", r)
	}
}

// TestNextTurnIsDue: a report that was put off is not due within a pause of turns, in which none is made. The
// keeper of a database whose folder was gone tried it without a pause, for as long as the turns paused.
func TestNextTurnIsDue(t *testing.T) {
	now := time.Now()
	in := func(d time.Duration) *attendance { return &attendance{retry: retry{wait: d, again: now.Add(d)}} }
	for _, c := range []struct {
		again time.Time
		want  time.Time
	}{{now.Add(time.Minute), now.Add(time.Minute)}, {time.Time{}, now.Add(time.Second)}} {
		k := &keeper{again: c.again, untold: []*attendance{{}, in(2 * time.Second), in(time.Second)}}
		if at := k.due(); !at.Equal(c.want) {
			t.Errorf("due in %v, want %v", at.Sub(now), c.want.Sub(now))
		}
	}
}
