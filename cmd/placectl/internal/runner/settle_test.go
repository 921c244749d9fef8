package runner

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/bytejson"
	"github.com/placectl/placectl/store"
	"golang.org/x/sys/unix"
)

// leave leaves a directory behind as a supervisor does that was killed, with an attempt
// that it has claimed.
func (s *site) leave(k Key, b *begun) (*dir, store.Nonce) {
	s.t.Helper()
	r := runnerIn(s.dir)
	in, err := openState(r.StateDir, r.ID, r.Epoch)
	if err != nil {
		s.t.Fatal(err)
	}
	d, err := in.lockDir(k, true)
	if err != nil {
		s.t.Fatal(err)
	}
	i := r.intent()
	f, err := d.begin(i)
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	if b != nil {
		if err := appendLine(f, b); err != nil {
			s.t.Fatal(err)
		}
	}
	s.claim(k, i.Nonce, store.Process{})
	s.t.Cleanup(func() { d.close(); in.close() })
	return d, i.Nonce
}

func (s *site) claim(k Key, n store.Nonce, p store.Process) {
	s.change(func(st *fakeState) {
		a := st.Jobs[k.Job].Attempts[k.Number-1]
		a.Nonce, a.Process, a.End = n, p, time.Now().Add(time.Hour)
	})
}

func (s *site) pass() {
	s.t.Helper()
	if state := s.start(nil, "pass").wait(); !state.Success() {
		s.t.Errorf("a pass failed: %s", s.file("notes"))
	}
}

func (s *site) self() store.Process {
	s.t.Helper()
	p, err := Self("here")
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

// sleeper is a process that nobody may touch, or that is to be found by its token.
func (s *site) sleeper(env ...string) *process {
	s.t.Helper()
	path := "/bin/sleep"
	p, err := os.StartProcess(path, []string{"sleep", "100"}, &os.ProcAttr{Env: append(env, "RUNNER_TEST="+s.dir)})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { p.Kill(); p.Wait() })
	return &process{s.t, p}
}

func (s *site) as(p *process) store.Process {
	s.t.Helper()
	self := s.self()
	st, err := statOf(p.Pid)
	if err != nil {
		s.t.Fatal(err)
	}
	self.PID, self.Born = p.Pid, st.born
	return self
}

func living(p *process) bool {
	st, err := statOf(p.Pid)
	return err == nil && st.state != 'Z'
}

// TestSettle: a pass reports what the directory of a supervisor that is no more says.
func TestSettle(t *testing.T) {
	for _, c := range []struct {
		name    string
		process func(s *site, b *begun) // nil: none is in the journal
		boot    string                  // in the first line, where that is the last; "" in that of a version that synced
		result  bool                    // one is spooled
		outcome store.Outcome           // store.OutcomeNone: nothing is reported
		then    func(t *testing.T, s *site, d *dir)
	}{
		{name: "no pid", outcome: store.OutcomeUnbegun},
		{name: "no pid, another boot", boot: "before", outcome: store.OutcomeLost},
		{name: "no pid, another boot, synced", boot: "", outcome: store.OutcomeUnbegun},
		{name: "gone", process: func(s *site, b *begun) { b.PID = 1 << 22 }, outcome: store.OutcomeLost},
		{name: "reused pid", process: func(s *site, b *begun) { b.Process = s.as(s.sleeper()); b.Born++ }, outcome: store.OutcomeLost,
			then: func(t *testing.T, s *site, d *dir) {
				if len(s.ours()) != 1 {
					t.Error("a process that is not the attempt's was ended")
				}
			}},
		{name: "another boot", process: func(s *site, b *begun) { b.Process = s.as(s.sleeper()); b.Boot = "before" }, outcome: store.OutcomeLost},
		{name: "another boot, with a result", process: func(s *site, b *begun) { b.Boot = "before" }, result: true, outcome: store.OutcomeExited},
		{name: "another process namespace", process: func(s *site, b *begun) { b.PIDNS++; b.PID = 1 << 22 }, outcome: store.OutcomeNone},
		{name: "result", process: func(s *site, b *begun) {}, result: true, outcome: store.OutcomeExited},
		{name: "gave up", process: func(s *site, b *begun) { b.PID = 1 << 22 }, outcome: store.OutcomeUnbegun,
			then: func(*testing.T, *site, *dir) {}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			k := s.job(ledgerLine)
			var b *begun
			if c.process != nil {
				b = &begun{Process: s.self(), Grace: time.Second}
				c.process(s, b)
			}
			d, n := s.leave(k, b)
			if strings.HasPrefix(c.name, "no pid, another boot") {
				line, err := bytejson.Marshal(intent{Nonce: n, Database: s.path(), Boot: c.boot})
				if err = errors.Join(err, d.write(journalFile, append(line, '\n'), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			if c.result {
				if err := d.spool(&store.Result{Job: k.Job, Attempt: k.Number, Nonce: n, Outcome: store.OutcomeExited, Exit: 4}); err != nil {
					t.Fatal(err)
				}
			}
			if c.name == "gave up" {
				if err := d.write(gaveUpFile, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s.pass() // the directory is locked: it is somebody's
			if s.attempt(k).Ended {
				t.Fatal("settled though it is locked")
			}
			d.lock.Close()
			s.pass()
			a := s.attempt(k)
			if a.Result.Outcome != c.outcome || a.Ended != (c.outcome != store.OutcomeNone) || c.result && a.Result.Exit != 4 {
				t.Errorf("ended %v as %d: %s", a.Ended, a.Result.Outcome, a.Result.Why)
			}
			if left := len(s.left()) > 0; left == a.Ended && c.outcome == store.OutcomeNone {
				t.Error("left:", s.left())
			}
			if c.then != nil {
				c.then(t, s, d)
			}
		})
	}
}

// TestUnbegunBeforeClaim: a supervisor that was killed between its journal and its claim
// does not block the attempt.
func TestUnbegunBeforeClaim(t *testing.T) {
	s := newSite(t)
	k := s.job(ledgerLine)
	d, _ := s.leave(k, nil)
	s.claim(k, store.Nonce{}, store.Process{})
	d.lock.Close()
	s.pass()
	if a := s.attempt(k); a.Result.Outcome != store.OutcomeUnbegun {
		t.Errorf("%d", a.Result.Outcome)
	}
}

// TestTornJournal: one that was not written to its end says that nobody has claimed.
func TestTornJournal(t *testing.T) {
	s := newSite(t)
	k := s.job(ledgerLine)
	d, _ := s.leave(k, nil)
	s.claim(k, store.Nonce{}, store.Process{})
	if err := d.write(journalFile, []byte(`{"nonce":"0011`), 0o600); err != nil {
		t.Fatal(err)
	}
	d.lock.Close()
	s.until("executed", func() bool { s.pass(); return s.attempt(k).Ended })
	s.until("quiet", func() bool { return len(s.left()) == 0 && len(s.ours()) == 0 })
	s.checkLedger()
}

// TestStateLost: an attempt that was claimed here and has no directory is lost, unless its
// supervisor lives. Whom it left behind is killed.
func TestStateLost(t *testing.T) {
	s := newSite(t)
	k := s.job(ledgerLine)
	supervisor := s.sleeper()
	n := store.Nonce{1, 2, 3}
	left, other := s.sleeper(tokenName+"="+n.String()), s.sleeper(tokenName+"="+n.String()+"0")
	s.claim(k, n, s.as(supervisor))
	s.pass()
	if s.attempt(k).Ended || !living(left) {
		t.Fatal("its supervisor lives")
	}
	s.claim(k, n, store.Process{Host: "here", Boot: s.self().Boot, PIDNS: s.self().PIDNS, PID: supervisor.Pid, Born: 1})
	s.pass()
	if a := s.attempt(k); a.Result.Outcome != store.OutcomeLost || a.Result.Use.Leftover != 1 {
		t.Errorf("%d, left over %d", a.Result.Outcome, a.Result.Use.Leftover)
	}
	if living(left) || !living(other) || !living(supervisor) {
		t.Error("killed wrongly:", living(left), living(other), living(supervisor))
	}
}

// TestCopiedFile: a copy made with cp leaves alone what the original has begun; a file that
// was moved goes on.
func TestCopiedFile(t *testing.T) {
	s := newSite(t)
	k := s.job(ledgerLine)
	d, _ := s.leave(k, nil)
	d.lock.Close()
	other := newSite(t)
	s.copyTo(other.dir)
	if err := os.Symlink(s.dir+"/state", other.dir+"/elsewhere"); err != nil {
		t.Fatal(err)
	}
	r := runnerIn(other.dir)
	r.StateDir = s.dir + "/state"
	once := func() {
		t.Helper()
		if err := r.NewPasses().Once(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	once()
	if s.attempt(k).Ended || other.attempt(k).Ended || len(s.left()) != 1 {
		t.Fatal("the copy has settled what is the original's")
	}
	if err := os.Remove(s.path()); err != nil { // so the copy is what was moved
		t.Fatal(err)
	}
	once()
	if a := other.attempt(k); a.Result.Outcome != store.OutcomeUnbegun {
		t.Errorf("moved: %d", a.Result.Outcome)
	}
}

// TestOlderEpoch: what was begun before a restore is settled, and its directory goes.
func TestOlderEpoch(t *testing.T) {
	s := newSite(t)
	k := s.job("exit 5")
	d, n := s.leave(k, &begun{Process: s.self(), Grace: time.Second})
	if err := d.spool(&store.Result{Job: k.Job, Attempt: k.Number, Nonce: n, Outcome: store.OutcomeExited, Exit: 5}); err != nil {
		t.Fatal(err)
	}
	s.change(func(st *fakeState) { st.Epoch = "e2" })
	d.lock.Close()
	s.pass()
	if a := s.attempt(k); a.Result.Exit != 5 {
		t.Errorf("%d %s", a.Result.Outcome, a.Result.Why)
	}
	if dirs, _ := filepath.Glob(s.dir + "/state/*"); len(dirs) != 1 || !strings.HasSuffix(dirs[0], ".e2") {
		t.Error(dirs)
	}
}

// TestStop: an attempt that is to stop is told within the second, gets TERM, and its
// outcome says that somebody wanted it; one that has ended before keeps its own.
func TestStop(t *testing.T) {
	s := newSite(t)
	k := s.job(`trap 'echo term >>"$LEDGER"; exit 9' TERM; echo begun >>"$LEDGER"; sleep 100 & wait`)
	p := s.start(nil, "supervise", k.String())
	s.until("begun", func() bool { return strings.Contains(s.file("ledger"), "begun") })
	s.change(func(st *fakeState) { st.Jobs[k.Job].Attempts[0].Ending = true })
	at := time.Now()
	p.wait()
	if took := time.Since(at); took > 3*time.Second {
		t.Error("it took", took)
	}
	if a := s.attempt(k); a.Result.Outcome != store.OutcomeStopped || a.Result.Exit != 9 {
		t.Errorf("%d, exit %d", a.Result.Outcome, a.Result.Exit)
	}
}

// TestStopGrace: who makes way is killed when he is to have left his nodes, be that sooner or
// later than his own grace says.
func TestStopGrace(t *testing.T) {
	for _, c := range []struct {
		name, handler string
		own, rules    time.Duration
		exit          int
	}{
		{"sooner", ``, time.Minute, time.Second, 137},
		{"later", `sleep 1; exit 9`, 100 * time.Millisecond, 20 * time.Second, 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			k := s.job(fmt.Sprintf(`trap '%s' TERM; echo begun >>"$LEDGER"; while :; do sleep 0.1; done`, c.handler), func(o *Order) { o.Payload.Ending.Grace = c.own })
			p := s.start(nil, "supervise", k.String())
			s.until("begun", func() bool { return strings.Contains(s.file("ledger"), "begun") })
			s.change(func(st *fakeState) {
				a := st.Jobs[k.Job].Attempts[0]
				a.Ending, a.End = true, time.Now().Add(c.rules)
			})
			at := time.Now()
			p.wait()
			if took := time.Since(at); took > 15*time.Second {
				t.Error("it took", took)
			}
			if a := s.attempt(k); a.Result.Outcome != store.OutcomeStopped || a.Result.Exit != c.exit {
				t.Errorf("%d, exit %d", a.Result.Outcome, a.Result.Exit)
			}
		})
	}
}

// TestAdopted: the command of a supervisor that was killed is supervised anew: its end is
// known, its limits hold, and whom it leaves behind is ended.
func TestAdopted(t *testing.T) {
	for _, c := range []struct {
		name, line string
		walltime   time.Duration
		outcome    store.Outcome
		exit       int
	}{
		{"ends", `sleep 0.5; exit 7`, time.Minute, store.OutcomeExited, 7},
		{"is killed", `sleep 0.5; kill -9 $$`, time.Minute, store.OutcomeSignal, 137},
		{"has no time left", `sleep 100`, time.Second, store.OutcomeWalltime, 143},
		{"leaves somebody behind", `(setsid sleep 100 &); sleep 0.5; exit 3`, time.Minute, store.OutcomeExited, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			k := s.job(c.line, func(o *Order) { o.Walltime, o.Payload.Ending.Grace = c.walltime, 300*time.Millisecond })
			p := s.start(nil, "supervise", k.String())
			s.until("executing", func() bool { return len(s.children("sleep")) > 0 })
			unix.Kill(p.Pid, unix.SIGKILL)
			p.wait()
			s.pass()
			s.until("ended", s.ended(k))
			if a := s.attempt(k); a.Result.Outcome != c.outcome || a.Result.Exit != c.exit {
				t.Errorf("%d, exit %d: %s; %s", a.Result.Outcome, a.Result.Exit, a.Result.Why, s.file("notes"))
			}
			s.until("quiet", func() bool { return len(s.left()) == 0 && len(s.ours()) == 0 })
		})
	}
}

// children lists the processes of a name that this test has set off.
func (s *site) children(name string) (list []int) {
	for _, pid := range s.ours() {
		if kindOf(pid) == name {
			list = append(list, pid)
		}
	}
	return list
}

// TestLeftover: who outlives the command is ended and counted, also one that forked twice
// and made a session of its own.
func TestLeftover(t *testing.T) {
	s := newSite(t)
	k := s.job(`(setsid sh -c 'sleep 100 & sleep 101' &); sleep 0.1; exit 3`)
	a := s.supervise(k)
	if r := a.Result; r.Outcome != store.OutcomeExited || r.Exit != 3 || r.Use.Leftover != 3 {
		t.Errorf("%d, exit %d, left over %d", r.Outcome, r.Exit, r.Use.Leftover)
	}
	if ours := s.ours(); len(ours) > 0 {
		t.Error("left:", ours)
	}
}

// TestSignalBeforeEnd: who has a handler gets the signal, and the end is asked for before
// it counts.
func TestSignalBeforeEnd(t *testing.T) {
	s := newSite(t)
	k := s.job(`trap 'echo got >>"$LEDGER"' USR1; for i in 1 2 3 4 5 6 7 8; do sleep 0.2 || echo killed >>"$LEDGER"; done; exit 6`, func(o *Order) {
		o.Walltime, o.Payload.Ending.Signal, o.Payload.Ending.Before = 700*time.Millisecond, int(syscall.SIGUSR1), 500*time.Millisecond
	})
	p := s.start(nil, "supervise", k.String())
	s.until("signalled", func() bool { return s.file("ledger") == "got\n" })
	s.change(func(st *fakeState) { st.Jobs[k.Job].Attempts[0].End = time.Now().Add(time.Minute) }) // extended
	p.wait()
	if r := s.attempt(k).Result; r.Outcome != store.OutcomeExited || r.Exit != 6 || s.file("ledger") != "got\n" {
		t.Errorf("%d, exit %d: %s; %q", r.Outcome, r.Exit, r.Why, s.file("ledger"))
	}
}

// TestSignalFirst: a signal that is for the first process alone comes to no other, though it
// has a handler.
func TestSignalFirst(t *testing.T) {
	s := newSite(t)
	k := s.job(`trap 'echo first >>"$LEDGER"' USR1; sh -c 'trap "echo other >>\"$LEDGER\"" USR1; for i in $(seq 30); do sleep 0.1; done' & wait; wait`, func(o *Order) {
		o.Walltime, o.Payload.Ending.Signal, o.Payload.Ending.Before, o.Payload.Ending.First = 5*time.Second, int(syscall.SIGUSR1), 3500*time.Millisecond, true
	})
	s.start(nil, "supervise", k.String()).wait()
	if r := s.attempt(k).Result; r.Outcome != store.OutcomeExited || s.file("ledger") != "first\n" {
		t.Errorf("%d, exit %d: %s; %q", r.Outcome, r.Exit, r.Why, s.file("ledger"))
	}
}

// TestStateDir: one that others could write to is not used; nothing is executed then.
func TestStateDir(t *testing.T) {
	for _, c := range []struct {
		name  string
		make  func(path string) error
		blame store.Blame
		why   string
	}{
		{"mode", func(path string) error { return os.Mkdir(path, 0o755) }, store.BlameNobody, "755"},
		{"link", func(path string) error { return os.Symlink(t.TempDir(), path) }, store.BlameNobody, "symbolic link"},
		{"file", func(path string) error { return os.WriteFile(path, nil, 0o600) }, store.BlameNode, "not a directory"},
		{"somebody else's", func(path string) error {
			if os.Geteuid() != 0 {
				t.Skip("only root can give files away")
			}
			if err := os.Mkdir(path, 0o700); err != nil {
				return err
			}
			return os.Chown(path, 12345, 12345)
		}, store.BlameNobody, "belongs to the user 12345"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			if err := c.make(s.dir + "/state"); err != nil {
				t.Fatal(err)
			}
			k := s.job(ledgerLine)
			r := s.supervise(k).Result
			if r.Outcome != store.OutcomeRefused || r.Blame != c.blame || !strings.Contains(r.Why, c.why) || s.file("ledger") != "" {
				t.Errorf("%d, blamed %d: %s", r.Outcome, r.Blame, r.Why)
			}
		})
	}
}

// TestSecondSupervisor: where somebody was before a supervisor does nothing, whether he is
// there still or not.
func TestSecondSupervisor(t *testing.T) {
	s := newSite(t)
	k := s.job(ledgerLine)
	d, _ := s.leave(k, nil)
	s.claim(k, store.Nonce{}, store.Process{})
	for range 2 {
		if state := s.start(nil, "supervise", k.String()).wait(); !state.Success() || s.file("ledger") != "" || s.attempt(k).Ended {
			t.Errorf("%v; ledger %q", state, s.file("ledger"))
		}
		d.lock.Close()
	}
}
