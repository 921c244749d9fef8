package dispatch

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/keeper"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/fairshare"
)

var queues = flag.Int("queues", 40, "in how many random queues followers are compared with cycles")

// queue is a database whose nodes are this host and another one.
type queue struct {
	t    testing.TB
	path string
	now  *time.Time
	db   *engine.DB
	on   *DB
	last byte // of the nonces
}

func openQueue(t testing.TB, path string, now *time.Time) *queue {
	t.Helper()
	db, err := engine.Open(path, &engine.Options{Now: func() time.Time { return *now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return &queue{t: t, path: path, now: now, db: db,
		on: &DB{View: db.View, Update: func(fn func(*engine.Tx) error) error { return db.Update(fn) }, Path: path,
			Host: "here",
			UID:  os.Getuid(), Environ: func() []string { return nil }, Distrusts: func() string { return "" }}}
}

func newQueue(t testing.TB, cpus int) *queue {
	t.Helper()
	path := filepath.Join(t.TempDir(), "queue.db")
	now := time.Unix(1_700_000_000, 0)
	if err := engine.Create(path, &engine.Options{Now: func() time.Time { return now }}, nil); err != nil {
		t.Fatal(err)
	}
	q := openQueue(t, path, &now)
	q.do(func(tx *engine.Tx) error {
		for _, name := range []string{"here", "there"} {
			node := &index.Node{Name: name}
			node.Set(index.NCPUs, index.Value{Num: int64(cpus)})
			if _, err := tx.Nodes().Put(node); err != nil {
				return err
			}
		}
		return tx.Attempts().LaunchBy(engine.LaunchWork)
	})
	return q
}

func (q *queue) do(fn func(*engine.Tx) error) {
	q.t.Helper()
	if err := q.db.Update(fn); err != nil {
		q.t.Fatal(err)
	}
}

// copied returns a copy of the queue.
func (q *queue) copied() *queue {
	q.t.Helper()
	text, err := os.ReadFile(q.path)
	if err == nil {
		err = os.WriteFile(q.path+".copy", text, 0o600)
	}
	if err != nil {
		q.t.Fatal(err)
	}
	c := openQueue(q.t, q.path+".copy", q.now)
	c.do(func(tx *engine.Tx) error { _, err := tx.Adopt(true); return err })
	c.last = q.last
	return c
}

func (q *queue) submit(s engine.Submission) {
	q.t.Helper()
	s.Command = []string{"true"}
	q.do(func(tx *engine.Tx) error { _, err := tx.Jobs().Submit(s); return err })
}

// claim returns the claim of an attempt by a process here.
func (q *queue) claim(k keeper.Key) (engine.Claim, bool) {
	q.last++
	return engine.Claim{Job: k.Job, Attempt: k.Number, By: engine.BySupervisor, Nonce: engine.Nonce{q.last, 1},
		Process: engine.Process{Host: "here", Boot: "b", PID: 3}}, true
}

func (q *queue) cycle() (started []uint64) {
	q.t.Helper()
	q.do(func(tx *engine.Tx) error {
		started = nil
		r, err := tx.Cycle().Run(engine.CycleSpec{By: engine.BySupervisor})
		if err == nil {
			for _, j := range r.Started {
				started = append(started, j.ID)
			}
		}
		return err
	})
	return started
}

// running returns the attempts that are claimed, and those that wait for that.
func (q *queue) running() (claimed []*engine.Attempt, unclaimed []keeper.Key) {
	q.t.Helper()
	err := q.db.View(func(tx *engine.Tx) error {
		return tx.Jobs().Each(func(j *engine.Job) error {
			a, err := tx.Attempts().Get(j.ID, 0)
			switch {
			case err != nil:
				return err
			case a.State == engine.AttemptClaimed:
				claimed = append(claimed, a)
			default:
				unclaimed = append(unclaimed, keeper.Key{Job: j.ID, Number: a.Number})
			}
			return nil
		}, engine.JobRunning)
	})
	if err != nil {
		q.t.Fatal(err)
	}
	return claimed, unclaimed
}

func (q *queue) claimAll() {
	_, unclaimed := q.running()
	for _, k := range unclaimed {
		c, _ := q.claim(k)
		q.do(func(tx *engine.Tx) error { _, err := tx.Attempts().Claim(c); return err })
	}
}

func resultOf(a *engine.Attempt, exit int) *engine.Result {
	return &engine.Result{Job: a.Job, Attempt: a.Number, Nonce: a.Nonce, Outcome: engine.OutcomeExited, Exit: exit}
}

// plan describes each job: nodes, times and states.
func (q *queue) plan() string {
	var b strings.Builder
	err := q.db.View(func(tx *engine.Tx) error {
		return tx.Jobs().Each(func(j *engine.Job) error {
			fmt.Fprintf(&b, "%d %s %d-%d on %v, claimed %v, exit %d\n", j.ID, j.State, j.Start.Unix(), j.End.Unix(),
				j.AllNodes(), j.Claimed, j.Exit)
			return nil
		})
	})
	if err != nil {
		q.t.Fatal(err)
	}
	return b.String()
}

// overdue reports whether a job is past its end, so that a turn makes no cycle.
func (q *queue) overdue() (is bool) {
	q.t.Helper()
	if err := q.db.View(func(tx *engine.Tx) (err error) {
		is, err = tx.Cycle().Overdue()
		return err
	}); err != nil {
		q.t.Fatal(err)
	}
	return is
}

// startable counts the commits that may have let something start.
func (q *queue) startable() (is uint64) {
	q.t.Helper()
	if err := q.db.View(func(tx *engine.Tx) error { is = tx.Cycle().Startable(); return nil }); err != nil {
		q.t.Fatal(err)
	}
	return is
}

func always(*engine.Tx) (bool, error) { return true, nil }

// TestFollows: random queues have arrays, limits, classes and reservations, and jobs come meanwhile. The job
// that a supervisor goes on with is one that a separate cycle would start after the report, and all other
// jobs are where that cycle would leave them. For many more queues: -queues 20000.
func TestFollows(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	followed, cycled := 0, 0
	for range *queues {
		t.Run("", func(t *testing.T) {
			f, c := follows(t, r)
			followed, cycled = followed+f, cycled+c
		})
	}
	if t.Logf("%d followed, of %d ends", followed, cycled); followed == 0 || followed == cycled {
		t.Error("all jobs were followed, or none: the test compares nothing")
	}
}

// TestFollowsPriority: a job of a higher priority follows a job of an array that has ended, and the array
// goes on after it.
func TestFollowsPriority(t *testing.T) {
	q := newQueue(t, 1)
	one := engine.Submission{Request: placer.Request{Select: "1:ncpus=1:host=here", Walltime: time.Hour}, Array: 40}
	q.submit(one)
	q.cycle()
	q.claimAll()
	one.Priority, one.Array = 1, 0
	q.submit(one)
	q.on.Cycles = always
	for _, want := range []uint64{42, 3, 4} {
		claimed, _ := q.running()
		a, err := q.on.Turn(t.Context(), &keeper.Request{Ended: []*engine.Result{resultOf(claimed[0], 0)},
			Claim: q.claim})
		if err != nil || len(a.Orders) != 1 || a.Orders[0].Job != want {
			t.Fatalf("job %d follows: %v, %+v", want, err, a)
		}
	}
}

func follows(t *testing.T, r *rand.Rand) (followed, ends int) {
	q := newQueue(t, 1+r.IntN(4))
	users := []string{"ann", "bob"}
	q.do(func(tx *engine.Tx) error {
		var failed []error
		if r.IntN(3) == 0 {
			failed = append(failed,
				tx.Limits().Set(engine.Limit{Key: "user=*", Measure: "running", Max: int64(1 + r.IntN(3))}))
		}
		if r.IntN(4) == 0 {
			failed = append(failed,
				tx.Shares().Set(&fairshare.Settings{Default: "a", Loads: []fairshare.ClassLoad{{Class: "a", Load: 1},
					{Class: "b", Load: 2}}}))
		}
		if r.IntN(4) == 0 {
			from := q.now.Add(time.Duration(r.IntN(60)) * time.Minute)
			_, err := tx.Reservations().ReserveNodes("r", []uint32{uint32(r.IntN(2))}, from, from.Add(20*time.Minute))
			failed = append(failed, err)
		}
		failed = append(failed, tx.Config().Set("backfill", []string{"easy", "fcfs", "conservative"}[r.IntN(3)]))
		return errors.Join(failed...)
	})
	for range 2 + r.IntN(4) {
		q.submit(drawn(r, users))
	}
	q.cycle()
	for range 12 {
		q.claimAll()
		claimed, _ := q.running()
		if len(claimed) == 0 {
			break
		}
		if r.IntN(4) == 0 {
			q.submit(drawn(r, users))
		}
		*q.now = q.now.Add(time.Duration(r.IntN(300)) * time.Second)
		ended := resultOf(claimed[r.IntN(len(claimed))], r.IntN(2))
		apart, late := q.copied(), q.overdue()
		apart.do(func(tx *engine.Tx) error { _, err := tx.Attempts().Report(*ended); return err })
		var started []uint64
		if !late { // a turn without a cycle claims before the next cycle
			started = apart.cycle()
		}
		var asked []engine.Claim
		q.on.Cycles = always
		answer, err := q.on.Turn(t.Context(), &keeper.Request{Ended: []*engine.Result{ended},
			Claim: func(k keeper.Key) (engine.Claim, bool) {
				c, ok := q.claim(k)
				asked = append(asked, c)
				return c, ok
			}})
		if err != nil || answer.Reported[0] != nil {
			t.Fatalf("Turn = %+v, %v, want an accepted report", answer, err)
		}
		if len(answer.Orders) > 0 {
			followed++
		}
		var got []keeper.Key
		for _, o := range answer.Orders {
			got = append(got, o.Key)
		}
		var want []keeper.Key
		for _, c := range asked {
			err := apart.db.Update(func(tx *engine.Tx) error { _, err := tx.Attempts().Claim(c); return err })
			if err == nil {
				want = append(want, keeper.Key{Job: c.Job, Number: c.Attempt})
			} else if !errors.Is(err, engine.ErrConflict) { // for example, it began by the clock and its time is over
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("claimed jobs (-by a cycle after the report +by the turn)\n%s", diff)
		}
		apart.last = q.last
		if answer.Cycled == late {
			t.Fatalf("a cycle was made: %v, though a job is past its end: %v", answer.Cycled, late)
		}
		if late {
			started = apart.cycle()
			q.cycle()
		}
		if diff := cmp.Diff(apart.plan(), q.plan()); diff != "" {
			t.Fatalf("plans after the start of %v (-by a cycle +by the turn)\n%s", started, diff)
		}
		ends++
		apart.db.Close()
	}
	return followed, ends
}

// drawn draws a submission.
func drawn(r *rand.Rand, users []string) engine.Submission {
	s := engine.Submission{Request: placer.Request{Select: fmt.Sprintf("%d:ncpus=%d", 1+r.IntN(2), 1+r.IntN(2)),
		Walltime: time.Duration(1+r.IntN(30)) * time.Minute,
		User:     users[r.IntN(len(users))]}, Priority: int64(r.IntN(3))}
	if r.IntN(2) == 0 {
		// long arrays, which cycles count but do not read
		s.Select, s.Array = "1:ncpus=1", []int{2, 2, 40}[r.IntN(3)]+r.IntN(12)
	}
	return s
}

// TestTurn: a turn that cannot or should not make a cycle still reports. A late report is said to be late,
// and claims nothing. What a turn claims is executed here by our user.
func TestTurn(t *testing.T) {
	one := engine.Submission{Request: placer.Request{Select: "1:ncpus=1:host=here", Walltime: time.Hour}, Array: 3}
	for _, c := range []struct {
		name    string
		before  func(tx *engine.Tx) error
		cycles  func(*engine.Tx) (bool, error)
		refuse  bool // nothing that the cycle starts can be executed here now
		late    bool
		next    bool  // another attempt is claimed
		reports bool  // the end is reported
		fails   error // with this
	}{
		{name: "goes on", next: true, reports: true},
		{name: "no process runs the queue", cycles: func(*engine.Tx) (bool, error) { return false, nil },
			reports: true},
		{name: "health is looked at before",
			before: func(tx *engine.Tx) error { return tx.Config().Set("health", "/bin/true") }, reports: true},
		{name: "another process is at it", refuse: true, reports: true},
		{name: "the cycle fails", cycles: func(*engine.Tx) (bool, error) {
			return false, &engine.Conflict{What: "the order", Why: "it cannot be read"}
		}, fails: keeper.ErrNoTurn},
		{name: "late", late: true},
		{name: "on another host", before: func(tx *engine.Tx) error {
			return tx.Nodes().SetState(0, index.Drained,
				"")
		},
			reports: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := newQueue(t, 1)
			q.submit(one)
			q.cycle()
			q.claimAll()
			claimed, _ := q.running()
			if c.before != nil {
				q.do(c.before)
			}
			ended, startable := resultOf(claimed[0], 0), q.startable()
			if c.late {
				ended.Nonce = engine.Nonce{99}
			}
			if q.on.Cycles = always; c.cycles != nil {
				q.on.Cycles = c.cycles
			}
			answer, err := q.on.Turn(t.Context(), &keeper.Request{Ended: []*engine.Result{ended},
				Claim: func(k keeper.Key) (engine.Claim, bool) {
					if c.refuse {
						return engine.Claim{}, false
					}
					return q.claim(k)
				}})
			var order *keeper.Order
			if answer != nil && len(answer.Orders) > 0 {
				order = answer.Orders[0]
			}
			if !errors.Is(err, c.fails) || (order != nil) != c.next {
				t.Errorf("Turn = %v and the order %+v, want error %v, an order: %v", err, order, c.fails, c.next)
			}
			if err == nil && errors.Is(answer.Reported[0], engine.ErrConflict) != c.late {
				t.Errorf("the report's error is %v, want a conflict: %v", answer.Reported[0], c.late)
			}
			if c.fails == keeper.ErrNoTurn && errors.Is(err, engine.ErrConflict) {
				t.Error("a failed turn counts as an answer to the report:", err)
			}
			if c.next && (order.Key != keeper.Key{Job: 3, Number: 1} || len(order.Command) != 1 ||
				order.Payload == nil) {
				t.Errorf("the order is %+v", order)
			}
			if calls := c.reports && (answer == nil || !answer.Cycled); (q.startable() > startable) != calls {
				t.Errorf("another process is called to make a cycle: %v, want %v", !calls, calls)
			}
			var state engine.JobState
			if err := q.db.View(func(tx *engine.Tx) error {
				j, err := tx.Jobs().Get(claimed[0].Job)
				if err == nil {
					state = j.State
				}
				return err
			}); err != nil || (state == engine.JobFinished) != c.reports {
				t.Errorf("the job is %s, %v", state, err)
			}
		})
	}
}
