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
	"github.com/placectl/placectl/internal/queue"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"pgregory.net/rapid"
)

// TestExplainHoldsTrue: in random lives of a queue, explain says what placing a request then
// does, and what would help it. What explain says of jobs is what the next cycle does.
func TestExplainHoldsTrue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		q := newQueueLife(rt, t.TempDir())
		_ = q.both("a queue", func(tx *Tx) (any, error) {
			n := &index.Node{Name: "f0", Queue: "fast"}
			n.Set(index.NCPUs, index.Value{Num: 3})
			_, err := tx.Nodes().Put(n)
			return nil, errors.Join(tx.Queues().Add(Queue{Name: "fast"}), err)
		})
		impossible := func(t *rapid.T) {
			s := Submission{Request: placer.Request{Select: rapid.SampledFrom([]string{"1:ncpus=9", "40:ncpus=1"}).Draw(
				t, "much"), User: "ann"}}
			_ = q.both("submit", func(tx *Tx) (any, error) { _, err := tx.Jobs().Submit(s); return nil, err })
			q.submitted++
		}
		rt.Repeat(map[string]func(*rapid.T){
			"submit": q.submit, "submit more": q.submit, "impossible": impossible, "change": q.change, "cycle": q.cycle,
			"place": func(t *rapid.T) { q.place(t); q.submitted = lastIn(q.snapshot()) }, "reserve": q.reserve,
			"unreserve": q.unreserve, "down": q.down, "pass": q.pass,
			"requests": q.requestsAsSaid, "jobs": q.jobsAsSaid, "jobs again": q.jobsAsSaid, "": q.holds,
		})
		for _, db := range q.dbs {
			db.Close()
		}
	})
}

// errBack ends a transaction that only tried something.
var errBack = errors.New("all of it back")

// tried returns what fn would return, and undoes it.
func (q *queueLife) tried(fn func(tx *Tx) error) (err error) {
	if back := q.dbs[1].Update(func(tx *Tx) error {
		err = fn(tx)
		return errBack
	}); !errors.Is(back, errBack) {
		q.t.Fatal(back)
	}
	return err
}

func (q *queueLife) placed(r placer.Request, at int64) error {
	return q.tried(func(tx *Tx) error {
		_, err := tx.Jobs().PlaceAt(r, kernel.Instant(at))
		return err
	})
}

// requestsAsSaid explains a request and does what it says.
func (q *queueLife) requestsAsSaid(t *rapid.T) {
	r := q.request(t)
	r.Queue = rapid.SampledFrom([]string{"", "", "fast"}).Draw(t, "queue")
	r.Select = rapid.SampledFrom([]string{r.Select, r.Select, "4:ncpus=2", "9:ncpus=1", "1:ncpus=4+1:ncpus=3",
		"1:ncpus=3:host=f0", "7:ncpus=2"}).Draw(t, "wider")
	var ex *Explained
	var now int64
	err := q.dbs[1].View(func(tx *Tx) (err error) {
		now = tx.k.Now
		ex, err = tx.Ask().Explain(r, placer.Explain{})
		return err
	})
	if kernel.IsRefusal(err) {
		return
	}
	if err != nil {
		q.t.Fatal(err)
	}
	what := fmt.Sprintf("%+v, said to start %s", r, ex.Verdict)
	err = q.placed(r, now)
	absent := errors.Is(err, placer.ErrAbsent)
	switch ex.Verdict {
	case placer.StartsNow:
		if err != nil {
			q.t.Fatalf("%s: %v", what, err)
		}
	case placer.NeverStarts:
		if !errors.Is(err, placer.ErrNever) {
			q.t.Fatalf("%s: %v", what, err)
		}
	default:
		if !errors.Is(err, placer.ErrNotNow) {
			q.t.Fatalf("%s: %v", what, err)
		}
		if (ex.Plan == nil) != absent {
			q.t.Fatalf("%s, and whether that time is known is %t: %v", what, ex.Plan != nil, err)
		}
		if absent {
			break // until nodes are back in service
		}
		if err := q.placed(r, ex.Plan.Start); err != nil {
			q.t.Fatalf("%s, at %d: %v", what, ex.Plan.Start, err)
		}
	}
	for i := range ex.Helps {
		h := &ex.Helps[i]
		start := now
		if ex.Verdict == placer.NeverStarts || absent {
			start = h.Start
		}
		if h.Change == placer.HelpResume {
			continue // it changes nodes, not the request
		}
		if err := q.placed(followed(r, h), start); err != nil {
			q.t.Fatalf("%s: with %s %s it was to start at %d: %v", what, h.Change, h.To, start, err)
		}
	}
}

// followed returns a request with the change that should help.
func followed(r placer.Request, h *placer.Help) placer.Request {
	switch h.Change {
	case "select":
		r.Select = h.To
	case "walltime":
		r.Walltime = time.Duration(h.Ask.Duration) * time.Second
	case "place":
		r.Place = h.To
	case "access":
		r.Access = h.To
	case "policy":
		r.Policy = h.To
	case "queue":
		r.Queue = h.To
	case "reservation":
		r.Reservation = ""
	}
	return r
}

// jobsAsSaid explains all waiting jobs, and makes a cycle.
func (q *queueLife) jobsAsSaid(t *rapid.T) {
	spec := CycleSpec{Backfill: rapid.SampledFrom([]Backfill{EASY, FCFS}).Draw(t, "backfill"), Silent: true}
	err := q.tried(func(tx *Tx) error {
		late, err := queue.OverdueJobs(tx.k)
		if err != nil || len(late) > 0 {
			return err // a cycle that ends them, or moves plans for them, is another matter
		}
		said := make(map[uint64]*Queueing)
		var placed []*row.Job
		look, err := tx.Ask().Outlook()
		if err != nil {
			return err
		}
		last := uint64(0) // of those that are planned, the number of places in the queue up to it
		if err := tx.k.EachJob(func(j *row.Job) error {
			s, err := look.Queueing(j)
			switch said[j.ID] = s; {
			case j.State != JobReserved:
			case j.Queued:
				last = max(last, uint64(s.Place))
			default:
				placed = append(placed, j)
			}
			return err
		}, JobHeld, JobQueued, JobReserved); err != nil {
			return err
		}
		calm := tx.k.State.Invalidations == tx.k.State.Planned
		r, err := tx.Cycle().Run(spec)
		if err != nil {
			return err
		}
		for _, was := range placed {
			is, err := tx.k.Job(was.ID)
			if err != nil || is.Start != was.Start || !slices.Equal(is.NodeNumbers(), was.NodeNumbers()) {
				return err // a plan that was put off is made before those of the queue, and takes or leaves nodes
			}
		}
		never := neverIDs(r)
		for id, s := range said {
			j, err := tx.Jobs().Get(id)
			if err != nil {
				return err
			}
			started, behind := j.State == JobRunning, uint64(s.Place) > last
			what := fmt.Sprintf("%s: job %d, said to wait for %q (%s), place %d behind %v, start %v, now %d, is "+
				"%s from %v on", spec.Backfill, id, s.Wait, s.Reason,
				s.Place, s.Before, s.Start, tx.k.Now, j.State, j.Start)
			switch s.Wait {
			case WaitsJob:
				// The job it waited for may have been cancelled, or have started in the same
				// cycle.
				row, err := tx.k.Job(id)
				if err != nil {
					return err
				}
				waitsFor, err := jobs.Ready(tx.k, row)
				if started && len(r.Cancelled) == 0 && (waitsFor != "" || err != nil || !s.Start.IsZero() &&
					!s.Start.Equal(tx.Now())) {
					t.Fatal(what)
				}
			case WaitsNever, WaitsHeld, WaitsBegin:
				if started || s.Wait == WaitsNever && s.Place > 0 && j.State != JobCancelled && !slices.Contains(never,
					id) && spec.Backfill == EASY {
					t.Fatal(what)
				}
			case WaitsTurn:
				if !started && len(s.Before) == 0 && (spec.Backfill == EASY || last == 0) { // fcfs goes around no plan
					t.Fatal(what)
				}
			case WaitsRoom:
				if started && behind && (calm || last == 0) {
					t.Fatal(what)
				}
				if spec.Backfill == EASY && len(s.Before) == 0 && last == 0 && !s.Start.IsZero() &&
					(j.State != JobReserved || !j.Start.Equal(s.Start)) {
					t.Fatal(what)
				}
			}
		}
		return nil
	})
	if err != nil {
		q.t.Fatal(err)
	}
}
