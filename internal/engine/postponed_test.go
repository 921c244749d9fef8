package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/placer"
)

// at returns the instant that is a number of seconds after a life began.
func (l *hostLife) at(began int64, seconds int64) time.Time { return time.Unix(began+seconds, 0) }

// start returns the state of a job, and when it starts.
func (l *hostLife) start(id uint64) (state JobState, start time.Time) {
	l.t.Helper()
	err := l.db.View(func(tx *Tx) error {
		j, err := tx.Jobs().Get(id)
		if err == nil {
			state, start = j.State, j.Start
		}
		return err
	})
	if err != nil {
		l.t.Fatal(err)
	}
	sound(l.t, l.db)
	return state, start
}

// TestOverruns: a job past its end postpones others by the time that ending a supervisor's
// command takes, or otherwise by five minutes. They move forward when it has ended, but not to
// before the requested instant.
func TestOverruns(t *testing.T) {
	for _, c := range []struct {
		name   string
		by     Claimant
		queued bool
		wanted int64 // when it is to start, in seconds from the other one's end on
		late   int64 // from when it ought to end to the cycle
		put    int64 // to when it is put off, from that cycle on; 0: it is not
		starts int64 // when it can start, from the other one's end on, once that has ended 5 s late
	}{
		{"placed", BySupervisor, false, 0, 1, 40, 6},
		{"placed later", BySupervisor, false, 20, 1, 40, 20},
		{"placed behind", BySupervisor, false, 60, 1, 0, 60},
		{"queued", BySupervisor, true, 0, 1, 40, 6},
		{"behind a run", ByRun, false, 0, 1, 300, 6},
		{"later behind a run", ByRun, false, 200, 1, 300, 200},
		{"queued behind a run", ByRun, true, 0, 1, 300, 6},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			l := newHostLife(t)
			began := l.clock.t
			first := l.claimed("ann", c.by, time.Hour)
			ask := placer.Request{Select: "1:ncpus=4:vnode=n0", Walltime: time.Hour}
			var id uint64
			l.update(func(tx *Tx) error {
				if !c.queued {
					j, err := tx.Jobs().PlaceAt(ask, l.at(began, 3600+c.wanted))
					if err == nil {
						id = j.ID
					}
					return err
				}
				list, err := tx.Jobs().Submit(Submission{Request: ask})
				if err == nil {
					id = list[0].ID
				}
				return err
			})
			l.cycle()
			if state, start := l.start(id); state != JobReserved || !start.Equal(l.at(began, 3600+c.wanted)) {
				t.Fatalf("it is %s, and starts at %s", state, start)
			}
			l.clock.t = began + 3600 + c.late
			l.cycle()
			put := c.late + c.put
			if c.put == 0 {
				put = c.wanted
			}
			if state, start := l.start(id); state != JobReserved || !start.Equal(l.at(began, 3600+put)) {
				t.Errorf("put off: it is %s, and starts at %s, want %s", state, start, l.at(began, 3600+put))
			}
			l.clock.t = began + 3605
			l.update(func(tx *Tx) error {
				_, err := tx.Attempts().Report(Result{Job: first, Attempt: 1, Nonce: Nonce{byte(first)},
					Outcome: OutcomeWalltime})
				return err
			})
			l.clock.t = began + 3606
			l.cycle()
			want := JobReserved
			if c.starts <= 6 {
				want = JobRunning
			}
			if state, start := l.start(id); state != want || !start.Equal(l.at(began, 3600+c.starts)) {
				t.Errorf("come forward: it is %s, and starts at %s, want %s at %s", state, start, want,
					l.at(began, 3600+c.starts))
			}
		})
	}
}

// TestPostponedOnce: a job placed at an instant that was put off, and has just started, is not decided again
// when jobs are preempted in the same cycle.
func TestPostponedOnce(t *testing.T) {
	s := newPreemptStory(t, 2, EASY)
	began := s.clock.t + 10
	late, way := s.submit("cat", "1:ncpus=2:vnode=n0", 0), s.submit("bob", "1:ncpus=2:vnode=n1", 0)
	s.cycle()
	var placed uint64
	s.update(func(tx *Tx) error {
		j, err := tx.Jobs().PlaceAt(placer.Request{Select: "1:ncpus=2:vnode=n0", Walltime: time.Hour},
			time.Unix(began+3600, 0))
		if err == nil {
			placed = j.ID
		}
		return err
	})
	s.clock.t = began + 3600
	s.cycle()
	s.is(placed, JobReserved, 0)
	s.update(func(tx *Tx) error { _, err := tx.Jobs().Release(late); return err })
	first := s.submit("ann", "1:ncpus=2:vnode=n1", 0)
	s.cycle()
	s.is(placed, JobRunning, 1)
	s.is(first, JobRunning, 1)
	s.is(way, JobReserved, 1)
	sound(t, s.db)
}
