package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/nodes"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/subject"
	"pgregory.net/rapid"
)

// TestLetInByNumber: a reservation admits a waiting job by its number, by that of its array,
// and by its index there.
func TestLetInByNumber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ allow, started string }{
		{"job=2", "[3 4 5]"}, {"job=3", "[3]"}, {"job=2[]", "[3 4 5]"}, {"job=2[1]", "[4]"}, {"job=2[1-2]", "[4 5]"},
		{"job=2[3-9]", "[]"},
		{"job=3[]", "[]"}, {"job=2[", "[]"}, {"job=1", "[1]"}, {"job=1[0]", "[]"}, {"job=five", "[6]"},
	} {
		t.Run(c.allow, func(t *testing.T) {
			t.Parallel()
			db, clock := newDB(t)
			addNodes(t, db, "n", 4, 1)
			access, err := placer.ParseAccess(c.allow)
			if err != nil {
				t.Fatal(err)
			}
			err = db.Update(func(tx *Tx) error {
				for _, s := range []Submission{{}, {Array: 3}, {Request: placer.Request{Name: "five"}}} {
					name := s.Request.Name
					s.Request = wholeNodes(1, time.Hour)
					s.Request.Name = name
					if _, err := tx.Jobs().Submit(s); err != nil {
						return err
					}
				}
				_, err := tx.Reservations().Add(ReserveSpec{Name: "kept", Nodes: []uint32{0, 1, 2, 3},
					Start: kernel.Instant(tx.k.Now), End: kernel.Instant(tx.k.Now + 2*3600), Access: access})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second cycle finds what the first remembers
				clock.t++
				err = db.Update(func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{}); return err })
				if err != nil {
					t.Fatal(err)
				}
			}
			var started []uint64
			err = db.View(func(tx *Tx) error {
				return tx.Jobs().Each(func(j *Job) error { started = append(started, j.ID); return nil }, JobRunning)
			})
			if err != nil || fmt.Sprint(started) != c.started {
				t.Errorf("%v started, want %s: %v", started, c.started, err)
			}
		})
	}
}

// TestPlannedByNumber: plans are made in what a reservation keeps for a job, and hold.
func TestPlannedByNumber(t *testing.T) {
	t.Parallel()
	db, clock := newDB(t)
	addNodes(t, db, "n", 1, 1)
	err := db.Update(func(tx *Tx) error {
		_, err := tx.Reservations().Add(ReserveSpec{Name: "kept", Nodes: []uint32{0},
			Start: kernel.Instant(tx.k.Now + 600), End: kernel.Instant(tx.k.Now + 7200),
			Access: placer.AccessList{{Subject: subject.Job.Of("2")}}})
		if err != nil {
			return err
		}
		for range 2 {
			if _, err := tx.Jobs().Submit(Submission{Request: wholeNodes(1, time.Hour)}); err != nil {
				return err
			}
		}
		if _, err := tx.Jobs().Submit(Submission{Request: wholeNodes(1, 100*time.Second), Priority: 1}); err != nil {
			return err
		}
		_, err = tx.Cycle().Run(CycleSpec{Backfill: Conservative}) // 3 now, 2 after it, 1 after the reservation
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int64{0, 50} {
		clock.t = 1_000_000 + at
		err = db.Update(func(tx *Tx) error {
			if _, err := tx.Cycle().Run(CycleSpec{Backfill: Conservative}); err != nil {
				return err
			}
			for id, start := range map[uint64]int64{1: 7200, 2: 100} {
				if j, err := tx.Jobs().Get(id); err != nil || kernel.Unix(j.Start) != 1_000_000+start {
					t.Errorf("at %d job %d starts at %d, want %d: %v", at, id, kernel.Unix(j.Start)-1_000_000, start,
						err)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestTimeMakesRoom: a job may only use a part of a reservation. When the rest of it becomes
// that short, the job starts, though nothing else has happened.
func TestTimeMakesRoom(t *testing.T) {
	t.Parallel()
	db, clock := newDB(t)
	addNodes(t, db, "n", 2, 1)
	began := clock.t
	cycle := func(at int64, want string) {
		t.Helper()
		clock.t = began + at*60
		err := db.Update(func(tx *Tx) error {
			r, err := tx.Cycle().Run(CycleSpec{})
			if err == nil && fmt.Sprint(ids(r.Started)) != want {
				t.Errorf("at %d: %v started, want %s", at, ids(r.Started), want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	err := db.Update(func(tx *Tx) error {
		_, err := tx.Reservations().Add(ReserveSpec{Name: "kept", Nodes: []uint32{0, 1}, Start: kernel.Instant(began),
			End: kernel.Instant(began + 3600), Limit: kernel.Lasting(600),
			Access: placer.AccessList{{Subject: subject.User.Of("ann")}}})
		for _, user := range []string{"bob", "ann", "ann"} { // bob's is the head, which has the plan
			r := wholeNodes(1, 2*time.Hour)
			r.User = user
			if err == nil {
				_, err = tx.Jobs().Submit(Submission{Request: r})
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	cycle(0, "[]")
	cycle(30, "[]")
	cycle(49, "[]")
	cycle(50, "[2]") // on the node that bob's does not have
	cycle(55, "[]")
}

// TestDecidedBehind: if a request did not fit because of the plan of a job, a job that asks
// for the same but comes before that job may still fit.
func TestDecidedBehind(t *testing.T) {
	t.Parallel()
	db, _ := newDB(t)
	addNodes(t, db, "n", 2, 1)
	err := db.Update(func(tx *Tx) error {
		submit := func(s Submission, nodes int, minutes time.Duration) {
			s.Request = wholeNodes(nodes, minutes*time.Minute)
			if _, err := tx.Jobs().Submit(s); err != nil {
				t.Fatal(err)
			}
		}
		cycle := func(spec CycleSpec, want string) {
			t.Helper()
			r, err := tx.Cycle().Run(spec)
			if err != nil || fmt.Sprint(ids(r.Started)) != want {
				t.Errorf("%v started, want %s: %v", ids(r.Started), want, err)
			}
		}
		submit(Submission{Priority: 9}, 1, 60)
		submit(Submission{Priority: 8}, 2, 60)                                        // at 60
		submit(Submission{Priority: 0, Begin: kernel.Instant(tx.k.Now + 600)}, 1, 30) // from 10 to 40
		cycle(CycleSpec{Backfill: Conservative}, "[1]")
		submit(Submission{Priority: -1}, 1, 30)
		cycle(CycleSpec{}, "[]")
		submit(Submission{Priority: 1}, 1, 30)
		cycle(CycleSpec{}, "[5]")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if list := findings(t, db); len(list) > 0 {
		t.Error(list)
	}
}

// TestWidestFirst: of the jobs behind the head, those that ask for most processors start
// first, whatever their priority and number of chunks.
func TestWidestFirst(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		db, _ := newDB(t)
		defer db.Close()
		addNodes(t, db, "n", rapid.IntRange(2, 6).Draw(rt, "nodes"), 4)
		var jobs []*Job
		for range rapid.IntRange(1, 9).Draw(rt, "jobs") {
			s := Submission{Priority: int64(rapid.IntRange(0, 2).Draw(rt, "priority"))}
			s.Request = placer.Request{Place: "scatter:excl",
				Walltime: time.Duration(rapid.IntRange(1, 3).Draw(rt, "hours")) * time.Hour,
				Select: fmt.Sprintf("%d:ncpus=%d", rapid.IntRange(1, 4).Draw(rt, "chunks"),
					rapid.IntRange(1, 4).Draw(rt, "ncpus"))}
			err := db.Update(func(tx *Tx) error {
				list, err := tx.Jobs().Submit(s)
				jobs = append(jobs, list...)
				return err
			})
			if err != nil {
				rt.Fatal(err)
			}
		}
		depth := rapid.IntRange(1, 2).Draw(rt, "depth")
		var want string
		_ = db.Update(func(tx *Tx) error {
			want = fmt.Sprint(bestFit(rt, tx, jobs, depth))
			return errDry
		})
		err := db.Update(func(tx *Tx) error {
			r, err := tx.Cycle().Run(CycleSpec{WidestFirst: true, Depth: depth})
			if err == nil && fmt.Sprint(ids(r.Started)) != want {
				rt.Errorf("%v started, want %s", ids(r.Started), want)
			}
			return err
		})
		if err != nil {
			rt.Fatal(err)
		}
	})
}

// bestFit places the jobs one by one. It goes in order until depth jobs have a plan, and then
// repeatedly takes the fitting job with most processors.
func bestFit(t *rapid.T, tx *Tx, jobs []*Job, depth int) (started []uint64) {
	slices.SortStableFunc(jobs, func(a, b *Job) int { return cmp.Compare(b.Priority, a.Priority) })
	asked := func(j *Job) placer.Request {
		r := j.Request()
		r.Walltime = j.Walltime
		return r
	}
	place := func(j *Job) bool {
		_, err := tx.Jobs().Place(asked(j))
		if err != nil && !kernel.IsRefusal(err) {
			t.Fatal(err)
		}
		if err == nil {
			started = append(started, j.ID)
		}
		return err == nil
	}
	for depth > 0 && len(jobs) > 0 {
		if !place(jobs[0]) {
			if _, err := tx.Jobs().PlaceOrReserve(asked(jobs[0])); err == nil {
				depth--
			}
		}
		jobs = jobs[1:]
	}
	size := func(j *Job) (processors, of int) {
		var chunks, ncpus int
		if _, err := fmt.Sscanf(j.Select, "%d:ncpus=%d", &chunks, &ncpus); err != nil {
			t.Fatal(err)
		}
		return chunks * ncpus, chunks
	}
	for {
		widest := slices.Clone(jobs)
		slices.SortStableFunc(widest, func(a, b *Job) int {
			pa, ca := size(a)
			pb, cb := size(b)
			return cmp.Or(cmp.Compare(pb, pa), cmp.Compare(cb, ca))
		})
		i := slices.IndexFunc(widest, place)
		if i < 0 {
			return started
		}
		jobs = slices.DeleteFunc(slices.Clone(jobs), func(j *Job) bool { return j == widest[i] })
	}
}

// TestPlanWhereAnotherWillHaveEnded: a job is planned on nodes that others, started in the
// same cycle, will have released by then. That is also true if a job with the same request was
// planned before those were started.
func TestPlanWhereAnotherWillHaveEnded(t *testing.T) {
	t.Parallel()
	db, _ := newDB(t)
	defer db.Close()
	addNodes(t, db, "n", 6, 4)
	var wide []uint64
	for _, j := range []struct {
		nodes    int
		priority int64
	}{{4, 2}, {3, 2}, {1, 1}, {3, 0}} {
		s := Submission{Priority: j.priority, Request: placer.Request{Select: fmt.Sprintf("%d:ncpus=1", j.nodes),
			Place: "scatter:excl", Walltime: time.Hour}}
		err := db.Update(func(tx *Tx) error {
			list, err := tx.Jobs().Submit(s)
			if err == nil && j.nodes == 3 {
				wide = append(wide, list[0].ID)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	err := db.Update(func(tx *Tx) error {
		r, err := tx.Cycle().Run(CycleSpec{Backfill: Conservative})
		if err == nil && (!slices.Equal(ids(r.Planned), wide) || r.Planned[0].Start != r.Planned[1].Start) {
			t.Errorf("%v are planned, want %v, both in an hour", ids(r.Planned), wide)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestPlanBehindAnOverdueJob: a plan that an overdue job blocks stays as it is if the cycle
// does not get that far in the queue.
func TestPlanBehindAnOverdueJob(t *testing.T) {
	t.Parallel()
	db, clock := newDB(t)
	addNodes(t, db, "n", 2, 1)
	began := clock.t
	var planned uint64
	err := db.Update(func(tx *Tx) error {
		for _, walltime := range []time.Duration{3600 * time.Second, 3700 * time.Second} {
			if _, err := tx.Jobs().Place(wholeNodes(1, walltime)); err != nil {
				return err
			}
		}
		list, err := tx.Jobs().Submit(Submission{Request: wholeNodes(2, time.Hour)})
		if err != nil {
			return err
		}
		planned = list[0].ID
		_, err = tx.Cycle().Run(CycleSpec{})
		return err
	})
	if err == nil {
		clock.t = began + 3650
		err = db.Update(func(tx *Tx) error {
			if _, err := tx.Jobs().Submit(Submission{Request: wholeNodes(2, time.Hour), Priority: 1}); err != nil {
				return err
			}
			_, err := tx.Cycle().Run(CycleSpec{Backfill: FCFS})
			return err
		})
	}
	if err == nil {
		err = db.View(func(tx *Tx) error {
			j, err := tx.Jobs().Get(planned)
			if err == nil && (j.State != JobReserved || !j.Start.Equal(kernel.Instant(began+3700))) {
				t.Errorf("it is %s from %s on (%s), and was planned for %s", j.State, j.Start, j.Reason,
					kernel.Instant(began+3700))
			}
			return err
		})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestPlansBehindOverdueJobs: a job past its end is assumed to go on for a grace from now.
// What is planned on its node before that is postponed; later plans stay.
func TestPlansBehindOverdueJobs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ planned, want int64 }{ // seconds from the beginning
		{1100, 1050 + nodes.Grace},
		{1050 + nodes.Grace - 1, 1050 + nodes.Grace},
		{1050 + nodes.Grace, 1050 + nodes.Grace},
		{1050 + nodes.Grace + 100, 1050 + nodes.Grace + 100},
	} {
		db, clock := newDB(t)
		addNodes(t, db, "n", 1, 1)
		began := clock.t
		err := db.Update(func(tx *Tx) error {
			if _, err := tx.Jobs().Place(wholeNodes(1, 1000*time.Second)); err != nil {
				return err
			}
			_, err := tx.Jobs().PlaceAt(wholeNodes(1, time.Hour), kernel.Instant(began+c.planned))
			return err
		})
		clock.t = began + 1050
		if err == nil {
			err = db.Update(func(tx *Tx) error {
				if _, err := tx.Cycle().Run(CycleSpec{}); err != nil {
					return err
				}
				j, err := tx.Jobs().Get(2)
				if err == nil && !j.Start.Equal(kernel.Instant(began+c.want)) {
					t.Errorf("planned for %d s, it is to start at %d, want %d", c.planned, j.Start.Unix()-began, c.want)
				}
				return err
			})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestRefusedKeepsPlan: a job that was placed in a reservation, and postponed, keeps its plan
// after the reservation is removed, even if a pass makes plans again ahead of a later job. By
// then the request is refused, and must not be planned as if it asked for nothing.
func TestRefusedKeepsPlan(t *testing.T) {
	t.Parallel()
	db, clock := newDB(t)
	addNodes(t, db, "n", 2, 2)
	l := &line{t, db, clock}
	start := clock.t + 3000
	place := func() (id uint64) {
		l.do(func(tx *Tx) error {
			j, err := tx.Jobs().PlaceAt(placer.Request{Select: "1:ncpus=2", Walltime: 10 * time.Minute, User: "ann",
				Reservation: "kept"}, kernel.Instant(start))
			if err == nil {
				id = j.ID
			}
			return err
		})
		return id
	}
	l.do(func(tx *Tx) error {
		_, err := tx.Reservations().Add(ReserveSpec{Name: "kept", Nodes: []uint32{0, 1}, Start: kernel.Instant(start),
			End:    kernel.Instant(start + 7200),
			Access: placer.AccessList{{Subject: subject.User.Of("ann")}}})
		return err
	})
	late := place() // on node 0
	place()         // on node 1
	l.do(func(tx *Tx) error { return tx.Nodes().SetState(0, index.Down, "") })
	l.do(func(tx *Tx) error {
		_, err := tx.Reservations().Remove("kept")
		return errors.Join(err, tx.Nodes().SetState(0, index.Up, ""))
	})
	clock.t = start + 100
	l.submit(2, 20*time.Minute) // one runs on node 0, the other is planned
	l.do(func(tx *Tx) error {
		_, err := tx.Jobs().Submit(Submission{Request: placer.Request{Select: "1:ncpus=2", Walltime: time.Minute},
			Priority: 1})
		if err == nil {
			// it lifts the later plan; another depth has all plans looked at
			_, err = tx.Cycle().Run(CycleSpec{Depth: 2})
		}
		return err
	})
	err := db.View(func(tx *Tx) error {
		j, err := tx.Jobs().Get(late)
		if err == nil && (j.State != JobReserved || kernel.Unix(j.Start) != start+600 ||
			!slices.Equal(j.AllNodes(), []uint32{1})) {
			t.Errorf("job %d is %s at %d on %v, and was planned for %d on node 1", late, j.State, kernel.Unix(j.Start),
				j.AllNodes(), start+600)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if list := findings(t, db); len(list) > 0 {
		t.Errorf("%q", list)
	}
}
