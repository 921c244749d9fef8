package engine

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
)

// hostLife is a life of two nodes whose hosts send heartbeats, or do not.
type hostLife struct {
	*suspectLife
}

func newHostLife(t *testing.T) *hostLife {
	db, clock := newDB(t)
	addNodes(t, db, "n", 2, 4)
	return &hostLife{&suspectLife{t: t, db: db, clock: clock}}
}

// claimed starts a job of a user on n0 and claims its attempt.
func (l *hostLife) claimed(user string, by Claimant, walltime time.Duration) uint64 {
	l.t.Helper()
	var id uint64
	l.update(func(tx *Tx) error {
		list, err := tx.Jobs().Submit(
			Submission{Request: placer.Request{Select: "1:ncpus=1:vnode=n0", Walltime: walltime},
				Command: []string{"true"}, Attended: by == ByRun,
				Payload: &Payload{Dir: "/", Owner: &Submitter{Name: user}}})
		if err != nil {
			return err
		}
		if id = list[0].ID; by == ByRun {
			if err := tx.Attempts().Attend(id,
				Attendant{Nonce: Nonce{byte(id)}, Process: Process{Host: "n0", PID: 9}}); err != nil {
				return err
			}
		}
		if _, err = tx.Cycle().Run(CycleSpec{Silent: true}); err != nil {
			return err
		}
		_, err = tx.Attempts().Claim(Claim{Job: id, Attempt: 1, By: by, Nonce: Nonce{byte(id)},
			Process: Process{Host: "n0", PID: 9}})
		return err
	})
	return id
}

func (l *hostLife) beat(user string) {
	l.t.Helper()
	l.update(func(tx *Tx) error { return tx.Hosts().Beat("n0", user, "boot") })
}

// pass lets seconds pass while other hosts report, so that the clock does not jump.
func (l *hostLife) pass(seconds int64) {
	l.t.Helper()
	for ; seconds > 0; seconds -= 60 {
		l.clock.t += min(seconds, 60)
		l.update(func(tx *Tx) error { return tx.Hosts().Beat("elsewhere", "zoe", "boot") })
	}
}

func (l *hostLife) cycle() {
	l.t.Helper()
	l.update(func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{}); return err })
}

// is verifies the state of a job, and whether it and the node are reported as unreachable.
func (l *hostLife) is(when string, id uint64, state JobState, job, node bool) {
	l.t.Helper()
	err := l.db.View(func(tx *Tx) error {
		j, err := tx.Jobs().Get(id)
		if err != nil {
			return err
		}
		n, err := tx.Nodes().Get("n0")
		if err != nil {
			return err
		}
		if said := strings.HasPrefix(j.Reason.String(), "unreachable: no heartbeat from n0 (user "); j.State != state ||
			said != job {
			l.t.Errorf("%s: the job is %s: %q", when, j.State, j.Reason)
		}
		if said := strings.HasPrefix(n.Reason, "unreachable: "); said != node || (n.State == index.Down) != node {
			l.t.Errorf("%s: the node is %s: %q", when, n.State, n.Reason)
		}
		return nil
	})
	if err != nil {
		l.t.Fatal(err)
	}
	sound(l.t, l.db)
}

// TestSilentHost: a host without a heartbeat for lost_after keeps its jobs, and gets no others
// until it sends one.
func TestSilentHost(t *testing.T) {
	l := newHostLife(t)
	job := l.claimed("ann", BySupervisor, 10*time.Hour)
	l.beat("ann")
	l.pass(30*60 - 1)
	l.cycle()
	l.is("after 29:59", job, JobRunning, false, false)
	l.clock.t++
	l.cycle()
	l.is("after 30:00", job, JobRunning, true, true)
	l.update(func(tx *Tx) error {
		if _, err := tx.Jobs().Place(placer.Request{Select: "1:ncpus=1:vnode=n0", Walltime: time.Hour}); err == nil {
			t.Error("something new is on it")
		}
		return nil
	})
	l.clock.t += 60
	l.beat("ann")
	l.is("heard of again", job, JobRunning, false, false)
	if err := l.db.View(func(tx *Tx) error {
		var words []string
		err := tx.EachEvent(0, func(ev *Event) (bool, error) {
			if ev.Job == job || ev.Node == "n0" && ev.Old != "" {
				words = append(words, ev.Event)
			}
			return true, nil
		})
		if got := strings.Join(words, " "); got != "submit start claim unreachable node node reachable" {
			t.Errorf("events: %s", got)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// TestSilentHosts: any user's heartbeat counts for the host, and so does a claim; a node state
// set by hand stays.
func TestSilentHosts(t *testing.T) {
	t.Run("another user sends heartbeats", func(t *testing.T) {
		l := newHostLife(t)
		job := l.claimed("ann", BySupervisor, 10*time.Hour)
		l.beat("ann")
		l.pass(3600)
		l.beat("bob")
		l.cycle()
		l.is("bob is heard of", job, JobRunning, true, false)
	})
	t.Run("just claimed", func(t *testing.T) {
		l := newHostLife(t)
		l.beat("ann")
		l.pass(3600)
		job := l.claimed("ann", BySupervisor, 10*time.Hour)
		l.cycle()
		l.is("at once", job, JobRunning, false, false)
	})
	t.Run("never heard of", func(t *testing.T) {
		l := newHostLife(t)
		job := l.claimed("ann", BySupervisor, 10*time.Hour)
		l.pass(3600)
		l.cycle()
		l.is("much later", job, JobRunning, false, false)
	})
	t.Run("switched off", func(t *testing.T) {
		l := newHostLife(t)
		l.update(func(tx *Tx) error { return tx.Config().Set("lost_after", "0") })
		job := l.claimed("ann", BySupervisor, 10*time.Hour)
		l.beat("ann")
		l.pass(3600)
		l.cycle()
		l.is("much later", job, JobRunning, false, false)
	})
	t.Run("taken back by hand", func(t *testing.T) {
		l := newHostLife(t)
		job := l.claimed("ann", BySupervisor, 10*time.Hour)
		l.beat("ann")
		l.pass(3600)
		l.cycle()
		l.update(func(tx *Tx) error { return tx.Nodes().SetState(0, index.Up, "") })
		l.clock.t += 60
		l.cycle()
		l.is("the next cycle", job, JobRunning, true, false)
		l.update(func(tx *Tx) error { return tx.Nodes().SetState(0, index.Down, "repaired") })
		l.beat("ann")
		if state, reason := l.node(); state != index.Down || reason != "repaired" {
			t.Errorf("the node is %s: %s", state, reason)
		}
	})
}

// TestSilentRun: on a host without heartbeats, an interactive run whose time is over is lost,
// and its job has failed. It does not run again without its user.
func TestSilentRun(t *testing.T) {
	l := newHostLife(t)
	run := l.claimed("ann", ByRun, time.Hour)
	supervised := l.claimed("ann", BySupervisor, time.Hour)
	l.beat("ann")
	l.pass(3599)
	l.cycle()
	l.is("before its end", run, JobRunning, true, true)
	l.clock.t++
	l.cycle()
	l.is("at its end", run, JobFailed, false, true)
	l.is("the other one", supervised, JobRunning, true, true)
}

// TestClockJumps: after the machine with the database was suspended, or its clock was set, hosts have the
// time of a heartbeat to answer, once. A process of the host itself, a claim and a report are signs of life.
func TestClockJumps(t *testing.T) {
	const suspended, beat = 45 * 60, 5 * 60
	begin := func(t *testing.T) (*hostLife, uint64) {
		l := newHostLife(t)
		job := l.claimed("ann", BySupervisor, 10*time.Hour)
		l.beat("ann")
		return l, job
	}
	t.Run("nothing answers", func(t *testing.T) {
		l, job := begin(t)
		l.clock.t += suspended
		l.cycle()
		l.is("at once", job, JobRunning, false, false)
		l.pass(beat - 1)
		l.cycle()
		l.is("before a heartbeat is due", job, JobRunning, false, false)
		l.pass(1)
		l.cycle()
		l.is("after it was due", job, JobRunning, true, true)
		l.update(func(tx *Tx) error {
			_, err := tx.Jobs().Place(placer.Request{Select: "2:ncpus=1", Place: "scatter", Walltime: time.Hour})
			if !errors.Is(err, placer.ErrNotNow) || errors.Is(err, placer.ErrNever) {
				t.Errorf("Place of what a silent host could hold = %v, want not now", err)
			}
			return nil
		})
	})
	t.Run("it answers", func(t *testing.T) {
		l, job := begin(t)
		l.clock.t += suspended
		l.update(func(tx *Tx) error { return tx.Nodes().SetLoad(1, 2) }) // the first commit is not that of a cycle
		l.cycle()
		l.pass(beat - 1)
		l.beat("ann")
		l.pass(beat)
		l.cycle()
		l.is("later", job, JobRunning, false, false)
	})
	t.Run("commits are rare", func(t *testing.T) {
		l, job := begin(t)
		for range 3 {
			l.clock.t += beat + 60
			l.update(func(tx *Tx) error { return tx.Nodes().SetLoad(1, float64(l.clock.t%7)) })
			l.cycle()
			l.is("not yet", job, JobRunning, false, false)
		}
		for range 2 {
			l.clock.t += beat + 60
			l.update(func(tx *Tx) error { return tx.Nodes().SetLoad(1, float64(l.clock.t%7)) })
			l.cycle()
		}
		l.is("after lost_after", job, JobRunning, true, true)
	})
	t.Run("set forth and back", func(t *testing.T) {
		l, job := begin(t)
		l.clock.t += suspended
		l.cycle()
		l.clock.t -= suspended
		if err := l.db.Update(func(tx *Tx) error { return tx.Hosts().Beat("n0", "ann", "boot") }); !errors.Is(err,
			ErrClock) {
			t.Fatal(err)
		}
		l.clock.t += suspended + 1
		l.cycle()
		l.is("when time has caught up", job, JobRunning, false, false)
	})
	t.Run("its own cycle", func(t *testing.T) {
		l, job := begin(t)
		own, err := Open(l.db.Path(), &Options{Now: l.clock.now, Host: "n0", Actor: &Actor{UID: 4711, User: "ann"},
			UIDOf: func(string) (uint32, bool) { return 4711, true }})
		if err != nil {
			t.Fatal(err)
		}
		l.pass(suspended)
		if err := own.Update(func(tx *Tx) error {
			_, err := tx.Cycle().Run(CycleSpec{By: BySupervisor})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		l.is("after its own cycle", job, JobRunning, false, false)
		l.pass(60)
		l.cycle()
		l.is("after the next one", job, JobRunning, false, false)
	})
	t.Run("a claim and a report", func(t *testing.T) {
		l, job := begin(t)
		l.pass(29 * 60)
		other := l.claimed("ann", BySupervisor, 10*time.Hour)
		l.pass(29 * 60)
		l.cycle()
		l.is("after a claim", job, JobRunning, false, false)
		l.update(func(tx *Tx) error {
			_, err := tx.Attempts().Report(Result{Job: other, Attempt: 1, Nonce: Nonce{byte(other)},
				Outcome: OutcomeExited})
			return err
		})
		l.pass(29 * 60)
		l.cycle()
		l.is("after a report", job, JobRunning, false, false)
		l.pass(60)
		l.cycle()
		l.is("after lost_after", job, JobRunning, true, true)
	})
}
