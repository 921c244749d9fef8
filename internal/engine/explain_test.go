package engine

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
)

// explainStore returns a store of four nodes, one of them of a queue, with a job for an hour
// on two.
func explainStore(t *testing.T) (*DB, *clock) {
	t.Helper()
	c := &clock{t: 1_000_000}
	opt := &Options{Now: c.now}
	path := t.TempDir() + "/explain.db"
	err := Create(path, opt, func(tx *Tx) error {
		if err := tx.Queues().Add(Queue{Name: "fast"}); err != nil {
			return err
		}
		if err := tx.Queues().Add(Queue{Name: "idle"}); err != nil {
			return err
		}
		for i := range 4 {
			n := &index.Node{Name: fmt.Sprintf("n%d", i)}
			if i == 3 {
				n.Queue = "fast"
			}
			n.Set(index.NCPUs, index.Value{Num: 2})
			if _, err := tx.Nodes().Put(n); err != nil {
				return err
			}
		}
		_, err := tx.Jobs().Place(placer.Request{Select: "2:ncpus=2", Place: "scatter:excl", Walltime: time.Hour})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	db, err := Open(path, opt)
	if err != nil {
		t.Fatal(err)
	}
	return db, c
}

// TestExplainOtherQueues: a queue with nodes of its own is tried, and one that is equivalent
// to no queue is not.
func TestExplainOtherQueues(t *testing.T) {
	db, _ := explainStore(t)
	r := placer.Request{Select: "2:ncpus=1", Place: "scatter:excl"}
	err := db.View(func(tx *Tx) error {
		ex, err := tx.Ask().Explain(r, placer.Explain{})
		if err != nil {
			return err
		}
		if ex.Verdict != placer.StartsLater || ex.Plan.Start != tx.k.Now+3600 ||
			!slices.Equal(ex.WaitsFor, []Owner{{Job: 1}}) {
			t.Errorf("%s, %+v, waits for %v", ex.Verdict, ex.Plan, ex.WaitsFor)
		}
		one := r
		one.Queue, one.Select = "fast", "2:ncpus=1"
		if ex, err = tx.Ask().Explain(one, placer.Explain{}); err != nil {
			return err
		}
		var changes []string
		for _, h := range ex.Helps {
			changes = append(changes, h.Change+" "+h.To)
		}
		if want := []string{"select 1:ncpus=1", "place free:excl", "queue "}; ex.Verdict != placer.NeverStarts ||
			!slices.Equal(changes, want) {
			t.Errorf("%s, helps %q, want %q", ex.Verdict, changes, want)
		}
		one.Queue = "none"
		if _, err := tx.Ask().Explain(one, placer.Explain{}); !errors.Is(err, ErrNotFound) {
			t.Errorf("no such queue: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestExplainJob explains jobs that run, are planned, are overdue, wait and have ended.
func TestExplainJob(t *testing.T) {
	db, c := explainStore(t)
	var planned *Job
	err := db.Update(func(tx *Tx) (err error) {
		planned, err = tx.Jobs().PlaceOrReserve(placer.Request{Select: "3:ncpus=2", Place: "scatter:excl",
			Walltime: time.Hour})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	explained := func(id uint64) *Explained {
		t.Helper()
		var ex *Explained
		if err := db.View(func(tx *Tx) (err error) {
			ex, err = tx.Ask().ExplainJob(id, placer.Explain{})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return ex
	}
	if ex := explained(1); ex.Explanation != nil || ex.Job.State != JobRunning || ex.Why == "" || len(ex.Ahead) > 0 {
		t.Errorf("the running job: %+v", ex)
	}
	ex := explained(planned.ID)
	if ex.Explanation != nil || !slices.Equal(ex.WaitsFor, []Owner{{Job: 1}}) || len(ex.Ahead) != 1 ||
		ex.Ahead[0].Job != 1 ||
		!slices.Equal(ex.Ahead[0].Nodes, []uint32{0, 1}) || ex.Ahead[0].Overdue {
		t.Errorf("the planned job: %+v", ex)
	}
	c.t += 7200 // job 1 is overdue, and the planned one late
	if ex = explained(planned.ID); ex.Job.State != JobLate || !ex.Job.Start.IsZero() || ex.Queue.Wait != WaitsLate ||
		!ex.Queue.Start.IsZero() || ex.Queue.Reason == "" {
		t.Errorf("the late job: %+v, %+v, %+v", ex, ex.Job, ex.Queue)
	}
	if err := db.Update(func(*Tx) error { return nil }); err != nil { // it plans the job anew
		t.Fatal(err)
	}
	if ex = explained(planned.ID); kernel.Unix(ex.Job.Start) <= c.t || ex.Job.Reason.String() == "" ||
		len(ex.Ahead) != 1 || !ex.Ahead[0].Overdue {
		t.Errorf("the job planned anew: %+v, %+v", ex, ex.Job)
	}
	waiting := uint64(77)
	err = db.Update(func(tx *Tx) error {
		if _, err := tx.Jobs().Release(1); err != nil {
			return err
		}
		j := new(row.Job)
		j.ID, j.State, j.Select, j.Place, j.Walltime, j.Submit = waiting, JobQueued, "4:ncpus=2", "scatter:excl", 60,
			tx.k.Now
		return jobs.PutJob(tx.k, j, 0)
	})
	if err != nil {
		t.Fatal(err)
	}
	if ex = explained(1); ex.Explanation != nil || ex.Job.State != JobFinished || ex.Why != "" {
		t.Errorf("the job that has ended: %+v", ex)
	}
	if ex = explained(waiting); ex.Explanation == nil || ex.Verdict != placer.NeverStarts || ex.Ask.Duration != 60 ||
		ex.Job.ID != waiting {
		t.Errorf("the waiting job: %+v", ex)
	}
	err = db.View(func(tx *Tx) error {
		_, err := tx.Ask().ExplainJob(99, placer.Explain{})
		return err
	})
	if !errors.Is(err, ErrNotFound) {
		t.Errorf("no such job: %v", err)
	}
}

// TestExplainAvoidedNodes: a job that could run only on a node that it avoids waits for room, not for
// its turn.
func TestExplainAvoidedNodes(t *testing.T) {
	s := newStory(t, "easy", "n1=1 n2=1")
	s.submit("A", "1:ncpus=1", 100, prio(1))
	s.submit("B", "1:ncpus=1", 100)
	s.cycle()
	s.want("A running 0 n1, B running 0 n2")
	s.submit("C", "1:ncpus=1", 100, prio(-1), func(x *Submission) { x.Array = 60 }) // too many for a reader to play
	s.do(func(tx *Tx) error { return tx.Attempts().LaunchEnded(s.ids["B"], errors.New("no such host"), 99) })
	err := s.db.View(func(tx *Tx) error {
		look, err := tx.Ask().Outlook()
		if err != nil {
			return err
		}
		j, err := tx.Jobs().Get(s.ids["B"])
		if err != nil {
			return err
		}
		if p, err := look.Prospect(j); err != nil || p.Wait != WaitsRoom {
			t.Errorf("it waits for %q, %q: %v", p.Wait, p.Reason, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
