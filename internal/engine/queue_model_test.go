package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/placer/preempt"
	"github.com/placectl/placectl/placer/recur"
	"pgregory.net/rapid"
)

// queueModel lives a random life of a queue and states laws of what cycles decide, from the rows
// alone: plans lie on nodes that serve (plansServe), no window of a standing reservation is skipped
// (windowsKept), the order holds (orderHolds) and nothing startable waits (nothingIdle), plans are
// put off for a cause alone (plansStand), and forecasts come true (queue_model_play_test.go).
type queueModel struct {
	*rapid.T
	tt        *testing.T
	db        *DB
	clock     *clock
	backfill  Backfill
	nodes     int
	jobs      uint64
	classes   []string
	window    int64            // when the first window of the standing reservation begins; 0 if there is none
	unplanned map[uint64]bool  // jobs without the plan that they were promised
	cause     string           // why plans may be put off until the next cycle; "": for no cause
	plans     map[uint64]int64 // starts of plans in the queue after the last cycle
	then      int64            // when that was
	events    uint64           // the last that was looked at
	preempts  bool             // jobs make way for others
	arrays    []int            // sizes that are drawn from
	stats     *modelStats
}

// modelStats counts how often each law applied.
type modelStats struct{ cycles, again, ordered, idle, stood, played, lots, passed, promised, broken int }

const (
	windowEvery = 600
	windowFor   = 120
)

func newQueueModel(tt *testing.T, t *rapid.T, stats *modelStats) *queueModel {
	db, clock := newDB(tt)
	m := &queueModel{T: t, tt: tt, db: db, clock: clock,
		backfill: rapid.SampledFrom([]Backfill{EASY, EASY, FCFS, Conservative, Conservative, Relaxed, Relaxed}).Draw(t,
			"backfill"),
		nodes: rapid.IntRange(1, 4).Draw(t, "nodes"), stats: stats,
		arrays: []int{0, 0, 0, 3}}
	addNodes(tt, db, "n", m.nodes, 4)
	m.do("settings", func(tx *Tx) error {
		err := errors.Join(tx.Config().Set("backfill", m.backfill.String()),
			tx.Pools().Set(Pool{Name: "lic", Amount: 1}, true))
		if m.backfill == EASY {
			err = errors.Join(err, tx.Config().Set("depth", fmt.Sprint(m.draw("depth", 1, 3))))
		}
		if m.backfill == Relaxed {
			err = errors.Join(err, tx.Config().Set("slack", rapid.SampledFrom([]string{"0", "0.5", "1", "3"}).Draw(t,
				"slack")))
		}
		if m.oneIn(2, "finish") {
			err = errors.Join(err, tx.Config().Set("overdue", "finish"))
		}
		for range m.draw("limits", 0, 2) {
			err = errors.Join(err, tx.Limits().Set(m.limit()))
		}
		if m.oneIn(4, "shares") {
			m.classes = []string{"a", "b"}
			err = errors.Join(err,
				tx.Shares().Set(
					&fairshare.Settings{Default: "a",
						Loads: []fairshare.ClassLoad{{Class: "a", Load: m.draw("load", 1, 3)},
							{Class: "b", Load: m.draw("load", 0, 3)}}}))
		}
		if m.oneIn(4, "preemption") {
			m.preempts = true
			rule, errRule := preempt.Parse("user=ann over user=bob")
			rule.Grace = rapid.SampledFrom([]int64{preempt.OwnGrace, 0, 60}).Draw(t, "grace")
			err = errors.Join(err, errRule, tx.Preemption().Set(rule))
		}
		return err
	})
	if m.oneIn(3, "standing") {
		m.window = clock.t + windowEvery
		spec := ReserveSpec{Name: "night", Start: kernel.Instant(m.window),
			Repeat: recur.Repeat{Rule: "FREQ=MINUTELY;INTERVAL=10"}, Depth: 2}
		if m.oneIn(2, "of nodes") {
			spec.Nodes, spec.End = []uint32{0}, spec.Start.Add(windowFor*time.Second)
		} else {
			spec.Request = placer.Request{Select: "1:ncpus=4", Place: "excl", Walltime: windowFor * time.Second}
		}
		m.do("reserve", func(tx *Tx) error { _, err := tx.Reservations().Add(spec); return err })
	}
	return m
}

func (m *queueModel) draw(what string, from, to int) int {
	return rapid.IntRange(from, to).Draw(m.T, what)
}
func (m *queueModel) oneIn(n int, what string) bool { return m.draw(what, 1, n) == n }

// do makes a change, which may be refused, and verifies what is true at any instant.
func (m *queueModel) do(what string, fn func(*Tx) error) bool {
	err := m.db.Update(fn)
	if err != nil && !kernel.IsRefusal(err) && !errors.Is(err, ErrConflict) && !errors.Is(err, ErrNotFound) {
		m.Fatalf("%s at %d: %v", what, m.clock.t, err)
	}
	return err == nil
}

// holds verifies what is true at any instant, after any verb.
func (m *queueModel) holds(what string) {
	if err := m.db.DryRun(func(tx *Tx) error {
		return errors.Join(tx.plansServe(true), m.windowsKept(tx, what == "cycle"), m.overdue(tx))
	}); err != nil {
		m.told("after %s: %v", what, err)
	}
	if err := m.db.DryRun(func(tx *Tx) error { // as a writer leaves it: what the clock brings may open windows
		return errors.Join(tx.flush(), m.windowsTried(tx))
	}); err != nil {
		m.told("after %s: %v", what, err)
	}
}

func (m *queueModel) limit() Limit {
	return Limit{Key: rapid.SampledFrom([]string{"user=*", "user=ann", "all"}).Draw(m.T, "key"),
		Measure: rapid.SampledFrom([]string{"running", "ncpus"}).Draw(m.T, "measure"), Max: int64(m.draw("max", 0, 6))}
}

func (m *queueModel) request() placer.Request {
	r := placer.Request{Select: fmt.Sprintf("%d:ncpus=%d", m.draw("chunks", 1, 2), m.draw("cpus", 1, 4)),
		Walltime: time.Duration(m.draw("walltime", 1, 30)) * time.Minute,
		User:     rapid.SampledFrom([]string{"ann", "bob", "eve"}).Draw(m.T, "user")}
	if m.classes != nil {
		r.Class = rapid.SampledFrom(m.classes).Draw(m.T, "class")
	}
	if m.oneIn(4, "pool") {
		r.Pools = []placer.PoolAmount{{Pool: "lic", Amount: 1}}
	}
	return r
}

func (m *queueModel) submission() Submission {
	s := Submission{Request: m.request(), Priority: int64(m.draw("priority", 0, 3)),
		Array: rapid.SampledFrom(m.arrays).Draw(m.T, "array")}
	if s.Array > 0 && m.oneIn(3, "each") {
		for i := range s.Array {
			s.Each = append(s.Each, Element{Command: []string{"echo", fmt.Sprint(i)}, Line: strings.Repeat("x", i%3)})
		}
		s.Array = 0
	}
	if m.oneIn(5, "depends") && m.jobs > 0 {
		s.After = []Dependency{{When: When(m.draw("when", 1, 4)), Job: uint64(m.draw("on", 1, int(m.jobs)))}}
	}
	if m.oneIn(7, "begins") {
		s.Begin = kernel.Instant(m.clock.t + int64(m.draw("begin", 1, 1200)))
	}
	return s
}

// step does something other than a cycle.
func (m *queueModel) step() {
	m.stepOf(rapid.SampledFrom([]string{"submit", "submit", "submit", "place", "reserve", "done", "done", "node", "job",
		"limit", "time", "time"}).Draw(m.T, "step"))
}

func (m *queueModel) stepOf(what string) {
	switch what {
	case "submit":
		s := m.submission()
		m.do(what, func(tx *Tx) error { _, err := tx.Jobs().Submit(s); m.jobs = tx.k.State.NextJob - 1; return err })
	case "place":
		r, in := m.request(), time.Duration(m.draw("in", 0, 900))*time.Second
		m.do(what, func(tx *Tx) error {
			_, err := tx.Jobs().PlaceAt(r, tx.Now().Add(in))
			m.jobs = tx.k.State.NextJob - 1
			return err
		})
	case "reserve":
		node, from, length := uint32(m.draw("node", 0, m.nodes-1)), m.clock.t+int64(m.draw("from", 0, 1800)),
			int64(m.draw("length", 1, 900))
		m.do(what, func(tx *Tx) error {
			_, err := tx.Reservations().ReserveNodes(fmt.Sprint("r", from), []uint32{node}, kernel.Instant(from),
				kernel.Instant(from+length))
			return err
		})
	case "done":
		n := m.draw("which", 0, 9)
		m.do(what, func(tx *Tx) error {
			var running []uint64
			err := tx.Jobs().Each(func(j *Job) error { running = append(running, j.ID); return nil }, JobRunning)
			if err == nil && len(running) > 0 {
				_, err = tx.Jobs().Finish(running[n%len(running)], n%3/2, "")
			}
			return err
		})
	case "node":
		node, state := uint32(m.draw("node", 0, m.nodes-1)),
			rapid.SampledFrom([]index.State{index.Up, index.Up, index.Down, index.Drained, index.Offline}).Draw(m.T,
				"state")
		if state != index.Up {
			m.cause = "a node is lost"
		}
		m.do(what, func(tx *Tx) error { return tx.Nodes().SetState(node, state, "") })
	case "limit":
		m.cause = "a limit is set"
		l := m.limit()
		m.do(what, func(tx *Tx) error { return tx.Limits().Set(l) })
	case "job":
		if m.jobs == 0 {
			return
		}
		id, minutes := uint64(m.draw("job", 1, int(m.jobs))), time.Duration(m.draw("walltime", 1, 30))*time.Minute
		verb := rapid.SampledFrom([]string{"hold", "unhold", "cancel", "requeue", "extend", "alter"}).Draw(m.T, "verb")
		if verb == "extend" {
			m.cause = "a job is extended"
		}
		what = verb
		m.do(verb, func(tx *Tx) (err error) {
			switch verb {
			case "hold":
				_, err = tx.Jobs().Hold(id, "")
			case "unhold":
				_, err = tx.Jobs().Unhold(id)
			case "cancel":
				_, err = tx.Jobs().Cancel(id, "")
			case "requeue":
				_, err = tx.Jobs().Requeue(id, "")
			case "extend":
				_, err = tx.Jobs().Extend(id, minutes)
			default:
				_, err = tx.Jobs().Alter(id, Alteration{Walltime: &minutes})
			}
			return err
		})
		delete(m.plans, id)
	case "time":
		then := m.clock.t + int64(m.draw("seconds", 1, 900))
		for id, j := range m.snapshot() { // with no cycle to say so, it may have to run again
			if (j.State == JobReserved || j.State == JobRunning) && j.End <= then {
				m.cause = fmt.Sprintf("job %d comes to its end", id)
			}
		}
		m.clock.t = then
	}
	m.holds(what)
}

// TestQueueModel: the laws hold over random lives, after each step and each cycle. The lives
// have limits, a pool, shares, preemption, reservations that repeat or not, arrays,
// dependencies, jobs placed at an instant, nodes that go down and come back, early ends and
// overdue jobs. For many more lives use -run TestQueueModel -rapid.checks 5000.
func TestQueueModel(t *testing.T) {
	t.Parallel()
	stats := new(modelStats)
	rapid.Check(t, func(rt *rapid.T) {
		m := newQueueModel(t, rt, stats)
		defer m.db.Close()
		for range m.draw("rounds", 2, 7) {
			for range m.draw("steps", 1, 6) {
				m.step()
			}
			m.cycle()
		}
		if list := findings(t, m.db); len(list) > 0 {
			rt.Fatalf("%q", list)
		}
	})
	t.Logf("%+v", *stats)
}

// plansServe: no plan of a queued job, or of a placed one, is on a node that is not up.
func (tx *Tx) plansServe(queued bool) error {
	return tx.k.EachJob(func(j *row.Job) error {
		for _, n := range j.AllNodes() {
			if _, state, err := tx.k.Loaded.Nodes.Head(n); j.Queued == queued && (state != index.Up || err != nil) {
				return errors.Join(err, fmt.Errorf("job %d is planned on node %d, which is %s", j.ID, n, state))
			}
		}
		return nil
	}, JobReserved)
}

// windowsKept: each window of the standing reservation that is not over, up to the last that was
// looked at, and after a cycle up to the second, is there or is listed as missing. Each lasts as
// long as the first, on its nodes.
func (m *queueModel) windowsKept(tx *Tx, cycled bool) error {
	if m.window == 0 {
		return nil
	}
	s, err := tx.Reservations().Standing("night")
	if err != nil {
		return err
	}
	list, err := tx.Reservations().Occurrences("night")
	if err != nil {
		return err
	}
	for _, r := range list {
		if kernel.Unix(r.End)-kernel.Unix(r.Start) != windowFor || len(s.Nodes) > 0 && !slices.Equal(r.Nodes, s.Nodes) {
			return fmt.Errorf("an occurrence of %+v is %+v", s, r)
		}
	}
	at := m.window + max(0, (m.clock.t-m.window-windowFor+windowEvery)/windowEvery)*windowEvery
	for w := at; w <= kernel.Unix(s.Last) || cycled && w <= at+windowEvery; w += windowEvery {
		there := slices.ContainsFunc(list, func(r *Reservation) bool {
			return kernel.Unix(r.Start) >= w && kernel.Unix(r.Start) < w+windowFor
		})
		if !there && !slices.ContainsFunc(s.Missing, func(t time.Time) bool { return kernel.Unix(t) == w }) {
			return fmt.Errorf("the window at %d is neither an occurrence nor missing: %+v", w, s)
		}
	}
	return nil
}

// windowsTried: a missing window of the standing reservation is not available.
func (m *queueModel) windowsTried(tx *Tx) error {
	if m.window == 0 {
		return nil
	}
	s, err := tx.k.Reservations().Standing("night")
	if err != nil {
		return err
	}
	for _, at := range s.Missing {
		if had, err := (plan.Series{Tx: tx.k, Standing: s}).Try(at); had || err != nil {
			return errors.Join(err, fmt.Errorf("the window at %d is missing, and can be had", at))
		}
	}
	return nil
}

// told ends a life with a message, and shows the jobs as they are.
func (m *queueModel) told(format string, args ...any) {
	for id, j := range m.snapshot() {
		m.Logf("job %d: %s, %s priority %d, %s for %d, pools %v, after %v from %d, nodes %v from %d to %d, "+
			"queued %v: %s", id, j.State, j.User, j.Priority, j.Select, j.Walltime, j.Pools, j.After, j.Begin,
			j.AllNodes(), j.Start, j.End, j.Queued, j.Reason)
	}
	m.Fatalf("at %d under %s: %s", m.clock.t, m.backfill, fmt.Sprintf(format, args...))
}
