package keeper

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/gate"
	"golang.org/x/sys/unix"
)

// leave leaves a slot behind like a killed keeper, with an attempt that it has claimed. lines are the further
// lines of its journal.
func (s *site) leave(k Key, i *intent, lines ...string) engine.Nonce {
	s.t.Helper()
	r := runnerIn(s.dir)
	in, err := openState(r.StateDir, r.ID, r.Epoch)
	if err != nil {
		s.t.Fatal(err)
	}
	defer in.close()
	sl, err := in.openSlot(slotName("here", 0))
	if err != nil {
		s.t.Fatal(err)
	}
	defer sl.close()
	if i == nil {
		is := r.intent(bootOf(s.t))
		i = &is
	}
	if err := sl.give(k, *i); err != nil {
		s.t.Fatal(err)
	}
	for _, text := range lines {
		if _, err := sl.lines.Write(
			gate.Sealed([]byte(strings.ReplaceAll(text, "TAG", fmt.Sprint(tag(i.Nonce)))))); err != nil {
			s.t.Fatal(err)
		}
	}
	s.claim(k, i.Nonce, engine.Process{})
	return i.Nonce
}

// goes is the line that says that the gate is about to be told.
const goes = `{"go":{"Host":"here","grace":1000000000,"end":1}}`

func (s *site) claim(k Key, n engine.Nonce, p engine.Process) {
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

func (s *site) self() engine.Process {
	s.t.Helper()
	p, err := Self("here")
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

// sleeper starts a process that must not be touched, or that its token identifies.
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

func (s *site) as(p *process) engine.Process {
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

// TestSettle: what the journal of an ended keeper says is reported.
func TestSettle(t *testing.T) {
	for _, c := range []struct {
		name    string
		lines   []string
		boot    string // "": this one
		outcome engine.Outcome
		exit    int
		why     string
	}{
		{name: "claimed", outcome: engine.OutcomeUnbegun},
		{name: "claimed, another boot", boot: "before", outcome: engine.OutcomeLost, why: rebooted},
		{name: "the gate may have been told", lines: []string{goes}, outcome: engine.OutcomeUnbegun},
		{name: "the gate may have been told, another boot", boot: "before", lines: []string{goes},
			outcome: engine.OutcomeLost, why: rebooted},
		{name: "a warden", lines: []string{goes, "w TAG 4194304"}, outcome: engine.OutcomeUnbegun},
		{name: "a warden, and an end before the beginning",
			lines: []string{goes, "w TAG 4194304", "e TAG 1 32000 0 0 0"}, outcome: engine.OutcomeUnbegun},
		{name: "begun", lines: []string{goes, "w TAG 4194304", "p TAG 4194303"}, outcome: engine.OutcomeLost,
			why: "is unknown"},
		{name: "begun, another process has its number", lines: []string{goes, "w TAG 4194304", "p TAG 1"},
			outcome: engine.OutcomeLost, why: "is unknown"},
		{name: "ended", lines: []string{goes, "w TAG 4194304", "p TAG 4194303", "e TAG 1 1024 5000 6000 7"},
			outcome: engine.OutcomeExited, exit: 4},
		{name: "ended, others were left", lines: []string{goes, "w TAG 4194304", "p TAG 4194303",
			"e TAG 0 1024 5000 6000 7"}, outcome: engine.OutcomeExited, exit: 4},
		{name: "ended, the others too", lines: []string{goes, "w TAG 4194304", "p TAG 4194303",
			"e TAG 0 1024 5000 6000 7", "z TAG 1 1024 5000 6000 7"}, outcome: engine.OutcomeExited, exit: 4},
		{name: "ended, another boot", boot: "before", lines: []string{goes, "w TAG 4194304", "p TAG 4194303",
			"e TAG 1 1024 5000 6000 7"}, outcome: engine.OutcomeExited, exit: 4},
		{name: "stopped", lines: []string{goes, "w TAG 4194304", "p TAG 4194303",
			`{"stopping":{"outcome":3,"why":"its walltime was over","kill_at":1}}`, "e TAG 1 15 5000 6000 7"},
			outcome: engine.OutcomeWalltime, exit: 143, why: "its walltime was over"},
		{name: "a line of another attempt", lines: []string{goes, "w TAG 4194304", "p TAG 4194303",
			"e 7 1 1024 5000 6000 7"}, outcome: engine.OutcomeLost},
		{name: "a result", lines: []string{goes, "w TAG 4194304", "p TAG 4194303",
			`{"result":{"Job":1,"Attempt":1,"Nonce":"NONCE","Outcome":1,"Exit":9}}`}, outcome: engine.OutcomeExited,
			exit: 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			k := s.job(ledgerLine)
			i := runnerIn(s.dir).intent(bootOf(t))
			if c.boot != "" {
				i.Boot = c.boot
			}
			for n := range c.lines {
				c.lines[n] = strings.ReplaceAll(c.lines[n], "NONCE", i.Nonce.String())
			}
			s.leave(k, &i, c.lines...)
			s.pass()
			s.until("settled", s.ended(k))
			if r := s.attempt(k).Result; r.Outcome != c.outcome || r.Exit != c.exit || !strings.Contains(r.Why, c.why) {
				t.Errorf("outcome %d, exit %d: %s, want outcome %d, exit %d, why %q", r.Outcome, r.Exit, r.Why,
					c.outcome, c.exit, c.why)
			} else if r.Exit == 4 && (r.Use.CPUUser != 5*time.Millisecond || r.Use.CPUSystem != 6*time.Millisecond ||
				r.Use.MaxRSS != 7<<10) {
				t.Errorf("use %+v, want that of the journal", r.Use)
			}
			s.until("quiet", func() bool { return len(s.left()) == 0 && len(s.ours()) == 0 })
		})
	}
}

// TestDyingHolder: a process that is being killed may close the pipe before it releases the journal. A keeper that
// comes in between does not wait for words from it.
func TestDyingHolder(t *testing.T) {
	for _, c := range []struct {
		name    string
		lines   []string
		outcome engine.Outcome
	}{
		{"a gate", nil, engine.OutcomeUnbegun},
		{"a warden", []string{"w TAG 4194304"}, engine.OutcomeUnbegun},
		{"a command", []string{"w TAG 4194304", "p TAG 4194303"}, engine.OutcomeLost},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			k := s.job(ledgerLine)
			s.leave(k, nil, append([]string{goes}, c.lines...)...)
			journal, err := os.Open(s.dir + "/state/0123abcd.e1/" + slotName("here", 0) + "/journal")
			if err == nil {
				err = unix.Flock(int(journal.Fd()), unix.LOCK_EX)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer journal.Close()
			s.pass()
			s.until("settled", s.ended(k))
			if r := s.attempt(k).Result; r.Outcome != c.outcome {
				t.Errorf("outcome %d, want %d: %s", r.Outcome, c.outcome, r.Why)
			}
			s.until("quiet", func() bool { return len(s.left()) == 0 && len(s.ours()) == 0 })
		})
	}
}

// TestUnbegunBeforeClaim: a keeper killed between its journal and its claim does not block the attempt.
func TestUnbegunBeforeClaim(t *testing.T) {
	s := newSite(t)
	k := s.job(ledgerLine)
	s.leave(k, nil)
	s.claim(k, engine.Nonce{}, engine.Process{})
	s.pass()
	s.until("done", func() bool { return len(s.waiting()) == 0 })
	s.until("quiet", func() bool { return len(s.left()) == 0 && len(s.ours()) == 0 })
	s.checkLedger()
}

// TestTornJournal: an incomplete journal means that the attempt is unclaimed.
func TestTornJournal(t *testing.T) {
	s := newSite(t)
	k := s.job(ledgerLine)
	s.leave(k, nil)
	s.claim(k, engine.Nonce{}, engine.Process{})
	path := s.dir + "/state/0123abcd.e1/" + slotName("here", 0) + "/journal"
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, text[:len(text)-4], 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.pass()
	s.until("executed", s.ended(k))
	s.until("quiet", func() bool { return len(s.left()) == 0 && len(s.ours()) == 0 })
	s.checkLedger()
}

// TestStateLost: an attempt that was claimed here but has no slot is lost, unless its keeper lives. Processes
// that it has left behind are killed.
func TestStateLost(t *testing.T) {
	s := newSite(t)
	k := s.job(ledgerLine)
	supervisor := s.sleeper()
	n := engine.Nonce{1, 2, 3}
	left, other := s.sleeper(tokenName+"="+n.String()), s.sleeper(tokenName+"="+n.String()+"0")
	s.claim(k, n, s.as(supervisor))
	s.pass()
	s.start(nil, "keep").wait() // no pass starts a keeper for that
	if s.attempt(k).Ended || !living(left) {
		t.Fatal("the attempt was settled although its keeper lives")
	}
	s.claim(k, n, engine.Process{Host: "here", Boot: s.self().Boot, PIDNS: s.self().PIDNS, PID: supervisor.Pid,
		Born: 1})
	before, earlier := s.job(ledgerLine), s.as(supervisor)
	earlier.Boot = "before"
	s.claim(before, engine.Nonce{4}, earlier)
	s.pass()
	s.until("settled", s.ended(k))
	s.until("settled, of an earlier start", s.ended(before))
	if a := s.attempt(k); a.Result.Outcome != engine.OutcomeLost || a.Result.Use.Leftover != 1 {
		t.Errorf("outcome %d, %d processes left over", a.Result.Outcome, a.Result.Use.Leftover)
	}
	if living(left) || !living(other) || !living(supervisor) {
		t.Errorf("alive: the attempt's process %v, another's %v, the supervisor %v", living(left), living(other),
			living(supervisor))
	}
}

// TestCopiedFile: a copy made with cp leaves alone what the original has begun. A moved file goes on.
func TestCopiedFile(t *testing.T) {
	s := newSite(t)
	k := s.job(ledgerLine)
	s.leave(k, nil)
	other := newSite(t)
	s.copyTo(other.dir)
	if err := os.Symlink(s.dir+"/state", other.dir+"/elsewhere"); err != nil {
		t.Fatal(err)
	}
	once := func() {
		t.Helper()
		other.start([]string{"RUNNER_STATE=" + s.dir + "/state"}, "keep").wait()
	}
	once()
	if s.attempt(k).Ended || other.attempt(k).Ended || len(s.left()) != 1 {
		t.Fatal("the copy has settled an attempt of the original")
	}
	if err := os.Remove(s.path()); err != nil { // so the copy counts as the moved file
		t.Fatal(err)
	}
	once()
	if a := other.attempt(k); a.Result.Outcome != engine.OutcomeUnbegun {
		t.Errorf("after the file was moved the outcome is %d, want OutcomeUnbegun", a.Result.Outcome)
	}
}

// TestOlderEpoch: what was begun before a restore is settled, and its directory is removed.
func TestOlderEpoch(t *testing.T) {
	s := newSite(t)
	k := s.job("exit 5")
	s.leave(k, nil, goes, "w TAG 4194304", "p TAG 4194303", "e TAG 1 1280 1 1 1")
	s.change(func(st *fakeState) { st.Epoch = "e2" })
	s.pass()
	s.until("settled", s.ended(k))
	if a := s.attempt(k); a.Result.Exit != 5 {
		t.Errorf("outcome %d, exit %d, want exit 5: %s", a.Result.Outcome, a.Result.Exit, a.Result.Why)
	}
	s.until("quiet", func() bool { return len(s.ours()) == 0 })
	s.pass()
	s.until("quiet", func() bool { return len(s.ours()) == 0 })
	if dirs, _ := filepath.Glob(s.dir + "/state/*/slot.*"); len(dirs) != 0 {
		t.Errorf("left: slots %v", dirs)
	}
}

// TestOlderEpochLives: a command begun before a restore goes on, and is reported.
func TestOlderEpochLives(t *testing.T) {
	s := newSite(t)
	k := s.job(ledgerLine + "; sleep 1; exit 5")
	p := s.start(nil, "keep")
	s.until("begun", func() bool { return s.file("ledger") != "" })
	unix.Kill(p.Pid, unix.SIGKILL)
	p.wait()
	s.change(func(st *fakeState) { st.Epoch = "e2" })
	s.pass()
	s.until("ended", s.ended(k))
	if a := s.attempt(k); a.Result.Outcome != engine.OutcomeExited || a.Result.Exit != 5 {
		t.Errorf("outcome %d, exit %d, want exit 5: %s", a.Result.Outcome, a.Result.Exit, a.Result.Why)
	}
	s.until("quiet", func() bool { return len(s.left()) == 0 && len(s.ours()) == 0 })
	s.checkLedger()
}

// TestStop: an attempt that must stop is told within a second, gets TERM, and its outcome says that it was
// stopped on request. One that has ended before keeps its own outcome.
func TestStop(t *testing.T) {
	s := newSite(t)
	k := s.job(`trap 'echo term >>"$LEDGER"; exit 9' TERM; echo begun >>"$LEDGER"; sleep 100 & wait`)
	p := s.start(nil, "keep")
	s.until("begun", func() bool { return strings.Contains(s.file("ledger"), "begun") })
	s.change(func(st *fakeState) { st.Jobs[k.Job].Attempts[0].Ending = true })
	at := time.Now()
	p.wait()
	if took := time.Since(at); took > 3*time.Second {
		t.Errorf("the attempt stopped after %v", took)
	}
	if a := s.attempt(k); a.Result.Outcome != engine.OutcomeStopped || a.Result.Exit != 9 {
		t.Errorf("outcome %d, exit %d, want OutcomeStopped, exit 9", a.Result.Outcome, a.Result.Exit)
	}
}

// TestStopGrace: a preempted job is killed when it must have left its nodes, sooner or later than its own
// grace says.
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
			k := s.job(fmt.Sprintf(`trap '%s' TERM; echo begun >>"$LEDGER"; while :; do sleep 0.1; done`, c.handler),
				func(o *Order) { o.Payload.Ending.Grace = c.own })
			p := s.start(nil, "keep")
			s.until("begun", func() bool { return strings.Contains(s.file("ledger"), "begun") })
			s.change(func(st *fakeState) {
				a := st.Jobs[k.Job].Attempts[0]
				a.Ending, a.End = true, time.Now().Add(c.rules)
			})
			at := time.Now()
			p.wait()
			if took := time.Since(at); took > 15*time.Second {
				t.Errorf("the attempt stopped after %v", took)
			}
			if a := s.attempt(k); a.Result.Outcome != engine.OutcomeStopped || a.Result.Exit != c.exit {
				t.Errorf("outcome %d, exit %d, want OutcomeStopped, exit %d", a.Result.Outcome, a.Result.Exit, c.exit)
			}
		})
	}
}

// TestAdopted: the command of a killed supervisor is supervised again: its end is known, its limits hold, and
// processes that it leaves behind are ended.
func TestAdopted(t *testing.T) {
	for _, c := range []struct {
		name, line string
		walltime   time.Duration
		outcome    engine.Outcome
		exit       int
	}{
		{"ends", `sleep 0.5; exit 7`, time.Minute, engine.OutcomeExited, 7},
		{"is killed", `sleep 0.5; kill -9 $$`, time.Minute, engine.OutcomeSignal, 137},
		{"has no time left", `sleep 100`, time.Second, engine.OutcomeWalltime, 143},
		{"leaves a process behind", `(setsid sleep 100 &); sleep 0.5; exit 3`, time.Minute, engine.OutcomeExited, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			k := s.job(c.line, func(o *Order) { o.Walltime, o.Payload.Ending.Grace = c.walltime, 300*time.Millisecond })
			p := s.start(nil, "keep")
			s.until("executing", func() bool { return len(s.children("sleep")) > 0 })
			unix.Kill(p.Pid, unix.SIGKILL)
			p.wait()
			s.pass()
			s.until("ended", s.ended(k))
			if a := s.attempt(k); a.Result.Outcome != c.outcome || a.Result.Exit != c.exit {
				t.Errorf("outcome %d, exit %d, want %d and %d: %s; %s", a.Result.Outcome, a.Result.Exit, c.outcome,
					c.exit, a.Result.Why, s.file("notes"))
			}
			s.until("quiet", func() bool { return len(s.left()) == 0 && len(s.ours()) == 0 })
		})
	}
}

// children lists the descendants of this test that have a name.
func (s *site) children(name string) (list []int) {
	for _, pid := range s.ours() {
		if kindOf(pid) == name {
			list = append(list, pid)
		}
	}
	return list
}

// TestLeftover: processes that outlive the command are ended and counted, even one that has forked twice and
// has a session of its own.
func TestLeftover(t *testing.T) {
	s := newSite(t)
	k := s.job(`(setsid sh -c 'sleep 100 & sleep 101' &); sleep 0.1; exit 3`)
	a := s.supervise(k)
	if r := a.Result; r.Outcome != engine.OutcomeExited || r.Exit != 3 || r.Use.Leftover != 3 {
		t.Errorf("outcome %d, exit %d, %d processes left over", r.Outcome, r.Exit, r.Use.Leftover)
	}
	if ours := s.ours(); len(ours) > 0 {
		t.Errorf("left: processes %v", ours)
	}
}

// TestLeftoverWithoutWarden: the warden was killed, and what the command leaves behind ends when told to. The attempt
// ends then, too, long before the grace is over.
func TestLeftoverWithoutWarden(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	k := s.job(`(setsid sleep 100 &); kill -9 $PPID; sleep 0.2; exit 3`, func(o *Order) {
		o.Payload.Ending.Grace = time.Hour
	})
	s.start(nil, "keep")
	s.until("ended", s.ended(k))
	if n := s.attempt(k).Result.Use.Leftover; n != 1 {
		t.Errorf("%d processes left over", n)
	}
	s.until("quiet", func() bool { return len(s.left()) == 0 && len(s.ours()) == 0 })
}

// TestSignalBeforeEnd: a command with a handler gets the signal. The database is asked for the end before the
// end counts.
func TestSignalBeforeEnd(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	k := s.job(
		`trap 'echo got >>"$LEDGER"' USR1; for i in 1 2 3 4 5 6 7 8; do sleep 0.5 || echo killed >>"$LEDGER"; done; exit 6`, func(o *Order) {
			o.Walltime, o.Payload.Ending.Signal, o.Payload.Ending.Before = 3*time.Second, int(syscall.SIGUSR1),
				2*time.Second
		})
	p := s.start(nil, "keep")
	s.until("signalled", func() bool { return s.file("ledger") == "got\n" })
	s.change(func(st *fakeState) { st.Jobs[k.Job].Attempts[0].End = time.Now().Add(time.Minute) }) // extended
	p.wait()
	if r := s.attempt(k).Result; r.Outcome != engine.OutcomeExited || r.Exit != 6 || s.file("ledger") != "got\n" {
		t.Errorf("outcome %d, exit %d, want exit 6: %s; the ledger has %q", r.Outcome, r.Exit, r.Why, s.file("ledger"))
	}
}

// TestSignalFirst: a signal for the first process only reaches no other, even if that has a handler.
func TestSignalFirst(t *testing.T) {
	s := newSite(t)
	k := s.job(
		`trap 'echo first >>"$LEDGER"' USR1; sh -c 'trap "echo other >>\"$LEDGER\"" USR1; for i in $(seq 30); do sleep 0.1; done' & wait; wait`, func(o *Order) {
			o.Walltime, o.Payload.Ending.Signal, o.Payload.Ending.Before, o.Payload.Ending.First = 5*time.Second,
				int(syscall.SIGUSR1), 3500*time.Millisecond, true
		})
	s.start(nil, "keep").wait()
	if r := s.attempt(k).Result; r.Outcome != engine.OutcomeExited || s.file("ledger") != "first\n" {
		t.Errorf("outcome %d, exit %d: %s; the ledger has %q, want first", r.Outcome, r.Exit, r.Why, s.file("ledger"))
	}
}

// TestStateDir: a directory that others could write to is refused, and nothing is executed.
func TestStateDir(t *testing.T) {
	for _, c := range []struct {
		name  string
		make  func(path string) error
		blame engine.Blame
		why   string
	}{
		{"mode", func(path string) error { return os.Mkdir(path, 0o755) }, engine.BlameNobody, "755"},
		{"link", func(path string) error { return os.Symlink(t.TempDir(), path) }, engine.BlameNobody, "symbolic link"},
		{"file", func(path string) error { return os.WriteFile(path, nil, 0o600) }, engine.BlameNode,
			"not a directory"},
		{"another user's", func(path string) error {
			if os.Geteuid() != 0 {
				t.Skip("only root can give files away")
			}
			if err := os.Mkdir(path, 0o700); err != nil {
				return err
			}
			return os.Chown(path, 12345, 12345)
		}, engine.BlameNobody, "belongs to user 12345"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			if err := c.make(s.dir + "/state"); err != nil {
				t.Fatal(err)
			}
			k := s.job(ledgerLine)
			s.start(nil, "pass").wait()
			r := s.attempt(k).Result
			if r.Outcome != engine.OutcomeRefused || r.Blame != c.blame || !strings.Contains(r.Why, c.why) ||
				s.file("ledger") != "" {
				t.Errorf("outcome %d, blame %d: %s", r.Outcome, r.Blame, r.Why)
			}
		})
	}
}

// TestGoneOn: an attempt's command is ended if the job has gone on without it, as after cancel --now.
func TestGoneOn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	k := s.job("echo begun >began; sleep 100")
	p := s.start(nil, "keep")
	s.until("begun", func() bool { return s.file("began") != "" })
	s.change(func(state *fakeState) { state.Jobs[k.Job].Attempts[0].Ended = true })
	s.until("ended", func() bool { return len(s.left()) == 0 && len(s.ours()) == 0 })
	p.Process.Wait() //nolint:errcheck // it is our child
}
