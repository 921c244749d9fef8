package engine

import (
	"errors"
	"testing"
	"time"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/preempt"
)

// preemptStory has nodes of two processors each; jobs of bob make way for jobs of ann.
type preemptStory struct {
	*testing.T
	db    *DB
	clock *clock
}

func newPreemptStory(t *testing.T, nodes int, backfill Backfill) *preemptStory {
	db, clock := newDB(t)
	addNodes(t, db, "n", nodes, 2)
	s := &preemptStory{t, db, clock}
	s.update(func(tx *Tx) error {
		r, err := preempt.Parse("user=ann over user=bob")
		if err != nil {
			return err
		}
		r.Grace, r.MinRun = 0, 0
		if err := tx.Config().Set("backfill", backfill.String()); err != nil {
			return err
		}
		return tx.Preemption().Set(r)
	})
	return s
}

func (s *preemptStory) update(fn func(*Tx) error) {
	s.Helper()
	if err := s.db.Update(fn); err != nil {
		s.Fatal(err)
	}
}

func (s *preemptStory) submit(user, sel string, priority int64, after ...Dependency) (id uint64) {
	s.Helper()
	s.update(func(tx *Tx) error {
		list, err := tx.Jobs().Submit(Submission{Request: placer.Request{User: user, Select: sel, Walltime: time.Hour},
			Priority: priority, After: after})
		if err == nil {
			id = list[0].ID
		}
		return err
	})
	return id
}

// cycle makes a cycle, and verifies that another would do nothing.
func (s *preemptStory) cycle() (r *CycleReport) {
	s.Helper()
	s.clock.t += 10
	s.update(func(tx *Tx) (err error) { r, err = tx.Cycle().Run(CycleSpec{}); return err })
	s.update(func(tx *Tx) error {
		r, err := tx.Cycle().Run(CycleSpec{})
		if err == nil && len(r.Started)+len(r.Planned)+len(r.Cancelled) > 0 {
			s.Errorf("another cycle starts %v, plans %v, cancels %v", ids(r.Started), ids(r.Planned), ids(r.Cancelled))
		}
		return err
	})
	return r
}

func (s *preemptStory) is(id uint64, state JobState, attempt int) {
	s.Helper()
	if err := s.db.View(func(tx *Tx) error {
		j, err := tx.Jobs().Get(id)
		if err == nil && (j.State != state || j.Attempt != attempt) {
			s.Errorf("job %d is %s at attempt %d (%s), want %s at %d", id, j.State, j.Attempt, j.Reason, state, attempt)
		}
		return err
	}); err != nil {
		s.Fatal(err)
	}
}

// TestStoppedStartsElsewhere: a job that was stopped in a pass is a candidate in that pass.
func TestStoppedStartsElsewhere(t *testing.T) {
	for _, backfill := range []Backfill{FCFS, EASY, Conservative} {
		s := newPreemptStory(t, 2, backfill)
		low := s.submit("bob", "1:ncpus=2", 0)
		s.cycle()
		s.is(low, JobRunning, 1)
		urgent := s.submit("ann", "1:ncpus=2:host=n0", 0)
		s.cycle()
		s.is(urgent, JobRunning, 1)
		s.is(low, JobRunning, 2)
	}
}

// TestUrgentBeforeTheyStart: a waiting job with less priority never stops, in a later pass,
// what this pass starts: that does not start.
func TestUrgentBeforeTheyStart(t *testing.T) {
	for _, backfill := range []Backfill{EASY, Conservative} {
		s := newPreemptStory(t, 2, backfill)
		low := []uint64{s.submit("bob", "1:ncpus=2", 5), s.submit("bob", "1:ncpus=2", 5)}
		other := s.submit("eve", "1:ncpus=1", 4)
		urgent := s.submit("ann", "1:ncpus=2", 0)
		r := s.cycle()
		s.is(urgent, JobRunning, 1)
		s.is(low[0], JobRunning, 1)
		if len(r.Started) != 2 || len(r.Stopped) != 0 {
			t.Errorf("started %v, stopped %v", ids(r.Started), ids(r.Stopped))
		}
		s.is(other, map[Backfill]JobState{EASY: JobQueued, Conservative: JobReserved}[backfill], 0)
		if err := s.db.View(func(tx *Tx) error {
			return tx.EachEvent(0, func(e *Event) (bool, error) {
				if e.Job == low[1] && e.Attempt != 0 {
					t.Errorf("job %d: %s, %s -> %s", e.Job, e.Event, e.Old, e.New)
				}
				return true, nil
			})
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRoomOfTheStopped: waiting jobs, in their order, get what is left of the nodes that were
// freed.
func TestRoomOfTheStopped(t *testing.T) {
	for _, backfill := range []Backfill{EASY, Conservative} {
		s := newPreemptStory(t, 1, backfill)
		low := s.submit("bob", "1:ncpus=2", 0)
		s.cycle()
		first := s.submit("eve", "1:ncpus=1", 9)
		urgent := s.submit("ann", "1:ncpus=1", 0)
		last := s.submit("eve", "1:ncpus=1", -1)
		s.cycle()
		s.is(low, JobReserved, 1)
		if err := s.db.View(func(tx *Tx) error {
			j, err := tx.Jobs().Get(low)
			if want := "made way for job 3 (user=ann over user=bob)"; err == nil && j.Reason.String() != want {
				t.Errorf("%q, want %q", j.Reason, want)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		s.is(first, JobRunning, 1)
		s.is(urgent, JobRunning, 1)
		s.is(last, map[Backfill]JobState{EASY: JobQueued, Conservative: JobReserved}[backfill], 0)
	}
}

// TestFollowersOfHeldStarts: jobs that follow a job have their turn in the pass that starts
// it, and those that follow one that was cancelled in it are cancelled.
func TestFollowersOfHeldStarts(t *testing.T) {
	s := newPreemptStory(t, 2, EASY)
	low := s.submit("bob", "1:ncpus=1", 5)
	follower := s.submit("eve", "1:ncpus=1", 0, Dependency{When: After, Job: low})
	urgent := s.submit("ann", "1:ncpus=2", 0)
	s.cycle()
	for _, id := range []uint64{low, follower, urgent} {
		s.is(id, JobRunning, 1)
	}
}

// TestPlanTakesNoStartBack: a start is not undone for a plan, which would be lifted for that
// job again and again.
func TestPlanTakesNoStartBack(t *testing.T) {
	s := newPreemptStory(t, 2, FCFS)
	looks := 0
	cycle := func() {
		s.update(func(tx *Tx) error {
			_, err := tx.Cycle().Run(CycleSpec{By: ByLauncher, Nonce: Nonce{1}, Enough: func() bool {
				looks++
				return looks > 1000
			}})
			return err
		})
	}
	s.update(func(tx *Tx) error {
		r, err := preempt.Parse("user=ann over user=bob")
		if err != nil {
			return err
		}
		r.MinRun, r.Grace = 0, 100
		_, err = tx.Jobs().Submit(Submission{Request: placer.Request{User: "eve", Select: "1:ncpus=1:host=n0",
			Walltime: 75 * time.Second}})
		return errors.Join(err, tx.Preemption().Set(r), tx.Config().Set("backfill", "easy"))
	})
	s.submit("bob", "1:ncpus=2:host=n1", 0)
	cycle()
	low := s.submit("bob", "1:ncpus=1:host=n0", 5)
	urgent := s.submit("ann", "1:ncpus=2:host=n0", 0)
	cycle()
	s.is(low, JobRunning, 1)
	s.is(urgent, JobReserved, 0)
	if looks > 100 {
		t.Errorf("%d looks at 5 jobs", looks)
	}
}
