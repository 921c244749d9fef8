package engine

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"pgregory.net/rapid"
)

// queueLife is a random life of a queue, beside jobs placed by hand and reservations. It has
// users' actions, cycles of every kind, launches that fail, nodes that go down, clocks that
// jump, and files that are reopened. What must be true after each step is verified from the
// rows and events alone.
type queueLife struct {
	*life
	submitted uint64           // jobs that there must be
	told      map[uint64]bool  // running jobs whose launch was announced
	over      map[uint64]bool  // jobs that have ended
	relaxed   bool             // the last cycle was
	starts    map[uint64]int64 // plans as of the last step
	waited    map[uint64]bool  // jobs that had none, or whose start was not announced
	calm      bool             // nothing but the queue's own doing moves plans
}

func newQueueLife(t *rapid.T, dir string) *queueLife {
	plain := rapid.Bool().Draw(t, "plain nodes")
	q := &queueLife{life: newLifeOf(t, dir, plain), told: make(map[uint64]bool), over: make(map[uint64]bool),
		starts: make(map[uint64]int64)}
	if rapid.Bool().Draw(t, "finish") {
		_ = q.both("overdue", func(tx *Tx) (any, error) { return nil, tx.Config().Set("overdue", "finish") })
	}
	return q
}

func (q *queueLife) submit(t *rapid.T) {
	s := Submission{Request: q.request(t), Array: rapid.SampledFrom([]int{0, 0, 0, 2, 3}).Draw(t, "array"),
		Priority:  int64(rapid.SampledFrom([]int{0, 0, 0, 0, 5, -5}).Draw(t, "priority")),
		Hold:      rapid.IntRange(0, 9).Draw(t, "hold") == 0,
		NoRequeue: rapid.Bool().Draw(t, "no requeue")}
	s.Request.Reservation = ""
	if rapid.IntRange(0, 5).Draw(t, "begins") == 0 {
		s.Begin = kernel.Instant(q.clock.t + int64(rapid.IntRange(1, 1500).Draw(t, "begin")))
	}
	if rapid.IntRange(0, 7).Draw(t, "ends") == 0 {
		s.Deadline = kernel.Instant(max(kernel.Unix(s.Begin), q.clock.t) + kernel.Seconds(s.Walltime) +
			int64(rapid.IntRange(0, 1500).Draw(t, "deadline")))
	}
	if q.submitted > 0 && rapid.IntRange(0, 3).Draw(t, "depends") == 0 {
		s.After = []Dependency{{When: When(rapid.IntRange(1, 4).Draw(t, "when")),
			Job: rapid.Uint64Range(1, q.submitted).Draw(t, "on")}}
	}
	var last uint64
	err := q.both(fmt.Sprintf("submit %+v", s), func(tx *Tx) (any, error) {
		list, err := tx.Jobs().Submit(s)
		if err != nil {
			return nil, err
		}
		last = list[len(list)-1].ID
		return fmt.Sprint(list[0].ID, len(list)), nil
	})
	if err == nil {
		q.submitted = last
	}
}

// change does to a job what users and launchers do.
func (q *queueLife) change(t *rapid.T) {
	if q.submitted == 0 {
		t.Skip("no jobs")
	}
	id := rapid.Uint64Range(1, q.submitted).Draw(t, "job")
	what := rapid.SampledFrom([]string{"hold", "unhold", "cancel", "done", "done", "failed", "requeue",
		"launch failed"}).Draw(t, "what")
	_ = q.both(fmt.Sprintf("%s %d", what, id), func(tx *Tx) (any, error) {
		switch what {
		case "hold":
			return jobOrNil(tx.Jobs().Hold(id, ""))
		case "unhold":
			return jobOrNil(tx.Jobs().Unhold(id))
		case "cancel":
			return jobOrNil(tx.Jobs().Cancel(id, ""))
		case "failed":
			return jobOrNil(tx.Jobs().Finish(id, 1, ""))
		case "requeue":
			return jobOrNil(tx.Jobs().Requeue(id, ""))
		case "launch failed":
			j, err := tx.Jobs().Get(id)
			if err != nil || !j.Launched {
				return nil, err
			}
			return nil, tx.Attempts().LaunchEnded(id, errors.New("no such host"), 3)
		}
		return jobOrNil(tx.Jobs().Finish(id, 0, ""))
	})
	q.calm = q.calm && what != "unhold" && what != "requeue" && what != "launch failed"
}

// several runs some steps in one transaction, whether or not some of them are refused.
func (q *queueLife) several(more ...func(*rapid.T)) func(*rapid.T) {
	steps := append(more, q.submit, q.change, q.change, q.place, q.end, q.reserve, q.unreserve, q.down, q.drain,
		q.drain, q.cycleWithin)
	return func(t *rapid.T) {
		q.collects, q.collected, q.together = true, nil, ""
		defer func() { q.collects = false }() // also if a step is skipped
		for range rapid.IntRange(2, 4).Draw(t, "steps") {
			rapid.SampledFrom(steps).Draw(t, "step")(t)
		}
		q.collects = false
		_ = q.both("together"+q.together, func(tx *Tx) (any, error) {
			var answers []any
			for _, step := range q.collected {
				answer, err := step(tx)
				if errors.Is(err, ErrDamaged) {
					return nil, err
				}
				answers = append(answers, answer, err)
			}
			return fmt.Sprintf("%+v", answers), nil
		})
		q.calm = false
		all := q.snapshot()
		q.submitted = lastIn(all)
		for id, j := range all {
			q.told[id] = q.told[id] || j.State == JobRunning && j.Launched
		}
		q.forget()
	}
}

// drain does to a node what a host's report of a problem does.
func (q *queueLife) drain(t *rapid.T) {
	n := rapid.Uint32Range(0, 4).Draw(t, "node")
	_ = q.both(fmt.Sprintf("drain %d", n), func(tx *Tx) (any, error) {
		return nil, jobs.SetNodeState(tx.k, n, index.Drained, row.Because(row.CauseHealth, "no disk"))
	})
}

// cycleWithin makes a cycle among other steps.
func (q *queueLife) cycleWithin(t *rapid.T) {
	spec := CycleSpec{Backfill: Backfill(rapid.IntRange(1, 4).Draw(t, "backfill"))}
	_ = q.both("cycle "+spec.Backfill.String(), func(tx *Tx) (any, error) {
		r, err := tx.Cycle().Run(spec)
		if err != nil {
			return nil, err
		}
		return fmt.Sprint(ids(r.Started), ids(r.Launch), ids(r.Planned), ids(r.Cancelled)), nil
	})
	q.follows(spec)
}

func (q *queueLife) cycle(t *rapid.T) {
	spec := CycleSpec{Backfill: Backfill(rapid.IntRange(1, 4).Draw(t, "backfill")),
		WidestFirst: rapid.Bool().Draw(t, "widest"),
		Silent:      rapid.IntRange(0, 3).Draw(t, "silent") == 0}
	if spec.Backfill == EASY {
		spec.Depth = rapid.IntRange(0, 3).Draw(t, "depth")
	}
	q.follows(spec)
	most := rapid.IntRange(0, 20).Draw(t, "enough")
	var launch []*Job
	before := q.snapshot()
	_ = q.both(fmt.Sprintf("cycle %+v", spec), func(tx *Tx) (any, error) {
		left := most
		if left > 0 {
			spec.Enough = func() bool { left--; return left < 0 }
		}
		r, err := tx.Cycle().Run(spec)
		if err != nil {
			return nil, err
		}
		launch = r.Launch
		return fmt.Sprint(ids(r.Started), ids(r.Launch), ids(r.Planned), ids(r.Stopped), ids(r.Cancelled), neverIDs(r),
			ids(r.Finished), r.Waiting, r.Unreached), nil
	})
	for _, j := range launch {
		if q.told[j.ID] {
			q.t.Fatalf("job %d would be launched twice", j.ID)
		}
		if kernel.Unix(j.End) <= q.clock.t {
			q.t.Fatalf("job %d would be launched at %d, after its end: %+v", j.ID, q.clock.t, j)
		}
		q.told[j.ID] = true
	}
	if most == 0 {
		q.started(spec, before)
	}
}

func ids(list []*Job) (out []uint64) {
	for _, j := range list {
		out = append(out, j.ID)
	}
	return out
}

// neverIDs returns the jobs that a cycle says can never run, by number.
func neverIDs(r *CycleReport) (out []uint64) {
	for _, n := range r.Never {
		out = append(out, n.ID)
	}
	slices.Sort(out)
	return out
}

// snapshot returns all jobs as of now.
func (q *queueLife) snapshot() map[uint64]*row.Job {
	all := make(map[uint64]*row.Job)
	err := q.dbs[0].View(func(tx *Tx) error {
		return tx.k.EachJob(func(j *row.Job) error { all[j.ID] = j; return nil })
	})
	if err != nil {
		q.t.Fatal(err)
	}
	return all
}

// started verifies what a whole cycle has started and planned.
func (q *queueLife) started(spec CycleSpec, before map[uint64]*row.Job) {
	now := q.snapshot()
	var last *row.Job // the last in order that has started
	for _, id := range slices.Sorted(maps.Keys(now)) {
		j, was := now[id], before[id]
		if !j.Queued || was.State == j.State || j.State != JobRunning {
			continue
		}
		if j.Begin > q.clock.t || j.Deadline != 0 && j.End > j.Deadline || was.State == JobHeld {
			q.t.Fatalf("job %d has started, and must not: %+v", id, j)
		}
		if was.State == JobQueued && (last == nil || precedes(last, j)) {
			last = j
		}
		higher := func(o *row.Job) bool { return o.Queued && precedes(o, j) && o.Begin <= q.clock.t }
		passes, passesPlan := false, false
		for _, o := range now {
			passes = passes || higher(o) && (o.State == JobQueued || o.State == JobReserved)
			follows := slices.ContainsFunc(o.After, func(d row.Dependency) bool { return !metIn(before, d) })
			// that came into the queue in this cycle
			passesPlan = passesPlan || higher(o) && o.State == JobReserved && !follows
		}
		if j.Backfilled && !passes || !j.Backfilled && passesPlan && was.State == JobQueued && spec.Backfill == EASY {
			q.t.Fatalf("job %d has started before one that stands higher and waits: %v, it says %v", id, passes,
				j.Backfilled)
		}
		for _, d := range j.After {
			if !metIn(now, d) {
				q.t.Fatalf("job %d has started before %s was met", id, d)
			}
		}
	}
	for _, j := range now {
		waits := slices.ContainsFunc(j.After, func(d row.Dependency) bool {
			was, is := metIn(before, d), metIn(now, d)
			// the cycle has queued that job again, and perhaps started it
			again := startsIn(now, d.Job) != startsIn(before, d.Job)
			return !was || !is || again
		})
		if j.State != JobQueued || waits || j.Begin > q.clock.t || j.Reason.String() != "" || j.Never ||
			j.Deadline != 0 {
			continue
		}
		absent := false
		if err := q.dbs[0].View(func(tx *Tx) (err error) {
			absent, err = waitsForNodes(tx, j)
			return err
		}); err != nil {
			q.t.Fatal(err)
		}
		if absent {
			continue
		}
		if spec.Backfill == Conservative {
			q.t.Fatalf("after a conservative cycle job %d has no plan: %+v", j.ID, j)
		}
		if spec.Backfill == FCFS && last != nil && precedes(j, last) {
			q.t.Fatalf("job %d was passed by job %d", j.ID, last.ID)
		}
	}
}

// precedes returns the order of the queue.
func precedes(a, b *row.Job) bool {
	return a.Priority > b.Priority || a.Priority == b.Priority && a.ID < b.ID
}

// statesOf returns what every job waits for, or its state.
func statesOf(tx *Tx) string {
	var b strings.Builder
	_ = tx.Jobs().Each(func(j *Job) error { _, err := fmt.Fprintln(&b, j.ID, j.State, j.Start, j.Never); return err })
	return b.String()
}

// follows notes the kind of the next cycle: other kinds plan again what relaxed ones promise.
func (q *queueLife) follows(spec CycleSpec) {
	if q.relaxed != (spec.Backfill == Relaxed) {
		q.relaxed, q.starts = !q.relaxed, nil
	}
}

// settled makes cycles until nothing changes any more. Then one that has forgotten everything
// that earlier ones found out must not change anything either.
func (q *queueLife) settled(t *rapid.T) {
	spec := CycleSpec{Backfill: Backfill(rapid.IntRange(1, 4).Draw(t, "backfill"))}
	var never []uint64 // what the last cycle has reported
	told := false      // nothing has changed since it did
	q.follows(spec)
	cycle := func(tx *Tx) (any, error) {
		before := statesOf(tx)
		r, err := tx.Cycle().Run(spec)
		if err != nil {
			return nil, err
		}
		if statesOf(tx) != before { // for example a plan was given up, which is not announced
			return "changed", nil
		}
		if now := neverIDs(r); told && !slices.Equal(never, now) {
			q.t.Fatalf("the jobs that can never run were %v and are %v", never, now)
		} else {
			never = now
		}
		return fmt.Sprint(ids(r.Started), ids(r.Planned), ids(r.Cancelled)), nil
	}
	answer := ""
	for i := 0; answer != "[] [] []"; i++ {
		if i > 40 {
			q.t.Fatalf("cycles do not come to an end: %s", answer)
		}
		_ = q.both("cycle", func(tx *Tx) (any, error) {
			v, err := cycle(tx)
			answer = fmt.Sprint(v)
			return v, err
		})
	}
	told = true
	_ = q.both("cycle from nothing", func(tx *Tx) (any, error) {
		tx.k.Loaded.Freed.Anywhere()
		v, err := cycle(tx)
		if err == nil && v != "[] [] []" {
			q.t.Fatalf("%s: what was known kept this from happening: %v", spec.Backfill, v)
		}
		return v, err
	})
	for id, j := range q.snapshot() {
		if j.State == JobRunning {
			q.told[id] = q.told[id] || j.Launched
		}
	}
}

func (q *queueLife) holds(t *rapid.T) {
	q.life.holds(t)
	all := q.snapshot()
	for number := uint64(1); number <= q.submitted; number++ {
		if len(elementsIn(all, number)) == 0 {
			q.t.Fatalf("%d is neither a job nor an array, and %d numbers were given", number, q.submitted)
		}
	}
	states := make(map[uint64]string)
	err := q.dbs[0].View(func(tx *Tx) error {
		return tx.EachEvent(0, func(ev *Event) (bool, error) {
			if ev.Job == 0 {
				return true, nil
			}
			if states[ev.Job] != ev.Old {
				q.t.Fatalf("event %d: job %d was %q, not %q", ev.ID, ev.Job, states[ev.Job], ev.Old)
			}
			states[ev.Job] = ev.New
			return true, nil
		})
	})
	if err != nil {
		q.t.Fatal(err)
	}
	plans := make(map[uint64]int64)
	for id, j := range all {
		if states[id] != j.State.String() {
			q.t.Fatalf("job %d is %s, its events say %q", id, j.State, states[id])
		}
		if j.Queued && j.State == JobFinished && j.Reason.String() == "it ran to the end of its walltime" &&
			!q.told[id] && !q.over[id] {
			q.t.Fatalf("job %d has finished, though its launch was not announced: %+v", id, j)
		}
		if j.State != JobRunning {
			delete(q.told, id)
		}
		q.over[id] = !j.State.Live()
		if j.State == JobReserved && j.Queued {
			if then, had := q.starts[id]; had && q.calm && j.Start > then && id < q.firstPlaced(all) {
				q.t.Fatalf("the plan of job %d was put off from %d to %d", id, then, j.Start)
			}
			plans[id] = j.Start
		}
	}
	q.starts, q.waited = plans, make(map[uint64]bool)
	for id, j := range all {
		q.waited[id] = j.State == JobQueued || j.ToLaunch()
	}
}

// firstPlaced returns the first job in the queue that waited without a plan and has one now,
// or runs. It may take the place of later jobs.
func (q *queueLife) firstPlaced(all map[uint64]*row.Job) uint64 {
	first := uint64(math.MaxUint64)
	for id, j := range all {
		if q.waited[id] && (j.State == JobReserved || j.State == JobRunning) {
			first = min(first, id)
		}
	}
	return first
}

// TestQueueLife runs random lives.
func TestQueueLife(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		q := newQueueLife(rt, t.TempDir())
		placed := func(t *rapid.T) {
			q.place(t)
			q.submitted = lastIn(q.snapshot())
		}
		rt.Repeat(map[string]func(*rapid.T){
			"submit": q.submit, "submit more": q.submit, "change": q.change, "change more": q.change, "cycle": q.cycle,
			"cycle more": q.cycle,
			"settled":    q.settled, "place": placed, "reserve": q.reserve, "unreserve": q.unreserve, "down": q.down,
			"pass": q.pass, "several": q.several(), "": q.holds,
		})
		for _, db := range q.dbs {
			db.Close()
		}
	})
}

// TestPlansStand: while nodes stay up, no job runs late and all have one priority, a cycle
// never postpones a plan made by a cycle of its kind. That is true whatever is submitted after
// it or placed beside it.
func TestPlansStand(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		q := &queueLife{life: newLifeOf(rt, t.TempDir(), rapid.Bool().Draw(rt, "plain nodes")),
			told: make(map[uint64]bool), over: make(map[uint64]bool), starts: make(map[uint64]int64), calm: true}
		_ = q.both("overdue", func(tx *Tx) (any, error) { return nil, tx.Config().Set("overdue", "finish") })
		submit := func(t *rapid.T) {
			s := Submission{Request: q.request(t)}
			s.Request.Reservation = ""
			_ = q.both("submit", func(tx *Tx) (any, error) { _, err := tx.Jobs().Submit(s); return nil, err })
			q.submitted++
		}
		rt.Repeat(map[string]func(*rapid.T){
			"submit": submit, "submit more": submit, "cycle": q.cycle, "cycle more": q.cycle,
			"place": func(t *rapid.T) { q.place(t); q.submitted = lastIn(q.snapshot()) },
			"end": func(t *rapid.T) {
				if q.submitted > 0 {
					id := rapid.Uint64Range(1, q.submitted).Draw(t, "job")
					_ = q.both("done", func(tx *Tx) (any, error) { return jobOrNil(tx.Jobs().Finish(id, 0, "")) })
				}
			},
			"pass": func(t *rapid.T) {
				q.clock.t += int64(rapid.IntRange(1, 800).Draw(t, "seconds"))
				_ = q.both("settle", func(tx *Tx) (any, error) {
					return nil, tx.Config().Set("default_walltime", "3600")
				})
			},
			"": q.holds,
		})
		for _, db := range q.dbs {
			db.Close()
		}
	})
}

// TestCycleByHand has one case for each rule of the order.
func TestCycleByHand(t *testing.T) {
	hour := time.Hour
	type want map[uint64]string // a job's state and, if it has one, its start in minutes from now
	for _, c := range []struct {
		name   string
		spec   CycleSpec
		submit []Submission
		want   want
	}{
		{"fcfs stops at the first that does not fit", CycleSpec{Backfill: FCFS},
			[]Submission{{Request: wholeNodes(2, hour)}, {Request: wholeNodes(4, hour)},
				{Request: wholeNodes(1, hour)}},
			want{1: "running 0", 2: "queued", 3: "queued"}},
		{"easy plans the head and fills in around it", CycleSpec{},
			[]Submission{{Request: wholeNodes(2, hour)}, {Request: wholeNodes(4, hour)}, {Request: wholeNodes(1, hour)},
				{Request: wholeNodes(1, 2*hour)}, {Request: wholeNodes(1, hour/2)}},
			want{1: "running 0", 2: "reserved 60", 3: "running 0", 4: "queued", 5: "running 0"}},
		{"depth plans the first so many", CycleSpec{Depth: 2},
			[]Submission{{Request: wholeNodes(4, hour)}, {Request: wholeNodes(4, hour)}, {Request: wholeNodes(4, hour)},
				{Request: wholeNodes(4, hour)}},
			want{1: "running 0", 2: "reserved 60", 3: "reserved 120", 4: "queued"}},
		{"conservative plans all", CycleSpec{Backfill: Conservative},
			[]Submission{{Request: wholeNodes(3, hour)}, {Request: wholeNodes(2, hour)}, {Request: wholeNodes(3, hour)},
				{Request: wholeNodes(1, hour)}},
			want{1: "running 0", 2: "reserved 60", 3: "reserved 120", 4: "running 0"}},
		{"priority goes first", CycleSpec{},
			[]Submission{{Request: wholeNodes(4, hour)}, {Request: wholeNodes(3, hour), Priority: 1},
				{Request: wholeNodes(1, 2*hour), Priority: -1}},
			want{1: "reserved 60", 2: "running 0", 3: "queued"}},
		{"a job that can never run blocks no other", CycleSpec{Backfill: FCFS},
			[]Submission{{Request: wholeNodes(5, hour)}, {Request: wholeNodes(4, hour)}},
			want{1: "queued", 2: "running 0"}},
		{"a job may wait for its hour", CycleSpec{Backfill: Conservative},
			[]Submission{{Request: wholeNodes(1, hour), Begin: kernel.Instant(1_000_000 + 1800)},
				{Request: wholeNodes(4, hour)}},
			want{1: "reserved 30", 2: "reserved 90"}},
		{"its hour may be this one", CycleSpec{},
			[]Submission{{Request: wholeNodes(1, hour), Begin: kernel.Instant(1_000_000)}}, want{1: "running 0"}},
		{"a job may end at its deadline", CycleSpec{},
			[]Submission{{Request: wholeNodes(4, hour)},
				{Request: wholeNodes(4, hour), Deadline: kernel.Instant(1_000_000 + 7200)}},
			want{1: "running 0", 2: "reserved 60"}},
		{"widest first", CycleSpec{WidestFirst: true},
			[]Submission{{Request: wholeNodes(1, hour)}, {Request: wholeNodes(4, hour)}, {Request: wholeNodes(2, hour)},
				{Request: wholeNodes(3, hour)}},
			want{1: "running 0", 2: "reserved 60", 3: "queued", 4: "running 0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			db, _ := newDB(t)
			addNodes(t, db, "n", 4, 1)
			err := db.Update(func(tx *Tx) error {
				for _, s := range c.submit {
					if _, err := tx.Jobs().Submit(s); err != nil {
						return err
					}
				}
				if _, err := tx.Cycle().Run(c.spec); err != nil {
					return err
				}
				return tx.Jobs().Each(func(j *Job) error {
					got := j.State.String()
					if !j.Start.IsZero() {
						got += fmt.Sprint(" ", (kernel.Unix(j.Start)-tx.k.Now)/60)
					}
					if got != c.want[j.ID] {
						t.Errorf("job %d is %s, want %s", j.ID, got, c.want[j.ID])
					}
					return nil
				})
			})
			if err != nil {
				t.Fatal(err)
			}
			if list := findings(t, db); len(list) > 0 {
				t.Error(list)
			}
		})
	}
}

// A job that is cancelled before its planned start has never started, and had no nodes.
func TestCancelPlanned(t *testing.T) {
	db, _ := newDB(t)
	addNodes(t, db, "n", 1, 1)
	err := db.Update(func(tx *Tx) error {
		for range 2 {
			if _, err := tx.Jobs().Submit(Submission{Request: wholeNodes(1, time.Hour)}); err != nil {
				return err
			}
		}
		if _, err := tx.Cycle().Run(CycleSpec{}); err != nil {
			return err
		}
		if j, err := tx.Jobs().Get(2); err != nil || j.State != JobReserved || len(j.AllNodes()) != 1 {
			t.Errorf("%+v, %v", j, err)
		}
		_, err := tx.Jobs().Cancel(2, "")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(func(tx *Tx) error {
		j, err := tx.Jobs().Get(2)
		if err == nil && (j.State != JobCancelled || !j.Start.IsZero() || len(j.AllNodes()) != 0) {
			t.Errorf("%s, start %v, nodes %v", j.State, j.Start, j.AllNodes())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// For a limit on what jobs have left, in cpus times seconds, an extended job counts with all
// that it has left then, not only with the extension.
func TestExtendUnderLeft(t *testing.T) {
	db, _ := newDB(t)
	addNodes(t, db, "n", 1, 2)
	err := db.Update(func(tx *Tx) error {
		if err := tx.Limits().Set(Limit{Key: "all", Measure: "ncpus.left", Max: 1400}); err != nil {
			return err
		}
		_, err := tx.Jobs().Place(placer.Request{Select: "1:ncpus=2", Walltime: 200 * time.Second})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		seconds int
		want    error
	}{{701, ErrConflict}, {900, ErrConflict}, {700, nil}} {
		err := db.Update(func(tx *Tx) error {
			_, err := tx.Jobs().Extend(1, time.Duration(c.seconds)*time.Second)
			return err
		})
		if !errors.Is(err, c.want) {
			t.Errorf("%d s: %v, want %v", c.seconds, err, c.want)
		}
	}
}

// wholeNodes returns a request for n whole nodes.
func wholeNodes(n int, walltime time.Duration) placer.Request {
	return placer.Request{Select: fmt.Sprintf("%d:ncpus=1", n), Place: "scatter:excl", Walltime: walltime}
}
