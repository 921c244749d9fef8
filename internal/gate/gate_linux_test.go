package gate

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// ordered is an order with its warden's reports.
type ordered struct {
	*Order
	t    testing.TB
	dir  string
	told *os.File
}

func order(t testing.TB, words ...string) *ordered {
	t.Helper()
	o := &ordered{t: t, dir: t.TempDir()}
	if err := syscall.Mkfifo(o.dir+"/told", 0o600); err != nil {
		t.Fatal(err)
	}
	open := func(name string, flags int) *os.File {
		f, err := os.OpenFile(filepath.Join(o.dir, name), flags, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	o.told = open("told", os.O_RDONLY|syscall.O_NONBLOCK)
	out, in := open("out", os.O_CREATE|os.O_RDWR|os.O_APPEND), open("in", os.O_CREATE|os.O_RDONLY)
	o.Order = &Order{Words: words, Env: []string{"PATH=/bin:/usr/bin"}, Dir: o.dir, Umask: 0o22,
		Streams: [3]int{int(in.Fd()), int(out.Fd()), int(out.Fd())},
		Journal: open("journal", os.O_CREATE|os.O_WRONLY|os.O_APPEND), Told: open("told", os.O_WRONLY), Tag: 77}
	return o
}

// start gives the order to a gate.
func (o *ordered) start(g Gate) {
	o.t.Helper()
	if err := g.Start(o.Order); err != nil {
		o.t.Fatal(err)
	}
	o.Told.Close()
	o.Journal.Close()
}

// heard collects the warden's reports until it ends. The last one counts.
func (o *ordered) heard() (s Said, pid int, failed error) {
	o.t.Helper()
	for lines := bufio.NewScanner(o.told); lines.Scan(); {
		text, whole := Unsealed(lines.Text())
		is, ok := o.Heard(text)
		if !whole || !ok {
			o.t.Fatalf("the warden's line %q: complete: %v, parsed: %v", lines.Text(), whole, ok)
		}
		if is.Begins != 0 {
			pid = is.Begins
		}
		if is.Failed != nil {
			failed = is.Failed
		}
		s = is
	}
	return s, pid, failed
}

func (o *ordered) file(name string) string {
	text, err := os.ReadFile(filepath.Join(o.dir, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		o.t.Fatal(err)
	}
	return string(text)
}

func forkedGate(t testing.TB) *forked {
	t.Helper()
	g, err := Forked()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g.(*forked)
}

// withEach runs a test with each of the gates.
func withEach(t *testing.T, test func(*testing.T, Gate)) {
	t.Run("forked", func(t *testing.T) { test(t, forkedGate(t)) })
	t.Run("plain", func(t *testing.T) { test(t, Plain()) })
}

// TestGateSharesNothing: a gate does not have the files that its process had mapped with others when it
// was forked. A database's lock would stay with them.
func TestGateSharesNothing(t *testing.T) {
	t.Parallel()
	f, err := os.Create(filepath.Join(t.TempDir(), "shared"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(1 << 16); err != nil {
		t.Fatal(err)
	}
	b, err := unix.Mmap(int(f.Fd()), 0, 1<<16, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(b) //nolint:errcheck // the test is over
	g := forkedGate(t)
	order := order(t, "true")
	order.start(g)
	order.heard() // now it is where it waits for orders
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", g.pid))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(maps), f.Name()) {
		t.Errorf("the gate maps %s:\n%s", f.Name(), maps)
	}
}

// TestGate: a command is executed as ordered. Its warden reports how it ended, to its listener and in the
// journal.
func TestGate(t *testing.T) { withEach(t, tryGate) }

func tryGate(t *testing.T, g Gate) {
	for _, c := range []struct {
		line   string
		change func(*Order)
		status syscall.WaitStatus
		out    string
	}{
		{line: "exit 3", status: 3 << 8},
		{line: "kill -9 $$", status: 9},
		{line: "pwd -P", change: func(o *Order) { o.Dir = "/" }, out: "/\n"},
		{line: "umask", change: func(o *Order) { o.Umask = 0o27 }, out: "0027\n"},
		{line: "echo $A", change: func(o *Order) { o.Env = append(o.Env, "A=caf\xe9") }, out: "caf\xe9\n"},
		{line: "ulimit -Sn; ulimit -Sc", change: func(o *Order) {
			o.Limits = []Limit{{"nofile", unix.RLIMIT_NOFILE, unix.Rlimit{Cur: 50, Max: 60}},
				{"core", unix.RLIMIT_CORE, unix.Rlimit{}}}
		}, out: "50\n0\n"},
		{line: "test $TASK = $$ && echo same", change: func(o *Order) { o.TaskPID = "TASK" }, out: "same\n"},
		{line: "ls /proc/$$/fd", out: "0\n1\n2\n"},
		{line: "grep -E '^(SigBlk|SigIgn|SigPnd)' /proc/$$/status | grep -v 0000000000000000", status: 1 << 8},
		{line: "cat /proc/self/oom_score_adj", out: "500\n"},
		{line: "test $(ps -o sid= -p $$) = $$ && echo session", out: "session\n"},
		{line: "grep Cpus_allowed_list /proc/self/status", change: func(o *Order) { o.CPUs = []int{0} },
			out: "Cpus_allowed_list:\t0\n"},
	} {
		t.Run(c.line, func(t *testing.T) {
			o := order(t, "sh", "-c", c.line)
			if c.change != nil {
				c.change(o.Order)
			}
			o.start(g)
			s, pid, failed := o.heard()
			if !s.Ended || !s.Empty || s.Status != c.status || pid == 0 || failed != nil || s.MaxRSS == 0 {
				t.Errorf("the warden reports %+v, pid %d, failure %v; want a command that ended with %v", s, pid,
					failed, c.status)
			}
			if out := o.file("out"); out != c.out {
				t.Errorf("the command wrote %q, want %q", out, c.out)
			}
			journal := strings.Split(strings.TrimSpace(o.file("journal")), "\n")
			if len(journal) != 3 {
				t.Errorf("the journal has %d lines, want 3: %q", len(journal), journal)
			}
			if text, whole := Unsealed(journal[len(journal)-1]); !whole {
				t.Errorf("the journal's last line is incomplete: %q", journal)
			} else if last, ok := o.Heard(text); !ok || last != s {
				t.Errorf("the journal says %+v, Told says %+v", last, s)
			}
		})
	}
}

// TestGateOthers: the warden waits for all descendants of the command, and counts what they use.
func TestGateOthers(t *testing.T) { withEach(t, tryGateOthers) }

func tryGateOthers(t *testing.T, g Gate) {
	o := order(t, "sh", "-c",
		`(setsid sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; sleep 0.2' &) ; exit 4`)
	o.start(g)
	lines := bufio.NewScanner(o.told)
	var list []Said
	for lines.Scan() {
		text, _ := Unsealed(lines.Text())
		s, _ := o.Heard(text)
		list = append(list, s)
	}
	if n := len(list); n != 4 || !list[2].Ended || list[2].Empty || !list[3].Empty || list[3].Status != 4<<8 ||
		list[3].User < list[2].User+5*time.Millisecond {
		t.Errorf("the warden reports %+v, want the command's end, and later that of all others with their use", list)
	}
	if journal := o.file("journal"); !strings.Contains(journal, "\ne 77 0 1024 ") ||
		!strings.Contains(journal, "\nz 77 1 1024 ") {
		t.Errorf("the journal lacks the end of the command or of the others: %q", journal)
	}
}

// TestGateFails: what cannot be executed is never reported as begun, and the reason is reported.
func TestGateFails(t *testing.T) { withEach(t, tryGateFails) }

func tryGateFails(t *testing.T, g Gate) {
	for _, c := range []struct {
		name   string
		words  []string
		change func(*Order)
		begins bool
		why    string
		status int
	}{
		{name: "no program", words: []string{"there-is-none"}, begins: true,
			why: "there-is-none: no such file or directory", status: 127},
		{name: "not executable", words: []string{"/dev/null"}, begins: true, why: "/dev/null: permission denied",
			status: 126},
		{name: "no words", begins: true, why: "no such file", status: 127},
		{name: "no directory", words: []string{"true"}, change: func(o *Order) { o.Dir = "/there/is/none" },
			why: "chdir /there/is/none: no such file or directory", status: 125},
		{name: "cores", words: []string{"true"}, change: func(o *Order) { o.CPUs = []int{1000} },
			why: "cores [1000]: invalid argument", status: 125},
		{name: "limit", words: []string{"true"}, change: func(o *Order) {
			o.Limits = []Limit{{"core", unix.RLIMIT_CORE, unix.Rlimit{Cur: 2, Max: 1}}}
		}, begins: true, why: "the limit core of 2: invalid argument", status: 125},
		{name: "the journal cannot be written", words: []string{"true"}, change: func(o *Order) {
			full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
			if err != nil {
				t.Skip(err)
			}
			o.Journal = full
		}, why: "no space left on device", status: 125},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := order(t, c.words...)
			if c.change != nil {
				c.change(o.Order)
			}
			o.start(g)
			s, pid, failed := o.heard()
			if failed == nil || !strings.Contains(failed.Error(), c.why) || (pid != 0) != c.begins ||
				s.Status.ExitStatus() != c.status {
				t.Errorf("the warden reports %v, pid %d, %+v; want the failure %q, status %d", failed, pid, s, c.why,
					c.status)
			}
		})
	}
	o := order(t, "true", "a\x00b")
	if err := g.Start(o.Order); err == nil {
		t.Error("Start accepts a NUL in an argument")
	}
	o = order(t, "true")
	o.Env = []string{strings.Repeat("x", maxOrder)}
	if err := g.Start(o.Order); !errors.Is(err, syscall.E2BIG) {
		t.Errorf("Start with too large an environment = %v, want E2BIG", err)
	}
}

// TestGateKilled: a killed gate is replaced, and what it has started goes on.
func TestGateKilled(t *testing.T) {
	g := forkedGate(t)
	first := order(t, "sh", "-c", "sleep 0.3; exit 5")
	first.start(g)
	time.Sleep(50 * time.Millisecond)
	was := g.PID()
	unix.Kill(was, unix.SIGKILL)
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); {
		if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", was)); err != nil ||
			strings.Contains(string(text), ") Z") {
			break
		}
	}
	second := order(t, "sh", "-c", "exit 6")
	second.start(g)
	if s, _, _ := second.heard(); s.Status.ExitStatus() != 6 || g.PID() == was {
		t.Errorf("the second gate's command ended as %+v, want status 6 from a new gate", s)
	}
	if s, _, _ := first.heard(); s.Status.ExitStatus() != 5 {
		t.Errorf("the killed gate's command ended as %+v, want status 5", s)
	}
}

// TestGateUnheard: a keeper that is gone or does not listen does not affect a command.
func TestGateUnheard(t *testing.T) { withEach(t, tryGateUnheard) }

func tryGateUnheard(t *testing.T, g Gate) {
	o := order(t, "sh", "-c", "echo begun >>begun; sleep 0.2; exit 7")
	o.told.Close()
	o.start(g)
	for end := time.Now().Add(10 * time.Second); !strings.Contains(o.file("journal"), "\ne "); time.Sleep(
		5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the command's end is not in the journal after 10 s: %q", o.file("journal"))
		}
	}
	if !strings.Contains(o.file("journal"), "\ne 77 1 1792 ") {
		t.Errorf("the journal lacks the end with status 7: %q", o.file("journal"))
	}
}

// TestUnsealed: an incomplete line is recognised.
func TestUnsealed(t *testing.T) {
	line := strings.TrimSuffix(string(Sealed([]byte(`{"a":1}`))), "\n")
	if text, ok := Unsealed(line); !ok || text != `{"a":1}` {
		t.Errorf("Unsealed = %q, %v, want the sealed text", text, ok)
	}
	for i := range line {
		if _, ok := Unsealed(line[:i]); ok {
			t.Errorf("Unsealed accepts the incomplete line %q", line[:i])
		}
		if _, ok := Unsealed(line[:i] + "~" + line[i+1:]); ok {
			t.Errorf("Unsealed accepts the wrong line %q", line[:i]+"~"+line[i+1:])
		}
	}
}

// BenchmarkGate executes an empty command with each gate, from a small process and from a large one.
func BenchmarkGate(b *testing.B) {
	for _, heap := range []int{0, 2 << 30} {
		name := fmt.Sprintf("heap=%dG/", heap>>30)
		ballast := make([]byte, heap)
		for i := 0; i < heap; i += 4096 {
			ballast[i] = 1
		}
		b.Run(name+"forked", func(b *testing.B) { executeEmpty(b, forkedGate(b)) })
		b.Run(name+"plain", func(b *testing.B) { executeEmpty(b, Plain()) })
		runtime.KeepAlive(ballast)
	}
}

func executeEmpty(b *testing.B, g Gate) {
	o := order(b, "/bin/true")
	for b.Loop() {
		if err := g.Start(o.Order); err != nil {
			b.Fatal(err)
		}
		for lines := bufio.NewScanner(o.told); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), string(rune(saysEnded))) {
				break
			}
		}
	}
}
