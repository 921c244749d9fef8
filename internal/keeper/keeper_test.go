package keeper

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/placectl/placectl/internal/engine"
)

// TestSupervise: a claimed attempt's command is executed, and its end is reported.
func TestSupervise(t *testing.T) {
	s := newSite(t)
	for _, c := range []struct {
		line    string
		outcome engine.Outcome
		exit    int
		signal  int
	}{
		{"exit 0", engine.OutcomeExited, 0, 0},
		{"exit 7", engine.OutcomeExited, 7, 0},
		{"kill -USR2 $$", engine.OutcomeSignal, 128 + int(syscall.SIGUSR2), int(syscall.SIGUSR2)},
	} {
		k := s.job(c.line)
		a := s.supervise(k)
		if r := a.Result; !a.Ended || r.Outcome != c.outcome || r.Exit != c.exit || r.Signal != c.signal ||
			r.Use.MaxRSS < 100<<10 {
			t.Errorf("%s: result %+v, want outcome %d, exit %d, signal %d; notes:\n%s", c.line, r, c.outcome, c.exit,
				c.signal, s.file("notes"))
		}
	}
	if left := s.left(); len(left) > 0 {
		t.Errorf("left: slots %v", left)
	}
	if notes := s.file("notes"); notes != "" {
		t.Errorf("notes, want none:\n%s", notes)
	}
}

// TestOutcomes: what cannot be executed, and what is ended, is reported as in jobs.md.
func TestOutcomes(t *testing.T) {
	for _, c := range []struct {
		name    string
		line    string
		change  func(*Order)
		outcome engine.Outcome
		exit    int
		blame   engine.Blame
		why     string
	}{
		{name: "no such program", change: func(o *Order) { o.Command = []string{"there-is-none"} },
			outcome: engine.OutcomeExited, exit: 127, blame: engine.BlameJob, why: "there-is-none"},
		{name: "not executable", change: func(o *Order) { o.Command = []string{"/dev/null"} },
			outcome: engine.OutcomeExited, exit: 126, blame: engine.BlameJob},
		{name: "directory", change: func(o *Order) { o.Payload.Dir = "/there/is/none" }, outcome: engine.OutcomeExited,
			exit: 125, why: "/there/is/none"},
		{name: "no folder for its output", line: "exit 0", change: func(o *Order) { o.Payload.Out = "none/out" },
			outcome: engine.OutcomeExited, exit: 125, why: "/none/out: no such file"},
		{name: "no folder for its errors", line: "exit 0", change: func(o *Order) { o.Payload.Err = "none/err" },
			outcome: engine.OutcomeExited, exit: 125, why: "/none/err: no such file"},
		{name: "a file as its folder", line: "exit 0", change: func(o *Order) { o.Payload.Out = "/dev/full/x" },
			outcome: engine.OutcomeExited, exit: 125, why: "/dev/full/x: not a dir"},
		{name: "another name", line: "exit 0",
			change:  func(o *Order) { o.Payload.Owner = &engine.Submitter{UID: 7, Name: "bob"} },
			outcome: engine.OutcomeRefused, blame: engine.BlameNobody,
			why: "user 7 is ann on here, but bob where"},
		{name: "the same name", line: "exit 2",
			change:  func(o *Order) { o.Payload.Owner = &engine.Submitter{UID: 7, Name: "ann"} },
			outcome: engine.OutcomeExited, exit: 2},
		{name: "cores", change: func(o *Order) { o.CPUs = []int{1000} }, outcome: engine.OutcomeExited, exit: 125,
			why: "cores [1000]: invalid argument"},
		{name: "walltime", line: "sleep 100", change: func(o *Order) { o.Walltime = 200 * time.Millisecond },
			outcome: engine.OutcomeWalltime, exit: 128 + 15},
		{name: "walltime ignored", line: "trap '' TERM; sleep 100; sleep 100", outcome: engine.OutcomeWalltime,
			exit:   128 + 9,
			change: func(o *Order) { o.Walltime, o.Payload.Ending.Grace = 2*time.Second, 200*time.Millisecond }},
		{name: "status of its own", line: "trap 'exit 3' TERM; sleep 100 & wait", outcome: engine.OutcomeWalltime,
			exit: 3, change: func(o *Order) { o.Walltime = 2 * time.Second }},
		{name: "memory", line: "trap '' TERM; x=$(head -c 50000000 /dev/zero | tr '\\0' x); sleep 100",
			outcome: engine.OutcomeOOM, exit: 128 + 9, why: "it asked for",
			change: func(o *Order) { o.Enforce, o.Memory, o.Payload.Ending.Grace = "poll", 20<<20, 10*time.Second }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			k := s.job(c.line, c.change)
			a := s.supervise(k)
			if r := a.Result; !a.Ended || r.Outcome != c.outcome || r.Exit != c.exit || r.Blame != c.blame ||
				!strings.Contains(r.Why, c.why) {
				t.Errorf("result %+v, want outcome %d, exit %d, blame %d, why %q; notes:\n%s", r, c.outcome, c.exit,
					c.blame, c.why, s.file("notes"))
			}
			if left, ours := s.left(), s.ours(); len(left) > 0 || len(ours) > 0 {
				t.Errorf("left: slots %v, processes %v", left, ours)
			}
		})
	}
}

// TestEndedWhileStopped: a command ended while its keeper or its warden was stopped, until after its walltime or a
// request to end it. Its own end counts, and what it has left is ended all the same.
func TestEndedWhileStopped(t *testing.T) {
	for _, who := range []string{"keeper", "warden"} {
		for _, why := range []string{"walltime", "request"} {
			t.Run(who+", "+why, func(t *testing.T) {
				t.Parallel()
				s := newSite(t)
				k := s.job(`sleep 100 & echo $$ $PPID >"$LEDGER"; until test -e "$LEDGER.go"; do sleep 0.01; done`,
					func(o *Order) { o.Walltime, o.Payload.Ending.Grace = 2*time.Second, 100*time.Millisecond })
				keeper := s.start(nil, "keep")
				s.until("begun", func() bool { return strings.HasSuffix(s.file("ledger"), "\n") })
				var command, stopped int
				fmt.Sscan(s.file("ledger"), &command, &stopped)
				if who == "keeper" {
					stopped = keeper.Pid
				}
				syscall.Kill(stopped, syscall.SIGSTOP)
				s.until("stopped", func() bool { _, is := Look(stopped, 0); return is })
				if err := os.WriteFile(s.dir+"/ledger.go", nil, 0o600); err != nil {
					t.Fatal(err)
				}
				s.until("ended", func() bool { return !Lives(command, 0) })
				if why == "request" {
					s.change(func(st *fakeState) { st.Jobs[k.Job].Attempts[0].Ending = true })
				}
				time.Sleep(2500 * time.Millisecond) // it looks every 20 ms, and the walltime is over
				syscall.Kill(stopped, syscall.SIGCONT)
				keeper.wait()
				if r := s.attempt(k).Result; r.Outcome != engine.OutcomeExited || r.Exit != 0 || r.Why != "" ||
					r.Use.Leftover != 1 {
					t.Errorf("result %+v, want exit 0 and one process left over; notes:\n%s", r, s.file("notes"))
				}
				if ours := s.ours(); len(ours) > 0 {
					t.Errorf("left: processes %v", ours)
				}
			})
		}
	}
}

// TestUse: the processor time of a command and of the children it has waited for is counted.
func TestUse(t *testing.T) {
	s := newSite(t)
	k := s.job(`sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'`)
	if u := s.supervise(k).Result.Use; u.CPUUser+u.CPUSystem < 20*time.Millisecond || u.Leftover != 0 {
		t.Errorf("use %+v, want at least 20 ms of processor time and nothing left over", u)
	}
}

// TestNoControlGroup: without control groups enforce=cgroup refuses attempts, and auto reads their memory each
// second.
func TestNoControlGroup(t *testing.T) {
	if g, err := (&keeper{parent: groupParent}).makeGroup("placectl-test"); err == nil {
		g.remove()
		t.Skip("control groups are available here")
	}
	s := newSite(t)
	k := s.job("exit 0", func(o *Order) { o.Enforce, o.Memory = "cgroup", 1<<30 })
	if r := s.supervise(k).Result; r.Outcome != engine.OutcomeRefused || !strings.Contains(r.Why, "enforce=cgroup") {
		t.Errorf("enforce=cgroup: outcome %d: %s, want a refusal", r.Outcome, r.Why)
	}
	k = s.job("exit 0", func(o *Order) { o.Enforce, o.Memory = "auto", 1<<30 })
	if r := s.supervise(k).Result; r.Outcome != engine.OutcomeExited || r.Exit != 0 {
		t.Errorf("enforce=auto: outcome %d: %s, want exit 0", r.Outcome, r.Why)
	}
	k = s.job("x=$(head -c 50000000 /dev/zero | tr '\\0' x); sleep 100", func(o *Order) {
		o.Enforce, o.Memory = "auto", 20<<20
	})
	if r := s.supervise(k).Result; r.Outcome != engine.OutcomeOOM || !strings.Contains(r.Why, "it asked for 20 MiB") {
		t.Errorf("enforce=auto, too much memory: outcome %d: %s, want oom", r.Outcome, r.Why)
	}
	if f := examineGroups(); f.State != Limited || !strings.Contains(f.Detail, "read each second") {
		t.Errorf("doctor says %+v, want limited, and that memory is read each second", f)
	}
}

// TestOpenFiles: a job without a limit of open files gets the limit with which its supervisor was started,
// not the one to which the Go runtime has raised it.
func TestOpenFiles(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	k := s.job(`ulimit -Sn >"$LEDGER.limit"`)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command("/bin/sh", "-c", `ulimit -Sn 99; exec "$0" keep`, self)
	c.Env = s.env
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("the keeper fails: %v: %s", err, out)
	}
	if got := strings.TrimSpace(s.file("ledger.limit")); got != "99" {
		t.Errorf("the job's limit of open files is %s, want 99: %+v", got, s.attempt(k).Result)
	}
}
