package engine

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/fairshare"
)

// shareStory has four nodes of one processor each, half of them for each of two classes.
type shareStory struct {
	*testing.T
	db    *DB
	clock *clock
	from  int64
	names map[string]uint64
}

func newShareStory(t *testing.T, backfill Backfill, a, b int) *shareStory {
	db, clock := newDB(t)
	addNodes(t, db, "n", 4, 1)
	setShares(t, db, &fairshare.Settings{Default: "a", Loads: []fairshare.ClassLoad{{Class: "a", Load: a},
		{Class: "b", Load: b}}})
	s := &shareStory{t, db, clock, clock.t, make(map[string]uint64)}
	s.update(func(tx *Tx) error { return tx.Config().Set("backfill", backfill.String()) })
	return s
}

func (s *shareStory) update(fn func(*Tx) error) {
	s.Helper()
	if err := s.db.Update(fn); err != nil {
		s.Fatal(err)
	}
}

// submit submits a job of a class, the first letter of its name.
func (s *shareStory) submit(name string, cpus, seconds int, with ...func(*Submission)) {
	s.Helper()
	s.update(func(tx *Tx) error {
		sub := Submission{Request: placer.Request{Name: name, Class: name[:1], User: "ann",
			Select: fmt.Sprintf("%d:ncpus=1", cpus), Walltime: time.Duration(seconds) * time.Second}}
		for _, set := range with {
			set(&sub)
		}
		list, err := tx.Jobs().Submit(sub)
		if err == nil {
			s.names[name] = list[0].ID
		}
		return err
	})
}

// cycle ends the jobs that are due, and makes a pass.
func (s *shareStory) cycle(at int64) {
	s.Helper()
	s.clock.t = s.from + at
	s.update(func(tx *Tx) error {
		if err := tx.Config().Set("overdue", "finish"); err != nil {
			return err
		}
		_, err := tx.Cycle().Run(CycleSpec{})
		return err
	})
}

// starts verifies when a job starts, or will start by its plan.
func (s *shareStory) starts(name string, state JobState, at int64) {
	s.Helper()
	if err := s.db.View(func(tx *Tx) error {
		j, err := tx.Jobs().Get(s.names[name])
		if err == nil && (j.State != state || kernel.Unix(j.Start) != s.from+at) {
			s.Errorf("%s is %s from %d, want %s from %d", name, j.State, kernel.Unix(j.Start)-s.from, state, at)
		}
		return err
	}); err != nil {
		s.Fatal(err)
	}
}

// TestNarrowDoNotLiftWide: a wide job's plan stays though narrow jobs of another class have
// their turn before it, if its class would be below its share without the plan.
func TestNarrowDoNotLiftWide(t *testing.T) {
	t.Parallel()
	for _, backfill := range []Backfill{EASY, Conservative} {
		s := newShareStory(t, backfill, 1, 1)
		for i := range 3 {
			s.submit(fmt.Sprint("a", i), 1, 100+100*i)
		}
		s.submit("b", 1, 1000)
		s.cycle(0)
		s.submit("b wide", 3, 100)
		for i := range 6 {
			s.submit(fmt.Sprint("a narrow ", i), 1, 300)
		}
		for at := int64(0); at < 300; at += 50 {
			s.cycle(at)
			s.starts("b wide", JobReserved, 300)
		}
		s.cycle(300)
		s.starts("b wide", JobRunning, 300)
	}
}

// TestNoPlanMovesNone: a job that gets no plan, because a limit never lets it run, changes no plans, even
// if there are some behind it. Otherwise a second cycle would start jobs that the first has planned.
func TestNoPlanMovesNone(t *testing.T) {
	t.Parallel()
	s := newShareStory(t, Conservative, 1, 0)
	s.update(func(tx *Tx) error { return tx.Limits().Set(Limit{Key: "user=eve", Measure: "running", Max: 0}) })
	s.submit("a never", 1, 60, func(sub *Submission) { sub.User = "eve" })
	s.submit("a later", 4, 60, func(sub *Submission) { sub.Begin, sub.Priority = time.Unix(s.from+240, 0), 1 })
	s.submit("a now", 2, 240)
	s.submit("b", 2, 720)
	for range 3 { // a has no more turns of its own once its job runs
		s.cycle(0)
		s.starts("a later", JobReserved, 240)
		s.starts("a now", JobRunning, 0)
		s.starts("b", JobReserved, 300)
	}
}

// TestRoomOfALostPlan: if a plan loses its room to a job of its own class, a planned job of another class
// that comes before it has what is left of that room, in the same cycle.
func TestRoomOfALostPlan(t *testing.T) {
	t.Parallel()
	s := newShareStory(t, Conservative, 1, 1)
	s.submit("a", 1, 100)
	s.submit("b wide", 4, 100)
	s.cycle(0)
	s.starts("b wide", JobReserved, 100)
	s.submit("a next", 1, 120)
	s.cycle(0)
	s.starts("a next", JobReserved, 200)
	s.submit("b urgent", 1, 300, func(sub *Submission) { sub.Priority = 1 })
	s.cycle(0)
	s.starts("b urgent", JobRunning, 0)
	s.starts("a next", JobRunning, 0)
	s.starts("b wide", JobReserved, 300)
}

// TestPlansOfClassesAboveTheirShares: a plan is lifted for a job of a class below its share if
// its own class has all of its share without it.
func TestPlansOfClassesAboveTheirShares(t *testing.T) {
	t.Parallel()
	for _, backfill := range []Backfill{EASY, Conservative} {
		s := newShareStory(t, backfill, 1, 1)
		s.submit("a1", 1, 100)
		s.submit("a2", 1, 200)
		s.submit("b1", 1, 1000)
		s.submit("b2", 1, 1000)
		s.cycle(0)
		s.submit("b wide", 2, 100)
		s.cycle(10)
		s.starts("b wide", JobReserved, 200)
		s.submit("a3", 1, 300)
		s.cycle(100)
		s.starts("a3", JobRunning, 100)
		s.starts("b wide", JobReserved, 400)
	}
}

// TestSharesWhereAllIsGivenBack: if jobs of several classes end at one instant, the class with
// the larger target has the first turn.
func TestSharesWhereAllIsGivenBack(t *testing.T) {
	t.Parallel()
	s := newShareStory(t, EASY, 1, 3)
	s.submit("a1", 1, 100)
	for i := range 3 {
		s.submit(fmt.Sprint("b", i), 1, 100)
	}
	s.cycle(0)
	s.submit("a2", 1, 100)
	for i := range 3 {
		s.submit(fmt.Sprint("b next ", i), 1, 100)
	}
	s.cycle(10)
	s.starts("b next 0", JobReserved, 100)
}

// TestSharesSayTrueReasons: a job waits for its class only if others may start, and if no limit keeps it.
func TestSharesSayTrueReasons(t *testing.T) {
	t.Parallel()
	s := newShareStory(t, EASY, 3, 1)
	waits := func(when string, want map[string]Wait) {
		t.Helper()
		err := s.db.View(func(tx *Tx) error {
			o, err := tx.Ask().Outlook()
			for name, wait := range want {
				j, failed := tx.Jobs().Get(s.names[name])
				p, told := o.Prospect(j)
				if p.Wait != wait {
					t.Errorf("%s: %s waits for %s (%s), want %s", when, name, p.Wait, p.Reason, wait)
				}
				err = errors.Join(err, failed, told)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	limit := Limit{Key: "class=a", Measure: "running"}
	s.update(func(tx *Tx) error { return tx.Limits().Set(limit) })
	for i := range 3 {
		s.submit(fmt.Sprint("a", i), 1, 100)
	}
	for i := range 6 {
		s.submit(fmt.Sprint("b", i), 1, 100)
	}
	s.cycle(0)
	waits("all nodes are taken", map[string]Wait{"a0": WaitsLimit, "b4": WaitsPlan, "b5": WaitsRoom})
	s.update(func(tx *Tx) error {
		_, err := tx.Limits().Remove(limit.Key, false)
		for _, name := range []string{"b0", "b1", "b4"} {
			_, failed := tx.Jobs().Cancel(s.names[name], "")
			err = errors.Join(err, failed)
		}
		return err
	})
	waits("nodes are free", map[string]Wait{"a0": WaitsTurn, "b5": WaitsClass})
}

// TestDelayedPlansAreInNoOnesWay: a plan that an overdue job blocks is made again in its turn.
// Until then it blocks no job of another class, although that may not lift it.
func TestDelayedPlansAreInNoOnesWay(t *testing.T) {
	t.Parallel()
	s := newShareStory(t, Conservative, 1, 1)
	s.update(func(tx *Tx) error {
		list, err := tx.Jobs().Submit(
			Submission{Request: placer.Request{Name: "a", Class: "a", User: "ann", Select: "4:ncpus=1",
				Walltime: 100 * time.Second}, Begin: tx.Now().Add(400 * time.Second)})
		if err == nil {
			s.names["a"] = list[0].ID
		}
		return err
	})
	s.submit("b overdue", 2, 100)
	cycle := func() { s.update(func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{}); return err }) }
	cycle()
	s.starts("a", JobReserved, 400)
	s.starts("b overdue", JobRunning, 0)
	s.clock.t += 200
	s.submit("b next", 2, 1000)
	cycle()
	s.starts("b next", JobRunning, 200)
	s.starts("a", JobReserved, 1200)
}

// TestRoomLeftWithoutPlan: where a plan that must not be lifted leaves its room late in a cycle, jobs that had
// their turn before start in it, whether they have a plan or not. Those without one began in a second cycle at
// the same instant.
func TestRoomLeftWithoutPlan(t *testing.T) {
	t.Parallel()
	s := newShareStory(t, EASY, 2, 2)
	bob := func(sub *Submission) { sub.User = "bob" }
	s.submit("b running", 1, 50, bob)
	s.cycle(0)
	s.submit("b planned", 4, 30, bob)
	s.cycle(0)
	s.starts("b planned", JobReserved, 50)
	s.submit("a planned", 1, 100)
	s.submit("a behind it", 1, 100)
	s.cycle(0)
	s.starts("a planned", JobReserved, 80)
	s.update(func(tx *Tx) error { // bob's second job must wait until all others have had their turn
		return tx.Limits().Set(Limit{Key: "user:bob", Measure: "running", Soft: true, Max: 1})
	})
	s.cycle(10)
	s.starts("a planned", JobRunning, 10)
	s.starts("a behind it", JobRunning, 10)
}
