package engine

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/timeline"
	"pgregory.net/rapid"
)

// A scene is what a transaction sees after time has passed for it.
type scene struct {
	jobs         map[uint64]*Job
	reservations map[string]*Reservation
	nodes        map[uint32][]timeline.Busy
	events       []Event // that are not in the file yet
	from         uint64  // the number of the latest event before them
}

func sceneOf(tx *Tx, from uint64) (*scene, error) {
	s := &scene{jobs: make(map[uint64]*Job), reservations: make(map[string]*Reservation),
		nodes: make(map[uint32][]timeline.Busy), from: from}
	if err := tx.Jobs().Each(func(j *Job) error { s.jobs[j.ID] = j; return nil }); err != nil {
		return nil, err
	}
	if err := tx.Reservations().Each(func(r *Reservation) error {
		s.reservations[r.Name] = r
		return nil
	}); err != nil {
		return nil, err
	}
	for n := range uint32(5) {
		if list := tx.k.Calendar().At(n); len(list) > 0 {
			s.nodes[n] = slices.Clone(list)
		}
	}
	return s, tx.EachEvent(from, func(ev *Event) (bool, error) {
		ev.ID = 0
		s.events = append(s.events, *ev)
		return true, nil
	})
}

// without returns a scene without what concerns some owners.
func (s *scene) without(owners map[uint64]bool) *scene {
	out := &scene{jobs: make(map[uint64]*Job), reservations: make(map[string]*Reservation),
		nodes: make(map[uint32][]timeline.Busy), from: s.from}
	gone := make(map[string]bool)
	for id, j := range s.jobs {
		if !owners[row.JobOwner(id)] {
			out.jobs[id] = j
		}
	}
	for name, r := range s.reservations {
		if gone[name] = owners[row.ReservationOwner(r.ID)]; !gone[name] {
			out.reservations[name] = r
		}
	}
	for n, list := range s.nodes {
		list = slices.DeleteFunc(slices.Clone(list), func(b timeline.Busy) bool { return owners[b.Owner] })
		if len(list) > 0 {
			out.nodes[n] = list
		}
	}
	for _, ev := range s.events {
		if ev.Job != 0 && !owners[row.JobOwner(ev.Job)] ||
			ev.Job == 0 && !(ev.Event == "reservation" && gone[ev.Reason.String()]) {
			out.events = append(out.events, ev)
		}
	}
	return out
}

// passes lets time pass and compares what a reader and a writer see of it. The reader searches
// for no nodes and calls no program. The writer sees the same, except for jobs that are late
// to the reader, for plans behind them, and for occurrences of reservations whose nodes need a
// search.
func (q *queueLife) passes(t *rapid.T, dir string) {
	q.clock.t += int64(rapid.IntRange(0, 2500).Draw(t, "seconds"))
	calls := 0
	reader, err := Open(dir+"/0.db", &Options{Now: q.clock.now, Local: func(list []Candidate) []string {
		calls++
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	var read, written *scene
	err = reader.View(func(tx *Tx) (err error) {
		if calls > 0 {
			t.Fatalf("the site's program was called %d times while time passed", calls)
		}
		read, err = sceneOf(tx, tx.RecordedEvents())
		return err
	})
	if err == nil {
		err = q.dbs[0].DryRun(func(tx *Tx) (err error) {
			written, err = sceneOf(tx, read.from)
			return err
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	open := make(map[uint64]bool) // what is for a writer to decide
	for id, j := range read.jobs {
		if j.State != JobLate {
			continue
		}
		if open[row.JobOwner(id)] = true; !j.Start.IsZero() || !j.End.IsZero() || len(j.AllNodes()) > 0 ||
			j.Reason.String() == "" {
			t.Fatalf("job %d is late: %+v", id, j)
		}
		if is := written.jobs[id]; is.State == JobLate || is.State == JobReserved &&
			kernel.Unix(is.Start) <= q.clock.t {
			t.Fatalf("job %d was late, and a writer leaves it as %+v", id, is)
		}
	}
	for id, j := range read.jobs {
		if len(open) > 0 && j.Queued && j.State == JobReserved { // plans behind a late one are made again, too
			open[row.JobOwner(id)] = true
		}
	}
	for name, r := range written.reservations {
		if read.reservations[name] == nil && r.Series != "" {
			open[row.ReservationOwner(r.ID)] = true
		}
	}
	diff := cmp.Diff(written.without(open), read.without(open), cmp.AllowUnexported(scene{}))
	if diff != "" {
		t.Fatalf("at %d (-writer +reader)\n%s", q.clock.t, diff)
	}
	_ = q.both("settle", func(tx *Tx) (any, error) { return nil, tx.Config().Set("default_walltime", "3600") })
}

// TestPassing: a reader decides nothing while time passes, whatever was planned.
func TestPassing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		q := newQueueLife(rt, dir)
		q.local = true
		_ = q.both("policy", func(tx *Tx) (any, error) { return nil, tx.Config().Set("policy", "local") })
		rt.Repeat(map[string]func(*rapid.T){
			"submit": q.submit, "change": q.change, "reserve": q.reserve, "unreserve": q.unreserve, "down": q.down,
			"place": func(t *rapid.T) {
				q.place(t)
				q.submitted = lastIn(q.snapshot())
			},
			"cycle": func(t *rapid.T) {
				spec := CycleSpec{Backfill: Backfill(rapid.IntRange(1, 4).Draw(t, "backfill")),
					Silent: rapid.Bool().Draw(t, "silent")}
				_ = q.both("cycle", func(tx *Tx) (any, error) { _, err := tx.Cycle().Run(spec); return nil, err })
			},
			"pass": func(t *rapid.T) { q.passes(t, dir) },
		})
		for _, db := range q.dbs {
			db.Close()
		}
	})
}

// TestPassingSearchesNothing: a reservation whose nodes need a search gets its next occurrence at
// the next write; one with fixed nodes has it at once.
func TestPassingSearchesNothing(t *testing.T) {
	db, c := newDB(t)
	addNodes(t, db, "n", 2, 2)
	err := db.Update(func(tx *Tx) error {
		given := everyMinute(tx, "given", 0)
		found := everyMinute(tx, "found", 0)
		found.Nodes, found.Request = nil, wholeNodes(1, 30e9)
		if _, err := tx.Reservations().Add(given); err != nil {
			return err
		}
		_, err := tx.Reservations().Add(found)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	c.t += 59
	want := "[found.2 of found given.2 of given given.3 of given]"
	if got := fmt.Sprint(reservedNames(t, db)); got != want {
		t.Errorf("a reader sees %s, want %s", got, want)
	}
	if err := db.Update(func(tx *Tx) error { return tx.Config().Set("default_walltime", "60") }); err != nil {
		t.Fatal(err)
	}
	want = "[found.2 of found found.3 of found given.2 of given given.3 of given]"
	if got := fmt.Sprint(reservedNames(t, db)); got != want {
		t.Errorf("after a writer there are %s, want %s", got, want)
	}
}
