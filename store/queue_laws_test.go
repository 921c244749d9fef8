package store

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/store/internal/row"
	"pgregory.net/rapid"
)

// lawLife is a random life of a queue in which the laws of decisions hold after each cycle: see
// verify. Nothing is compared with another implementation of the rules, so the laws hold whatever
// the way in which a cycle decides.
type lawLife struct {
	*rapid.T
	db       *DB
	clock    *clock
	backfill string
	nodes    int
	jobs     uint64
}

func (l *lawLife) do(what string, fn func(*Tx) error) {
	if err := l.db.Update(fn); err != nil && !isRefusal(err) {
		l.Fatalf("%s at %d: %v", what, l.clock.t, err)
	}
}

func (l *lawLife) draw(what string, from, to int) int {
	return rapid.IntRange(from, to).Draw(l.T, what)
}

func (l *lawLife) request() placer.Request {
	r := placer.Request{Select: fmt.Sprintf("%d:ncpus=%d", l.draw("chunks", 1, 2), l.draw("cpus", 1, 4)), Walltime: time.Duration(l.draw("walltime", 1, 30)) * time.Minute,
		User: rapid.SampledFrom([]string{"ann", "bob", "eve"}).Draw(l.T, "user")}
	if l.draw("pool", 0, 3) == 0 {
		r.Pools = []placer.PoolAmount{{Pool: "lic", Amount: 1}}
	}
	return r
}

func (l *lawLife) submit() {
	s := Submission{Request: l.request(), Priority: int64(l.draw("priority", 0, 3)), Array: rapid.SampledFrom([]int{0, 0, 0, 3}).Draw(l.T, "array")}
	if l.draw("depends", 0, 4) == 0 && l.jobs > 0 {
		s.After = []Dependency{{When: When(l.draw("when", 1, 4)), Job: uint64(l.draw("on", 1, int(l.jobs)))}}
	}
	if l.draw("begins", 0, 6) == 0 {
		s.Begin = instant(l.clock.t + int64(l.draw("begin", 1, 1200)))
	}
	l.do("submit", func(tx *Tx) error { _, err := tx.Submit(s); l.jobs = tx.state.NextJob - 1; return err })
}

func (l *lawLife) step() {
	switch l.draw("step", 0, 9) {
	case 0, 1, 2:
		l.submit()
	case 3:
		r, in := l.request(), time.Duration(l.draw("in", 0, 900))*time.Second
		l.do("place", func(tx *Tx) error {
			_, err := tx.PlaceAt(r, tx.Now().Add(in))
			l.jobs = tx.state.NextJob - 1
			return err
		})
	case 4, 5:
		n := l.draw("which", 0, 9)
		l.do("done", func(tx *Tx) error {
			var running []uint64
			err := tx.EachJob(func(j *Job) error { running = append(running, j.ID); return nil }, JobRunning)
			if err == nil && len(running) > 0 {
				_, err = tx.Finish(running[n%len(running)], 0, "")
			}
			return err
		})
	case 6:
		node, state := uint32(l.draw("node", 0, l.nodes-1)), rapid.SampledFrom([]index.State{index.Up, index.Up, index.Down, index.Drained}).Draw(l.T, "state")
		l.do("node", func(tx *Tx) error { return tx.SetNodeState(node, state, "") })
	case 7:
		if l.jobs == 0 {
			return
		}
		id, hold := uint64(l.draw("job", 1, int(l.jobs))), rapid.Bool().Draw(l.T, "hold")
		l.do("hold", func(tx *Tx) (err error) {
			if hold {
				_, err = tx.Hold(id, "")
			} else {
				_, err = tx.Unhold(id)
			}
			return err
		})
	default:
		l.clock.t += int64(l.draw("seconds", 1, 900))
	}
}

// TestQueueLaws: over random lives, with limits, a pool, arrays, dependencies, jobs placed at
// an instant, nodes that go down and come back, early ends and overdue jobs, the laws of verify
// hold after each cycle.
func TestQueueLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		db, clock := newDB(t)
		defer db.Close()
		l := &lawLife{T: rt, db: db, clock: clock, backfill: rapid.SampledFrom([]string{"easy", "fcfs", "conservative"}).Draw(rt, "backfill"), nodes: rapid.IntRange(1, 4).Draw(rt, "nodes")}
		addNodes(t, db, "n", l.nodes, 4)
		l.do("settings", func(tx *Tx) error {
			err := errors.Join(tx.Configure("backfill", l.backfill), tx.Pools().Set(Pool{Name: "lic", Amount: 1}, true))
			if l.backfill == "easy" {
				err = errors.Join(err, tx.Configure("depth", fmt.Sprint(l.draw("depth", 1, 3))))
			}
			if rapid.Bool().Draw(rt, "finish") {
				err = errors.Join(err, tx.Configure("overdue", "finish"))
			}
			for range l.draw("limits", 0, 2) {
				err = errors.Join(err, tx.Limits().Set(Limit{Key: rapid.SampledFrom([]string{"user:*", "user:ann", "all"}).Draw(rt, "key"),
					Measure: rapid.SampledFrom([]string{"running", "ncpus"}).Draw(rt, "measure"), Max: int64(l.draw("max", 0, 6))}))
			}
			return err
		})
		for range l.draw("rounds", 2, 8) {
			for range l.draw("steps", 1, 6) {
				l.step()
			}
			l.cycle()
		}
		if list := findings(t, db); len(list) > 0 {
			rt.Fatalf("%q", list)
		}
	})
}

// cycle makes a cycle and verifies what it has decided.
func (l *lawLife) cycle() {
	was := make(map[uint64]JobState)
	l.do("cycle", func(tx *Tx) error {
		err := tx.EachJob(func(j *Job) error { was[j.ID] = j.State; return nil })
		if err == nil {
			_, err = tx.Cycle(CycleSpec{})
		}
		return err
	})
	err := l.db.DryRun(func(tx *Tx) error { return l.verify(tx, was) })
	if err != nil {
		l.Fatalf("at %d under %s: %v", l.clock.t, l.backfill, err)
	}
	err = l.db.DryRun(l.foretold)
	if err != nil {
		l.Fatalf("at %d under %s: %v", l.clock.t, l.backfill, err)
	}
}

// verify states the laws: (1) no plan of a job in the queue lies on a node that is not up.
// (2) No job waits that could start now beside all plans, claims and jobs; under first come, first
// served this is said of the first in the queue. (3) Nor could one have started in
// place of one behind it that this cycle has started.
func (l *lawLife) verify(tx *Tx, was map[uint64]JobState) error {
	line, err := tx.waiting().line()
	if err != nil {
		return err
	}
	var started []*row.Job
	err = tx.eachJob(func(j *row.Job) error {
		if j.Queued && was[j.ID] == JobQueued {
			started = append(started, j)
		}
		return nil
	}, JobRunning)
	if err != nil {
		return err
	}
	before := func(a, b *row.Job) bool {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.ID, b.ID)) < 0
	}
	blocked := false
	for _, j := range line {
		if j.State == JobReserved {
			for _, n := range j.AllNodes() {
				if _, state, err := tx.loaded.nodes.Head(n); state != index.Up || err != nil {
					return errors.Join(err, fmt.Errorf("job %d is planned on node %d, which is %s", j.ID, n, state))
				}
			}
		}
		if waitsFor, err := tx.waiting().ready(j); waitsFor != "" || err != nil || j.Begin > tx.now || l.backfill == "fcfs" && blocked {
			continue
		}
		blocked = true
		if starts, err := couldStart(tx, j); starts || err != nil {
			return errors.Join(err, fmt.Errorf("job %d waits (%s at %d), and could start now", j.ID, j.State, j.Start))
		}
		for _, s := range started {
			followed := slices.ContainsFunc(j.After, func(d row.Dependency) bool { return was[d.Job].Live() && was[d.Job] != JobRunning })
			if followed || !before(j, s) {
				continue // its turn came when this one had started
			}
			spans, err := tx.allocations().spans(s)
			if err == nil {
				err = tx.allocations().leave(s)
			}
			if err != nil {
				return err
			}
			starts, err := couldStart(tx, j)
			if starts || err != nil {
				return errors.Join(err, fmt.Errorf("job %d has started, and job %d before it could have in its place", s.ID, j.ID))
			}
			if err := tx.allocations().occupyAgain(s, spans, s.State); err != nil {
				return err
			}
		}
	}
	return nil
}

// couldStart reports whether a job could start now, if it had no plan or claim of its own.
func couldStart(tx *Tx, j *row.Job) (starts bool, err error) {
	a, err := tx.askOf(j)
	if err != nil {
		return false, err
	}
	snap, err := tx.snapshot(j.Queue)
	if err != nil {
		return false, err
	}
	if j.State == JobReserved {
		spans, err := tx.allocations().spans(j)
		if err == nil {
			err = tx.allocations().leave(j)
		}
		if err != nil {
			return false, err
		}
		defer func() { err = errors.Join(err, tx.allocations().occupyAgain(j, spans, j.State)) }()
	}
	return starts, tx.counters().Rules.Unclaimed(j.ID, func() error {
		_, err := snap.Place(a, tx.now)
		starts = err == nil
		return passRefusal(err)
	})
}

func passRefusal(err error) error {
	if isRefusal(err) {
		return nil
	}
	return err
}

// foretold: where nothing else happens a job with a plan starts no later than it says, each job
// running for its walltime.
func (l *lawLife) foretold(tx *Tx) error {
	plans, ahead := make(map[uint64]int64), true
	line, err := tx.waiting().line()
	for _, j := range line {
		if ahead = ahead && j.State == JobReserved; ahead { // a job without a plan may be put before those behind it
			plans[j.ID] = j.Start
		}
		waitsFor, errReady := tx.waiting().ready(j)
		if errReady != nil || waitsFor != "" || j.Begin > tx.now { // it may come before others then
			return err
		}
	}
	if err != nil {
		return err
	}
	overdue := false
	err = tx.EachJob(func(j *Job) error { overdue = overdue || j.End.Unix() <= l.clock.t; return nil }, JobRunning)
	if err != nil || overdue {
		return err
	}
	list, err := Play(tx, CycleSpec{}, instant(l.clock.t+1e6))
	for _, p := range list {
		if plan, planned := plans[p.Job]; planned && (p.Start.IsZero() || p.Start.Unix() > plan) {
			return fmt.Errorf("job %d is planned for %d, and starts at %d", p.Job, plan, p.Start.Unix())
		}
	}
	return err
}

// TestShareLaws: on an empty cluster of nodes of one processor, where each class has more jobs
// than it may have nodes, each starts what it is entitled to; and where some have less, no node
// stays idle.
func TestShareLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		db, _ := newDB(t)
		defer db.Close()
		n := rapid.IntRange(1, 12).Draw(rt, "nodes")
		addNodes(t, db, "n", n, 1)
		s := new(fairshare.Settings)
		classes := []string{"a", "b", "c"}[:rapid.IntRange(2, 3).Draw(rt, "classes")]
		for _, c := range classes {
			s.Loads = append(s.Loads, fairshare.ClassLoad{Class: c, Load: rapid.IntRange(1, 9).Draw(rt, "load")})
		}
		s.Default = "a"
		setShares(t, db, s)
		waiting := make(map[string]int)
		backfill := rapid.SampledFrom([]Backfill{EASY, Conservative}).Draw(rt, "backfill")
		running, wants := make(map[string]int), make(map[string]int)
		err := db.Update(func(tx *Tx) error {
			for _, c := range classes {
				waiting[c] = rapid.IntRange(0, 2*n).Draw(rt, "jobs")
				for range waiting[c] {
					r := placer.Request{Select: "1:ncpus=1", Class: c, User: "ann", Walltime: time.Duration(rapid.IntRange(1, 9).Draw(rt, "walltime")) * time.Minute}
					if _, err := tx.Submit(Submission{Request: r, Priority: int64(rapid.IntRange(0, 2).Draw(rt, "priority"))}); err != nil {
						return err
					}
				}
			}
			state, err := tx.ShareState()
			if err != nil {
				return err
			}
			plan, err := new(fairshare.Planner).Plan(state)
			if err != nil {
				return err
			}
			for _, c := range plan.Classes {
				wants[c.Name] = c.Start
			}
			_, err = tx.Cycle(CycleSpec{Backfill: backfill})
			return errors.Join(err, tx.EachJob(func(j *Job) error { running[j.Class]++; return nil }, JobRunning))
		})
		if err != nil {
			rt.Fatal(err)
		}
		for _, c := range classes {
			if running[c] != wants[c] {
				rt.Fatalf("class %s runs %d, and class plan says %d: %v wait", c, running[c], wants[c], waiting)
			}
		}
	})
}
