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
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/recur"
	"github.com/placectl/placectl/placer/subject"
	"pgregory.net/rapid"
)

// queueMemory is a random life of a queue beside reservations that admit some jobs, for a part
// of their time or all of it. What cycles remember must make no difference: one that has
// forgotten everything decides the same. If place would start a waiting job, the cycle has
// started it.
type queueMemory struct {
	t     *rapid.T
	clock *clock
	db    *DB
	jobs  uint64 // how many there are
}

// errDry undoes what a transaction has tried.
var errDry = errors.New("only tried")

func newQueueMemory(t *rapid.T, path string) *queueMemory {
	q := &queueMemory{t: t, clock: &clock{t: 1_000_000}}
	opt := &Options{Now: q.clock.now}
	settings := map[string][]string{
		"overdue": {"keep", "finish"}, "chunk_fit": {"first", "exact"}, "group_key": {"", "rack"},
		"set_delay": {"forever", "0", "700"},
		"access":    {"shared", "shared", "singleuser", "singlejob"},
	}
	err := Create(path, opt, func(tx *Tx) error {
		if err := tx.Config().AddResource(index.Def{Name: "rack", Type: index.String}); err != nil {
			return err
		}
		defs, err := tx.Config().Resources()
		if err != nil {
			return err
		}
		rack, _ := defs.Lookup("rack")
		for i := range 5 {
			n := &index.Node{Name: fmt.Sprintf("n%d", i)}
			n.Set(index.NCPUs, index.Value{Num: int64(2 + i%2*2)})
			n.Set(rack.ID, index.Value{Str: fmt.Sprintf("r%d", i/2)})
			if _, err := tx.Nodes().Put(n); err != nil {
				return err
			}
		}
		for _, name := range []string{"overdue", "chunk_fit", "group_key", "set_delay", "access"} {
			if err := tx.Config().Set(name, rapid.SampledFrom(settings[name]).Draw(t, name)); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		q.db, err = Open(path, opt)
	}
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// update changes the database. A refused change changes nothing.
func (q *queueMemory) update(what string, fn func(tx *Tx) error) {
	err := q.db.Update(fn)
	if err != nil && !errors.Is(err, errDry) && !kernel.IsRefusal(err) {
		q.t.Fatalf("%s: %v", what, err)
	}
}

func (q *queueMemory) request(t *rapid.T) placer.Request {
	return placer.Request{
		Select: rapid.SampledFrom([]string{"1:ncpus=1", "2:ncpus=1", "3:ncpus=2", "1:ncpus=4", "4:ncpus=1",
			"1:ncpus=3+1:ncpus=1"}).Draw(t, "select"),
		Place: rapid.SampledFrom([]string{"free", "scatter", "pack", "scatter:excl", "scatter:excl", "excl"}).Draw(t,
			"place"),
		// few walltimes, so that requests are equal
		Walltime: time.Duration(rapid.SampledFrom([]int{100, 600, 600, 1500}).Draw(t, "walltime")) * time.Second,
		User:     rapid.SampledFrom([]string{"ann", "bob"}).Draw(t, "user"),
		Name:     rapid.SampledFrom([]string{"", "", "x"}).Draw(t, "name"),
		Policy: rapid.SampledFrom([]string{"", "", "lastavailable", "cpuload", "priority", "contiguous"}).Draw(t,
			"policy"),
		Reservation: rapid.SampledFrom([]string{"", "", "", "a", "s"}).Draw(t, "reservation"),
	}
}

func (q *queueMemory) submit(t *rapid.T) {
	s := Submission{Request: q.request(t), Array: rapid.SampledFrom([]int{0, 0, 2, 3}).Draw(t, "array"),
		Priority: int64(rapid.SampledFrom([]int{0, 0, 0, 5, -5}).Draw(t, "priority"))}
	if rapid.IntRange(0, 9).Draw(t, "begins") == 0 {
		s.Begin = kernel.Instant(q.clock.t + int64(rapid.IntRange(1, 1500).Draw(t, "begin")))
	}
	if q.jobs > 0 && rapid.IntRange(0, 9).Draw(t, "depends") == 0 {
		s.After = []Dependency{{When: When(rapid.IntRange(1, 4).Draw(t, "when")),
			Job: rapid.Uint64Range(1, q.jobs).Draw(t, "on")}}
	}
	q.update("submit", func(tx *Tx) error {
		_, err := tx.Jobs().Submit(s)
		return err
	})
	q.count()
}

func (q *queueMemory) count() {
	q.jobs = 0
	if err := q.db.View(func(tx *Tx) error { q.jobs = tx.k.State.NextJob - 1; return nil }); err != nil {
		q.t.Fatal(err)
	}
}

func (q *queueMemory) place(t *rapid.T) {
	r := q.request(t)
	q.update("place", func(tx *Tx) error { _, err := tx.Jobs().PlaceOrReserve(r); return err })
	q.count()
}

// change ends jobs, and takes some out of the queue for a while.
func (q *queueMemory) change(t *rapid.T) {
	if q.jobs == 0 {
		t.Skip("no jobs")
	}
	id := rapid.Uint64Range(1, q.jobs).Draw(t, "job")
	what := rapid.IntRange(0, 4).Draw(t, "what")
	q.update("change", func(tx *Tx) (err error) {
		switch what {
		case 0:
			_, err = tx.Jobs().Hold(id, "")
		case 1:
			_, err = tx.Jobs().Unhold(id)
		case 2:
			_, err = tx.Jobs().Requeue(id, "")
		default:
			_, err = tx.Jobs().Finish(id, 0, "")
		}
		return err
	})
}

func (q *queueMemory) reserve(t *rapid.T) {
	s := ReserveSpec{Name: rapid.SampledFrom([]string{"a", "b", "s"}).Draw(t, "name"),
		Start: kernel.Instant(q.clock.t + int64(rapid.IntRange(0, 1000).Draw(t, "start"))),
		Limit: kernel.Lasting(int64(rapid.SampledFrom([]int{0, 90, 300, 300}).Draw(t, "limit"))),
		Nodes: rapid.SliceOfNDistinct(rapid.Uint32Range(0, 4), 1, 5, rapid.ID[uint32]).Draw(t, "nodes")}
	if rapid.Bool().Draw(t, "all nodes") {
		s.Nodes, s.Start = []uint32{0, 1, 2, 3, 4}, kernel.Instant(q.clock.t)
	}
	s.End = s.Start.Add(kernel.Lasting(int64(rapid.IntRange(1, 2500).Draw(t, "length"))))
	id := rapid.Uint64Range(1, q.jobs+3).Draw(t, "job")
	for _, a := range []placer.AccessEntry{{Subject: subject.User.Of("ann")},
		{Subject: subject.User.Of("bob")},
		{Subject: subject.Job.Of("x")}, {Subject: subject.Job.Of(fmt.Sprint(id))},
		{Subject: subject.Job.Of(fmt.Sprintf("%d[1-2]", id))},
		{Subject: subject.Job.Of(fmt.Sprintf("%d[]", id))}} {
		if rapid.IntRange(0, 2).Draw(t, "allow "+a.Name) == 0 {
			a.Affinity = placer.Affinity(rapid.IntRange(-1, 1).Draw(t, "affinity"))
			s.Access = append(s.Access, a)
		}
	}
	if s.Name == "s" {
		s.Repeat, s.Depth = recur.Repeat{Rule: "FREQ=HOURLY"}, 2
	}
	q.update("reserve", func(tx *Tx) error { _, err := tx.Reservations().Add(s); return err })
}

func (q *queueMemory) unreserve(t *rapid.T) {
	name := rapid.SampledFrom([]string{"a", "b", "s"}).Draw(t, "name")
	q.update("unreserve", func(tx *Tx) error { _, err := tx.Reservations().Remove(name); return err })
}

func (q *queueMemory) node(t *rapid.T) {
	n, state := rapid.Uint32Range(0, 4).Draw(t, "node"), index.State(rapid.IntRange(0, 2).Draw(t, "state"))
	q.update("node", func(tx *Tx) error { return tx.Nodes().SetState(n, state, "") })
}

// pass lets time pass: a random time, or until a reservation begins, ends, or is as short as
// the part of it that a job may use.
func (q *queueMemory) pass(t *rapid.T) {
	to := []int64{q.clock.t + int64(rapid.SampledFrom([]int{1, 50, 210, 600, 1400}).Draw(t, "seconds"))}
	err := q.db.View(func(tx *Tx) error {
		return tx.k.Reservations().Each(func(r *row.Reservation) error {
			for _, at := range []int64{r.Start, r.End, r.End - r.Limit} {
				if at > q.clock.t {
					to = append(to, at)
				}
			}
			return nil
		})
	})
	if err != nil {
		q.t.Fatal(err)
	}
	q.clock.t = rapid.SampledFrom(to).Draw(t, "to")
	if rapid.Bool().Draw(t, "writer") {
		q.update("pass", func(tx *Tx) error { tx.k.Dirty = true; return nil })
	}
}

// quiet lets nothing happen for a while except that time passes.
func (q *queueMemory) quiet(t *rapid.T) {
	for range 3 {
		q.agrees(CycleSpec{})
		q.pass(t)
	}
	q.agrees(CycleSpec{})
}

func (q *queueMemory) cycle(t *rapid.T) {
	spec := CycleSpec{Backfill: Backfill(rapid.SampledFrom([]int{1, 1, 1, 2, 3, 4}).Draw(t, "backfill")),
		WidestFirst: rapid.IntRange(0, 3).Draw(t, "widest") == 0}
	if spec.Backfill == EASY {
		spec.Depth = rapid.IntRange(0, 3).Draw(t, "depth")
	}
	q.agrees(spec)
}

// agrees makes one cycle that has forgotten everything, undoes it, and makes it again with
// everything that earlier ones remember.
func (q *queueMemory) agrees(spec CycleSpec) {
	var answers, moved [2]string
	for i := range answers {
		q.update("cycle", func(tx *Tx) error {
			if i == 0 {
				tx.k.Loaded.Freed.Anywhere()
			}
			waited, plans, err := readyJobs(tx)
			if err != nil {
				return err
			}
			r, err := tx.Cycle().Run(spec)
			if err != nil {
				return err
			}
			had := func(j *Job) bool { return plans[j.ID] }
			moved[i] = fmt.Sprint(starts(slices.DeleteFunc(slices.Clone(r.Planned), func(j *Job) bool {
				return !had(j)
			})))
			planned := starts(slices.DeleteFunc(r.Planned, had))
			answers[i] = fmt.Sprintf("started %v, planned %v, finished %v, cancelled %v", starts(r.Started), planned,
				ids(r.Finished), ids(r.Cancelled))
			if i == 0 {
				return errDry
			}
			return q.placed(tx, spec, waited)
		})
	}
	// A plan that has moved may let others start earlier: one cycle finds that at once, the
	// other leaves it to the next.
	if moved[0] == moved[1] && answers[0] != answers[1] {
		q.t.Fatalf("%+v\nfrom nothing: %s\nremembering:  %s", spec, answers[0], answers[1])
	}
}

func starts(list []*Job) (out []string) {
	for _, j := range list {
		out = append(out, fmt.Sprintf("%d at %d on %v", j.ID, kernel.Unix(j.Start), j.AllNodes()))
	}
	return out
}

// readyJobs returns the jobs that may start now if they fit, and those that have plans.
func readyJobs(tx *Tx) (ready, plans map[uint64]bool, err error) {
	ready, plans = make(map[uint64]bool), make(map[uint64]bool)
	err = tx.k.EachJob(func(j *row.Job) error {
		plans[j.ID] = j.State == JobReserved
		waitsFor, err := jobs.Ready(tx.k, j)
		ready[j.ID] = waitsFor == "" && err == nil && j.Begin <= tx.k.Now && !slices.ContainsFunc(j.After, untold(tx))
		return nil
	}, JobQueued, JobReserved)
	return ready, plans, err
}

// untold returns a function that reports whether a dependency is on a job that has begun by
// the clock alone. A cycle may requeue such a job, and then those that depend on it wait, too.
func untold(tx *Tx) func(row.Dependency) bool {
	return func(d row.Dependency) bool {
		j, err := tx.k.Job(d.Job)
		return err == nil && j.ToLaunch()
	}
}

// placed verifies that place starts none of the jobs that could have had their turn and still
// wait.
func (q *queueMemory) placed(tx *Tx, spec CycleSpec, waited map[uint64]bool) error {
	if spec.Backfill == FCFS {
		return nil
	}
	return tx.k.EachJob(func(j *row.Job) error {
		if !waited[j.ID] {
			return nil
		}
		a, err := plan.AskOfJob(tx.k, j)
		if err != nil {
			if kernel.IsRefusal(err) {
				return nil
			}
			return err
		}
		if len(a.Chunks) > 1 && !a.Place.Exclusive() {
			return nil // it may fit because others have taken some room since its turn
		}
		snap, err := plan.Snapshot(tx.k, j.Queue)
		if err != nil {
			return err
		}
		if plan, err := snap.Place(a, tx.k.Now); err == nil {
			q.t.Fatalf("at %d after %+v: job %d waits, and place starts it on %v: %+v", tx.k.Now, spec, j.ID,
				plan.NodeNumbers(), j)
		} else if !kernel.IsRefusal(err) {
			return err
		}
		return nil
	}, JobQueued)
}

func (q *queueMemory) holds(*rapid.T) {
	if err := q.db.Check(func(f string) { q.t.Error(f) }); err != nil {
		q.t.Fatal(err)
	}
}

// TestQueueMemory runs random lives.
func TestQueueMemory(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		q := newQueueMemory(rt, t.TempDir()+"/q.db")
		defer q.db.Close()
		rt.Repeat(map[string]func(*rapid.T){
			"submit": q.submit, "submit more": q.submit, "submit yet more": q.submit, "cycle": q.cycle,
			"cycle more": q.cycle, "quiet": q.quiet, "quiet more": q.quiet,
			"place": q.place, "change": q.change, "reserve": q.reserve, "reserve more": q.reserve,
			"unreserve": q.unreserve, "node": q.node,
			"pass": q.pass, "pass more": q.pass, "": q.holds,
		})
	})
}
