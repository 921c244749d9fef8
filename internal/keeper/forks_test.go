package keeper

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/placectl/placectl/internal/engine"
	"golang.org/x/sys/unix"
)

// hop is a line of perl whose pid changes all the time: each process forks and ends, in a session of its
// own. It ignores SIGTERM.
const hop = `perl -MPOSIX -e '$SIG{TERM}="IGNORE"; my $t = time; exit if fork; setsid; while (time < $t + 20) { exit if fork }'`

// forkers are commands that leave processes behind that are hard to catch.
var forkers = []struct{ name, line string }{
	{"two forks", `(setsid sh -c "sleep 100 & sleep 100 &" &)`},
	{"two forks, one waits", `(setsid sh -c "sleep 100 & sleep 100 &" &); sleep 100`},
	{"a daemon that ignores TERM",
		`(setsid sh -c "trap '' TERM; (setsid sh -c 'trap \"\" TERM; while :; do sleep 0.2; done' &)" &)`},
	{"it forks all the time",
		`trap "" TERM; (trap "" TERM; for i in $(seq 4000); do sleep 0.3 & sleep 0.002; done) & (for i in $(seq 4000); do (sleep 0.2 &) ; sleep 0.002; done) & wait`},
	{"it is another process all the time", hop},
	{"eight of those", strings.Repeat(hop+"; ", 8) + "sleep 100"},
	{"two that replace each other",
		`perl -e '$SIG{TERM}="IGNORE"; my $t = time; my ($other, $me) = ($$, 0); fork and sleep 100, exit; while (time < $t + 20) { $me = $$; my $c = fork // 0; if (!$c) { $other = $me } else { $other = $c } while (kill(0, $other) && time < $t + 20) { select undef, undef, undef, 0.001; waitpid -1, 1 } }' & sleep 100`},
}

// TestForks: whatever a command leaves behind, and however fast that forks, its attempt ends once its time
// is over, and none of it is left. That holds with its own supervisor, with one that has adopted it, and on
// another node.
func TestForks(t *testing.T) {
	if _, err := exec.LookPath("perl"); err != nil {
		t.Skip(err)
	}
	const grace = 100 * time.Millisecond
	for _, f := range forkers {
		for _, how := range []string{"supervised", "adopted", "elsewhere"} {
			t.Run(how+" "+f.name, func(t *testing.T) {
				s := newSite(t)
				at := time.Now()
				switch how {
				case "elsewhere":
					s.watched(f.line, grace, 300*time.Millisecond)
				default:
					k := s.job(`echo >>"$LEDGER"; `+f.line, func(o *Order) {
						o.Walltime, o.Payload.Ending.Grace = time.Second, grace
					})
					p := s.start(nil, "keep")
					s.until("begun", func() bool { return s.file("ledger") != "" })
					if how == "adopted" {
						unix.Kill(p.Pid, unix.SIGKILL)
					}
					p.Wait()
					s.until("ended", func() bool { s.pass(); return s.attempt(k).Ended })
				}
				if took := time.Since(at); took > 10*time.Second {
					t.Errorf("the attempt took %v", took)
				}
				for wait := 0; len(s.ours()) > 0; wait++ { // the supervisor is about to end
					if wait > 100 {
						t.Fatalf("left: processes %v; notes:\n%s", s.ours(), s.file("notes"))
					}
					time.Sleep(10 * time.Millisecond)
				}
			})
		}
	}
}

// watched runs a line of shell as for another node, and breaks the connection after a while.
func (s *site) watched(line string, grace, after time.Duration) {
	s.t.Helper()
	e := Elsewhere{Words: []string{"sh", "-c", line}, Env: s.env, Dir: s.dir, Grace: grace}
	text, err := json.Marshal(e)
	if err != nil {
		s.t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(self, "watch")
	cmd.Env = s.env
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		_, err = in.Write(append(text, '\n'))
	}
	if err != nil {
		s.t.Fatal(err)
	}
	time.Sleep(after)
	in.Close()
	cmd.Wait() //nolint:errcheck // with the command's status
}

// TestLeavesAtRandom: many attempts run at once, whose processes change their parents when the command ends.
// The end of each is known at once, and none waits for processes that nothing will end.
func TestLeavesAtRandom(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	s := newSite(t)
	var all sync.WaitGroup
	for i := range 60 {
		line := fmt.Sprintf(`(setsid sh -c "sleep 100 & sleep 100 & (sleep 0.0%d; sleep 100) &" &)`, i%10)
		s.job(line, func(o *Order) { o.Walltime, o.Payload.Ending.Grace = 5*time.Second, 100*time.Millisecond })
		p := s.start(nil, "keep")
		all.Add(1)
		go func() { defer all.Done(); p.Process.Wait() }()
		if i%6 == 5 {
			all.Wait()
		}
	}
	all.Wait()
	for id, j := range s.get().Jobs {
		if a := j.Attempts[0]; !a.Ended || a.Result.Outcome != engine.OutcomeExited {
			t.Errorf("job %d: result %+v, want a command that exited", id, a.Result)
		}
	}
	if ours := s.ours(); len(ours) > 0 {
		t.Errorf("left: processes %v", ours)
	}
	if notes := s.file("notes"); !bytes.Equal([]byte(notes), nil) {
		t.Errorf("notes, want none:\n%s", notes)
	}
}

// TestWardenSaysNoneLeft: until a warden says that nothing of its attempt is left, something is, whatever
// /proc lists.
func TestWardenSaysNoneLeft(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, empty := range []bool{false, true} {
		a := &attendance{slot: new(slot), warden: s.sleeper().Pid, over: true, empty: empty}
		if a.left() == empty {
			t.Errorf("the warden says that none is left: %v; left() = %v", empty, a.left())
		}
	}
}

// TestSweepAgain: a sweep goes on while it finds new processes.
func TestSweepAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first, second := s.sleeper(), s.sleeper()
	rounds := 0
	storm := sweep(func(fn func(pid int)) {
		fn(first.Pid)
		if rounds++; rounds > 1 { // a process forked meanwhile
			fn(second.Pid)
		}
	})
	if storm || rounds != 3 {
		t.Errorf("the sweep made %d rounds; storm: %v", rounds, storm)
	}
	s.until("killed", func() bool { return !living(first) && !living(second) })
}
