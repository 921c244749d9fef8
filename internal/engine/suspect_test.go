package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
)

// suspectLife is a node that gets one job after the other.
type suspectLife struct {
	t     *testing.T
	db    *DB
	clock *clock
	jobs  uint64
}

func (l *suspectLife) update(fn func(tx *Tx) error) {
	l.t.Helper()
	if err := l.db.Update(fn); err != nil {
		l.t.Fatal(err)
	}
}

// next makes a new job begin on the node n0.
func (l *suspectLife) next() uint64 {
	l.t.Helper()
	l.update(func(tx *Tx) error {
		list, err := tx.Jobs().Submit(
			Submission{Request: placer.Request{Select: "1:ncpus=1:vnode=n0", Walltime: time.Hour},
				Command: []string{"true"}})
		if err == nil {
			l.jobs = list[0].ID
			_, err = tx.Cycle().Run(CycleSpec{By: BySupervisor})
		}
		return err
	})
	return l.jobs
}

// report ends the present attempt of a job. It first claims the attempt unless the outcome is
// refused.
func (l *suspectLife) report(job uint64, r Result) {
	l.t.Helper()
	l.update(func(tx *Tx) error {
		j, err := tx.Jobs().Get(job)
		if err != nil {
			return err
		}
		r.Job, r.Attempt, r.Nonce = job, j.Attempt, Nonce{byte(job), byte(j.Attempt)}
		if r.Outcome != OutcomeRefused {
			c := Claim{Job: job, Attempt: j.Attempt, By: BySupervisor, Nonce: r.Nonce,
				Process: Process{Host: "n0", PID: 1}}
			if _, err := tx.Attempts().Claim(c); err != nil {
				return err
			}
		}
		_, err = tx.Attempts().Report(r)
		return err
	})
}

func (l *suspectLife) node() (index.State, string) {
	l.t.Helper()
	var n *index.Node
	if err := l.db.View(func(tx *Tx) (err error) { n, err = tx.Nodes().Get("n0"); return err }); err != nil {
		l.t.Fatal(err)
	}
	return n.State, n.Reason
}

// TestSuspectNodes: which refusals drain a node. A step is n for a refusal of a new job that is the
// node's fault, s for the same job's again, o for one without fault, j for the job's own fault, e
// for a new job that is executed, f for one that fails, u for one that certainly did not begin, l
// for a lost one, r for the node taken back, d for it drained by hand, h for a refusal because the
// node is not healthy, a number for so many minutes.
func TestSuspectNodes(t *testing.T) {
	for _, c := range []struct {
		steps   string
		drained string // why, "" if it is up
		set     string // settings
	}{
		{"nn", "", ""},
		{"nnn", "suspect: no room", ""},
		{"nsssss", "", ""},
		{"ooooo", "", ""},
		{"jjjjj", "", ""},
		{"nnenn", "", ""},
		{"nnfnn", "", ""},
		{"nnulon", "suspect: no room", ""},
		{"nnennn", "suspect: no room", ""},
		{"n 30 n 30 n", "", ""},
		{"n 30 n 29 n", "suspect: no room", ""},
		{"n 59 nn", "suspect: no room", ""},
		{"nn r n", "", ""},
		{"nnn r", "", ""},
		{"nnn r nn", "", ""},
		{"nn d r n", "", ""},
		{"h", "fan is broken", ""},
		{"h r nn", "", ""},
		{"nnd", "by hand", ""},
		{"n", "suspect: no room", "suspect_after=1"},
		{"nnnnnn", "", "suspect_after=0"},
		{"n 3 n 3 n", "", "suspect_window=5m"},
	} {
		t.Run(strings.ReplaceAll(c.steps, " ", "_")+c.set, func(t *testing.T) {
			db, clock := newDB(t)
			l := &suspectLife{t: t, db: db, clock: clock}
			addNodes(t, db, "n", 2, 64)
			if name, value, is := strings.Cut(c.set, "="); is {
				l.update(func(tx *Tx) error { return tx.Config().Set(name, value) })
			}
			l.play(c.steps)
			state, reason := l.node()
			if want := c.drained; (state == index.Drained) != (want != "") || want != "" && reason != want {
				t.Errorf("the node is %s: %q, want drained: %q", state, reason, want)
			}
			sound(t, db)
		})
	}
}

func (l *suspectLife) play(steps string) {
	refused := Result{Outcome: OutcomeRefused, Blame: BlameNode, Why: "no room"}
	state := func(s index.State, reason string) {
		l.update(func(tx *Tx) error { return tx.Nodes().SetState(0, s, reason) })
	}
	for _, word := range strings.Fields(steps) {
		minutes := 0
		if _, err := fmt.Sscan(word, &minutes); err == nil {
			l.clock.t += int64(60 * minutes)
			continue
		}
		for _, step := range word {
			r := refused
			switch step {
			case 's':
				job := l.jobs
				l.update(func(tx *Tx) error {
					if _, err := tx.Jobs().Unhold(job); err != nil {
						return err
					}
					_, err := tx.Cycle().Run(CycleSpec{By: BySupervisor})
					return err
				})
				l.report(job, refused)
				continue
			case 'r':
				state(index.Up, "")
				continue
			case 'd':
				state(index.Drained, "by hand")
				continue
			case 'o':
				r.Blame = BlameNobody
			case 'j':
				r.Blame = BlameJob
			case 'h':
				r.Blame, r.Why = BlameHealth, "fan is broken"
			case 'e', 'f':
				r = Result{Outcome: OutcomeExited, Exit: int(step - 'e')}
			case 'u':
				r = Result{Outcome: OutcomeUnbegun}
			case 'l':
				r = Result{Outcome: OutcomeLost}
			}
			l.report(l.next(), r)
		}
	}
}

// TestUnclaimedIsWhoseFault: an attempt that is not claimed in time is the host's
// fault, unless others' attempts are executed there. Then its user makes no passes, and the
// host is not at fault.
func TestUnclaimedIsWhoseFault(t *testing.T) {
	for _, claimer := range []string{"", "n0", "N0.lab.example"} { // "" for none
		db, clock := newDB(t)
		l := &suspectLife{t: t, db: db, clock: clock}
		addNodes(t, db, "n", 2, 64)
		l.update(func(tx *Tx) error { return tx.Attempts().LaunchBy(LaunchWork) })
		if claimer != "" {
			job := l.next()
			l.update(func(tx *Tx) error {
				_, err := tx.Attempts().Claim(Claim{Job: job, Attempt: 1, By: BySupervisor, Nonce: Nonce{1},
					Process: Process{Host: claimer, PID: 1}})
				return err
			})
		}
		for range 3 {
			l.next()
		}
		clock.t += 15 * 60
		l.update(func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{By: BySupervisor}); return err })
		others := claimer != ""
		if state, reason := l.node(); (state == index.Drained) == others || !others && !strings.HasPrefix(reason,
			"suspect: no process claimed it on n0 (for") {
			t.Errorf("executed there by %q; the node is %s: %s", claimer, state, reason)
		}
	}
}

// TestUnclaimed: a job that no process claims within claim_within is queued again, is never held, and gets
// another node at the next try only, if another could take it. A heartbeat of its host within a third of
// lost_after takes the blame off the node. PutBack does the same at once.
func TestUnclaimed(t *testing.T) {
	for name, c := range map[string]struct {
		request  string
		walltime time.Duration
		start    string
		within   int64
		back     bool // by PutBack
		nodes    []uint32
	}{
		"another node": {request: "1:ncpus=1", walltime: 20 * time.Minute, start: StartAuto, within: 90,
			nodes: []uint32{0, 1, 0, 1}},
		"the only node": {request: "1:ncpus=1:vnode=n0", walltime: 20 * time.Minute, start: StartAuto, within: 90,
			nodes: []uint32{0, 0, 0}},
		"a short job": {request: "1:ncpus=1", walltime: time.Minute, start: StartAuto, within: 60,
			nodes: []uint32{0, 1, 0}},
		"only cron": {request: "1:ncpus=1", walltime: time.Hour, start: StartManual, within: 15 * 60,
			nodes: []uint32{0, 1}},
		"given up at once": {request: "1:ncpus=1", walltime: time.Hour, start: StartAuto, back: true,
			nodes: []uint32{0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			db, clock := newDB(t)
			l := &suspectLife{t: t, db: db, clock: clock}
			addNodes(t, db, "n", 2, 64)
			l.update(func(tx *Tx) error {
				if err := errors.Join(tx.Config().Set("start", c.start), tx.Config().Set("suspect_after", "0"),
					tx.Attempts().LaunchBy(LaunchWork)); err != nil {
					return err
				}
				_, err := tx.Jobs().Submit(Submission{Request: placer.Request{Select: c.request, Walltime: c.walltime},
					Command: []string{"true"}})
				return err
			})
			cycle := func() (j *Job) {
				l.update(func(tx *Tx) (err error) {
					if _, err = tx.Cycle().Run(CycleSpec{By: BySupervisor}); err == nil {
						j, err = tx.Jobs().Get(1)
					}
					return err
				})
				return j
			}
			for i, node := range c.nodes {
				j := cycle()
				if j.State != JobRunning || j.Attempt != i+1 || j.Chunks[0].Nodes[0].Node != node {
					t.Fatalf("try %d: the job is %s at %d on %v: %s", i+1, j.State, j.Attempt, j.Chunks, j.Reason)
				}
				if c.back {
					l.update(func(tx *Tx) error { _, err := tx.Attempts().PutBack(node, "n0 went down"); return err })
					continue
				}
				if clock.t += c.within - 1; cycle().Attempt != i+1 {
					t.Fatalf("try %d ended early", i+1)
				}
				clock.t++
			}
			sound(t, db)
		})
	}
}

// TestUnclaimedAfterSuspend: a suspend of the machine with the database, which its attendant does not see,
// gives an unclaimed attempt the time to be claimed anew, once each. Where only cron makes cycles, rare
// commits are no suspends.
func TestUnclaimedAfterSuspend(t *testing.T) {
	for name, c := range map[string]struct {
		start   string
		commits []int64 // seconds after the start: the attempt goes on
		lapses  int64   // at this one it does not
	}{
		"none":                 {StartAuto, []int64{30, 89}, 90},
		"a cycle is late":      {StartAuto, nil, 91},
		"short":                {StartAuto, []int64{92, 120, 181}, 182},
		"two minutes":          {StartAuto, []int64{20, 140, 160, 229}, 230},
		"four minutes":         {StartAuto, []int64{240, 329}, 330},
		"two in a row":         {StartAuto, []int64{120, 121, 240, 260, 329}, 330},
		"an hour":              {StartAuto, []int64{3600, 3689}, 3690},
		"nothing commits":      {StartAuto, []int64{120}, 240},
		"cron, each 10 min":    {StartManual, []int64{1, 600, 601}, 1200},
		"cron, each half hour": {StartManual, []int64{1}, 1800},
	} {
		t.Run(name, func(t *testing.T) {
			l := newHostLife(t)
			began := l.clock.t
			l.update(func(tx *Tx) error {
				err := errors.Join(tx.Config().Set("start", c.start), tx.Config().Set("suspect_after", "0"),
					tx.Attempts().LaunchBy(LaunchWork))
				if err == nil {
					_, err = tx.Jobs().Submit(Submission{Command: []string{"true"},
						Request: placer.Request{Select: "1:ncpus=1", Walltime: 10 * time.Hour}})
				}
				return err
			})
			attempt := func(at int64) (n int) {
				l.clock.t = began + at
				if at%10 != 0 { // another host lives
					l.beat("zoe")
				}
				l.cycle()
				l.update(func(tx *Tx) error {
					j, err := tx.Jobs().Get(1)
					n = j.Attempt
					return err
				})
				return n
			}
			for _, at := range append([]int64{0}, c.commits...) {
				if n := attempt(at); n != 1 {
					t.Fatalf("after %d s it is attempt %d", at, n)
				}
			}
			if n := attempt(c.lapses); n != 2 {
				t.Errorf("after %d s it is attempt %d, want the second", c.lapses, n)
			}
		})
	}
}
