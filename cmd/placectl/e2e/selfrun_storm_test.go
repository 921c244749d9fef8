package e2e

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verb/run"
)

var selfrunStorm = flag.Duration("selfrun-storm", 5*time.Second,
	"how long attendants, supervisors and verbs are killed")

// selfrun is a queue that runs by itself, in a folder and with a program of its own.
type selfrun struct {
	t            *testing.T
	dir, program string
}

func newSelfrun(t *testing.T, cpus int) *selfrun {
	t.Helper()
	dir := t.TempDir()
	s := &selfrun{t, dir, filepath.Join(dir, "bin", "placectl")}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(self, s.program); err != nil { // so our processes are known by their program
		content, err := os.ReadFile(self)
		if err == nil {
			err = os.WriteFile(s.program, content, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	s.do("init", "--set", "start=auto", "--set", "state_dir="+filepath.Join(dir, "state"))
	s.do("node", "add", host, "ncpus="+strconv.Itoa(cpus))
	t.Cleanup(func() {
		for _, p := range s.processes() {
			syscall.Kill(p.pid, syscall.SIGKILL) //nolint:errcheck // it may have ended
		}
	})
	return s
}

func (s *selfrun) command(env []string, words ...string) *exec.Cmd {
	c := exec.Command(s.program, words...)
	c.Dir = s.dir
	c.Env = append([]string{"PATH=" + filepath.Dir(s.program) + ":/usr/bin:/bin", "HOME=" + s.dir,
		"PLACECTL_DB=" + s.dir + "/placectl.db"}, env...)
	return c
}

// do runs a verb that must succeed, and leaves an attendant as usual.
func (s *selfrun) do(words ...string) string {
	s.t.Helper()
	out, err := s.command(nil, words...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("%v: %v: %s", words, err, out)
	}
	return strings.TrimSpace(string(out))
}

// looks runs a verb that leaves no attendant.
func (s *selfrun) looks(words ...string) string {
	s.t.Helper()
	out, err := s.command([]string{session.StartVariable + "=manual"}, words...).Output()
	if err != nil {
		s.t.Fatalf("%v: %v", words, err)
	}
	return strings.TrimSpace(string(out))
}

// ours is one of our processes.
type ours struct {
	pid  int
	verb string
}

// processes lists the processes that run our program, with their verbs. Gates have none.
func (s *selfrun) processes() (list []ours) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		if exe, err := os.Readlink(dir + "/exe"); err != nil || exe != s.program {
			continue
		}
		text, _ := os.ReadFile(dir + "/cmdline")
		pid, _ := strconv.Atoi(filepath.Base(dir))
		p := ours{pid, ""}
		for _, word := range strings.Split(string(text), "\x00") {
			if slices.Contains([]string{"attend", "keep", "submit", "status"}, word) {
				p.verb = word
				break
			}
		}
		list = append(list, p)
	}
	return list
}

// live counts the processes of some verbs.
func (s *selfrun) live(verbs ...string) (n int) {
	for _, p := range s.processes() {
		if slices.Contains(verbs, p.verb) {
			n++
		}
	}
	return n
}

// waiting returns how many jobs have not ended.
func (s *selfrun) waiting() int {
	n, err := strconv.Atoi(s.looks("query", "SELECT count(*) FROM jobs WHERE state IN ('queued', 'reserved', "+
		"'running', 'held', 'late')", "-o", "csv", "--no-header"))
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

// drained waits until all jobs have ended.
func (s *selfrun) drained(within time.Duration) bool {
	s.t.Helper()
	for end := time.Now().Add(within); s.waiting() > 0; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// TestSelfrunStorm: while attendants, supervisors and verbs are killed, each job runs once: in chains that
// submit themselves, in arrays and after dependencies. A lost job is not retried. After the last kill the
// queue drains without a command if a supervisor lives, otherwise after the next status.
func TestSelfrunStorm(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	s := newSelfrun(t, 16)
	// A killed verb is repeated with its key.
	persist :=
		`until placectl submit -q -t 10m --no-requeue --out /dev/null -o id --key "$@" >answer.$1; do sleep 0.02; done; cat answer.$1`
	chain := "echo chain $1 $2 >>ledger\ntest $2 = 0 || sh persist chain-$1-$2 -- sh chain $1 $(($2 - 1))\n"
	for name, text := range map[string]string{"persist": persist, "chain": chain} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const chains, links, pairs, elements = 10, 10, 50, 100 // 300 jobs
	want := make(map[string]int)
	shell := func(words ...string) string {
		c := s.command(nil)
		c.Path, c.Args = "/bin/sh", append([]string{"sh"}, words...)
		out, err := c.Output()
		if err != nil {
			t.Errorf("%v: %v", words, err)
		}
		return strings.TrimSpace(string(out))
	}
	var submits sync.WaitGroup
	submits.Go(func() {
		for i := range chains {
			shell("persist", fmt.Sprint("chain-", i, "-first"), "--", "sh", "chain", fmt.Sprint(i), fmt.Sprint(links-1))
		}
		shell("persist", "array", "--array", fmt.Sprint("1-", elements), "--", "sh", "-c",
			"sleep 0.05; echo element $PLACECTL_INDEX >>ledger")
		for i := range pairs {
			id := shell("persist", fmt.Sprint("before-", i), "--", "sh", "-c", fmt.Sprint("sleep 0.05; echo before ", i,
				" >>ledger"))
			shell("persist", fmt.Sprint("behind-", i), "--afterany", id, "--", "sh", "-c",
				fmt.Sprint("echo behind ", i, " >>ledger"))
		}
	})
	for i := range chains {
		for k := range links {
			want[fmt.Sprint("chain ", i, " ", k)] = 1
		}
	}
	for i := range elements {
		want[fmt.Sprint("element ", i+1)] = 1
	}
	for i := range pairs {
		want[fmt.Sprint("before ", i)], want[fmt.Sprint("behind ", i)] = 1, 1
	}

	killed := make(map[string]int)
	storm := func() {
		var mine []ours
		for _, p := range s.processes() {
			if p.verb != "" {
				mine = append(mine, p)
			}
		}
		if len(mine) > 0 {
			p := mine[rng.IntN(len(mine))]
			if syscall.Kill(p.pid, syscall.SIGKILL) == nil {
				killed[p.verb]++
			}
		}
	}
	for end := time.Now().Add(*selfrunStorm); time.Now().Before(end); time.Sleep(
		time.Duration(rng.IntN(100)) * time.Millisecond) {
		storm()
	}
	submits.Wait()
	t.Logf("killed %v; %d jobs are left", killed, s.waiting())
	attendants := func() {
		for _, p := range s.processes() {
			if p.verb == "attend" {
				syscall.Kill(p.pid, syscall.SIGKILL) //nolint:errcheck // it may have ended
			}
		}
	}
	if rng.IntN(2) == 0 { // one keeper lives
		anchor := s.do("submit", "-t", "1m", "--priority", "100", "-o", "id", "--out", "/dev/null", "--", "sleep", "2")
		s.looks("wait", anchor, "--for", "started", "--timeout", "60s")
		attendants()
	} else { // no keeper lives once the running jobs have ended
		for s.live("keep", "attend") > 0 {
			for _, p := range s.processes() {
				if p.verb != "" {
					syscall.Kill(p.pid, syscall.SIGKILL) //nolint:errcheck // it may have ended
				}
			}
			time.Sleep(20 * time.Millisecond)
		}
		s.do("status")
	}
	if !s.drained(90 * time.Second) {
		says, _ := exec.Command("sh", "-c", "head -c 2000 "+s.dir+"/state/attend.*[0-9a-f] "+s.dir+"/state/*.log "+
			s.dir+"/state/*.second; ls -l "+s.dir+"/state/*").CombinedOutput()
		t.Errorf("%d jobs are left, and the processes %v: %s\n%s", s.waiting(), s.processes(), says, s.looks("status"))
	}
	text, err := os.ReadFile(filepath.Join(s.dir, "ledger"))
	if err != nil {
		t.Fatal(err)
	}
	ran := make(map[string]int)
	for line := range strings.Lines(string(text)) {
		ran[strings.TrimSpace(line)]++
	}
	for what, n := range ran {
		if n != want[what] {
			t.Errorf("%s ran %d times", what, n)
		}
	}
	// A warden killed just before its command is executed leaves a lost attempt. The rest of the
	// chain after a lost job was never submitted.
	missing := 0
	for what := range want {
		if ran[what] > 0 {
			continue
		}
		var of, link int
		if _, err := fmt.Sscanf(what, "chain %d %d", &of, &link); err != nil || link == links-1 ||
			ran[fmt.Sprint("chain ", of, " ", link+1)] > 0 {
			missing++
			t.Logf("%s never ran", what)
		}
	}
	lost, err := strconv.Atoi(s.looks("query", "SELECT count(DISTINCT job) FROM attempts WHERE outcome = 'lost'", "-o",
		"id"))
	if err != nil || missing > lost {
		t.Errorf("%d jobs never ran, and %d were lost (%v)\n%s", missing, lost, err,
			s.looks("query", "SELECT job, state, reason FROM jobs WHERE state <> 'finished'", "-o", "csv"))
	}
	s.looks("check")
}

// TestNothingIsLeft: 15 s after the last job has ended no process of ours is left. The attendant stays for
// 10 s after it.
func TestNothingIsLeft(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 15 s")
	}
	t.Parallel()
	s := newSelfrun(t, 2)
	s.do("submit", "-q", "-t", "1m", "--out", "/dev/null", "--", "sh", "-c", "setsid sleep 100 & exit")
	if !s.drained(20 * time.Second) {
		t.Fatal("the job does not end")
	}
	ended := time.Now()
	for len(s.processes()) > 0 {
		if time.Since(ended) > 15*time.Second {
			t.Fatalf("processes are left 15 s later: %v", s.processes())
		}
		time.Sleep(200 * time.Millisecond)
	}
	if time.Since(ended) < run.QuietTime-time.Second {
		t.Errorf("the attendant left only %v after the last job", time.Since(ended))
	}
	left, _ := filepath.Glob(filepath.Join(s.dir, "state", "*", "1.1"))
	if len(left) > 0 {
		t.Errorf("left in the state directory: %v", left)
	}
}

// TestUnmounted: an attendant does not prevent a disk from being unmounted, and leaves after that.
func TestUnmounted(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	if os.Getuid() != 0 {
		t.Skip("only root can mount a file system")
	}
	t.Parallel()
	s := newSelfrun(t, 2)
	script := `set -e
mkdir disk
mount -t tmpfs none disk
export PLACECTL_DB=$PWD/disk/placectl.db
placectl init -q --local --set state_dir=$PWD/state >/dev/null
placectl submit -q -t 1m --out /dev/null -- true >/dev/null
placectl wait 1 --timeout 20s >/dev/null
pid=$(placectl status -o json | sed -n 's/.*"pid": *\([0-9]*\).*/\1/p')
test -n "$pid"
for tries in $(seq 150); do umount disk 2>/dev/null && break; sleep 0.1; done # its handle is open until it has been idle for 5 s
! test -e disk/placectl.db
for tries in $(seq 80); do
	if ! test -e /proc/$pid || grep -q 'State:.Z' /proc/$pid/status; then exit 0; fi
	sleep 0.1
done
echo "process $pid is left"
exit 1
`
	c := s.command(nil)
	c.Path, c.Args = "/usr/bin/unshare", []string{"unshare", "-m", "sh", "-c", script}
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("the script fails: %v: %s", err, out)
	}
}
