package e2e

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
)

// holdMain is the program placectl-hold read|write DB. It says when it has a transaction, and holds it
// until it is ended.
func holdMain() {
	db, err := engine.Open(os.Args[2], nil)
	if err == nil {
		hold := func(*engine.Tx) error {
			fmt.Println("held")
			time.Sleep(time.Hour)
			return nil
		}
		if os.Args[1] == "write" {
			err = db.Update(hold)
		} else {
			err = db.View(hold)
		}
	}
	fmt.Println(err)
	os.Exit(1)
}

// hold starts such a process.
func (s *shell) hold(how string) *exec.Cmd {
	s.t.Helper()
	path := filepath.Join(s.t.TempDir(), "placectl-hold")
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.Symlink(self, path); err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(path, how, s.db)
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() }) //nolint:errcheck // it may have ended
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "held\n" {
		s.t.Fatalf("the holder prints %q, %v, want held", line, err)
	}
	return cmd
}

// send sends a process a signal. For SIGSTOP it waits until all threads are stopped: a process that waits
// for a lock may get it before it notices the signal.
func (s *shell) send(p *os.Process, sig syscall.Signal) {
	s.t.Helper()
	if err := p.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		s.t.Fatal(err)
	}
	for range 500 {
		if sig != syscall.SIGSTOP || standing(p.Pid) {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
	s.t.Fatal("the process does not stop")
}

// standing reports whether all threads of a process are stopped.
func standing(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, thread := range threads {
		stat, err := os.ReadFile(thread)
		_, state, _ := strings.Cut(string(stat), ") ")
		if err == nil && !strings.ContainsAny(state[:1], "TZX") {
			return false
		}
	}
	return true
}

// soon runs a command that must get the lock soon.
func (s *shell) soon(what string, args ...string) {
	s.t.Helper()
	cmd, _, complaint := s.command("", append([]string{"--lock-timeout", "5s"}, args...)...)
	if err := cmd.Run(); err != nil {
		s.t.Fatalf("%s: %v: %s", what, err, complaint)
	}
}

// TestStopped: a stopped process blocks others only while it is writing. Then they are told which
// process it is.
func TestStopped(t *testing.T) {
	s := newShell(t)
	s.must(csvOfNodes("n", 50), "node", "import", "-")

	reader := s.hold("read")
	time.Sleep(time.Second) // by then it has left the file
	s.send(reader.Process, syscall.SIGSTOP)
	s.soon("beside a reader that is stopped", "place", "1:ncpus=1")

	writer := s.hold("write")
	s.send(writer.Process, syscall.SIGSTOP)
	cmd, _, complaint := s.command("", "--lock-timeout", "300ms", "place", "1:ncpus=1")
	err := cmd.Run()
	want := fmt.Sprintf("by process %d (\"placectl-hold write", writer.Process.Pid)
	if said := complaint.String(); status(err) != exit.Locked || !strings.Contains(said, want) ||
		!strings.Contains(said, "has written since") || !strings.Contains(said, "and is stopped") {
		t.Errorf("beside a stopped writer: status %d, want %d and its pid: %s", status(err), exit.Locked, said)
	}

	waiter := s.start("place", "1:ncpus=1")
	time.Sleep(400 * time.Millisecond) // it waits for the lock
	s.send(waiter.Process, syscall.SIGSTOP)
	if err := writer.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	writer.Wait() //nolint:errcheck // it was killed
	s.soon("beside a waiter that is stopped", "place", "1:ncpus=1")
	s.send(waiter.Process, syscall.SIGCONT)
	if err := waiter.Wait(); err != nil {
		t.Errorf("the waiter: %v", err)
	}
	if n := s.jobCount(); n != 3 {
		t.Errorf("there are %d jobs, want 3", n)
	}
	s.must("", "check")
}

// start starts a command.
func (s *shell) start(args ...string) *exec.Cmd {
	s.t.Helper()
	cmd, _, _ := s.command("", args...)
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() }) //nolint:errcheck // it may have ended
	return cmd
}

// standStill stops a reader that has left the file, one that waits, and a check for a while beside
// others, and then lets them go on.
func (s *shell) standStill() {
	reader, checker := s.hold("read"), s.start("check")
	time.Sleep(300 * time.Millisecond)
	writer := s.hold("write")
	waiter := s.start("queue", "add", "late")
	time.Sleep(50 * time.Millisecond)
	stopped := []*os.Process{reader.Process, waiter.Process}
	if child := s.childOf(checker, time.Millisecond); child != nil { // it may have ended
		stopped = append(stopped, child)
	}
	for _, p := range stopped {
		s.send(p, syscall.SIGSTOP)
	}
	writer.Process.Kill() //nolint:errcheck // it is there
	writer.Wait()         //nolint:errcheck // it was killed
	s.soon("beside a reader, a waiter and a check that are stopped", "query", "SELECT count(*) FROM jobs")
	s.soon("beside a reader, a waiter and a check that are stopped", "config", "set", "default_walltime=60")
	for _, p := range stopped {
		p.Signal(syscall.SIGCONT) //nolint:errcheck // it may have ended
	}
	if err := waiter.Wait(); err != nil {
		s.t.Errorf("the waiter: %v", err)
	}
	if err := checker.Wait(); err != nil {
		s.t.Errorf("the check: %v", err)
	}
}

// childOf returns the child process of a check, nil if it does not appear in time.
func (s *shell) childOf(check *exec.Cmd, within time.Duration) *os.Process {
	s.t.Helper()
	for deadline := time.Now().Add(within); ; {
		var list []byte
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", check.Process.Pid))
		for _, name := range tasks {
			text, _ := os.ReadFile(name)
			list = append(list, text...)
		}
		if words := strings.Fields(string(list)); len(words) > 0 && isItself(words[0], check.Process.Pid) {
			pid, _ := strconv.Atoi(words[0])
			child, _ := os.FindProcess(pid)
			return child
		}
		if time.Now().After(deadline) {
			return nil
		}
	}
}

// TestStoppedCheck: a stopped check of a large file blocks no other process, because it reads a copy.
func TestStoppedCheck(t *testing.T) {
	s := newShell(t)
	s.must(csvOfNodes("n", 20_000), "node", "import", "-")
	for range 20 {
		check := s.start("check")
		child := s.childOf(check, 5*time.Second)
		if child == nil {
			continue
		}
		s.soon("beside a check", "place", "1:ncpus=1") // usually the check has left the file, and goes on with its copy
		if syscall.Kill(child.Pid, syscall.SIGSTOP) != nil {
			check.Wait() //nolint:errcheck // it was too fast
			continue
		}
		place, _, complaint := s.command("", "--lock-timeout", "3s", "place", "1:ncpus=1")
		err := place.Run()
		if err != nil && status(err) != exit.Locked {
			t.Fatalf("place beside a stopped check: %v: %s", err, complaint)
		}
		met := child.Signal(syscall.SIGCONT) == nil
		if err := check.Wait(); err != nil {
			t.Errorf("check: %v", err)
		}
		if met && err == nil {
			return
		}
		// The child had ended but was not reaped when it was stopped. Or it began only after the
		// first place, and was stopped while it had the file open.
	}
	t.Error("no child of check was found after it had left the file")
}

// TestCheckDiesWithItsChild: the child process of a check ends with it.
func TestCheckDiesWithItsChild(t *testing.T) {
	s := newShell(t)
	s.must(csvOfNodes("n", 20_000), "node", "import", "-")
	for try := range 20 {
		cmd := s.start("check")
		found := s.childOf(cmd, 5*time.Second)
		if found == nil || syscall.Kill(found.Pid, syscall.SIGSTOP) != nil {
			cmd.Wait() //nolint:errcheck // it was too fast
			continue
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		cmd.Wait() //nolint:errcheck // it was killed
		for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", found.Pid))
			if _, state, _ := strings.Cut(string(stat), ") "); err != nil || strings.HasPrefix(state, "Z") {
				return
			}
		}
		t.Fatalf("try %d: the child %d outlives its check", try, found.Pid)
	}
	t.Error("no child of check was found")
}

// isItself reports whether a child of a process runs its own program already. Before that it is only a
// copy of its parent, which waits for it.
func isItself(child string, parent int) bool {
	its, err := os.ReadFile("/proc/" + child + "/cmdline")
	parents, errParent := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", parent))
	return err == nil && errParent == nil && !bytes.Equal(its, parents)
}

// TestWritersBesideLongQuery: writers wait for a long query only until it has left the file.
func TestWritersBesideLongQuery(t *testing.T) {
	s := newShell(t)
	s.must(csvOfNodes("n", 1000), "node", "import", "-")
	lasts, jobs := 3*time.Second, 3000
	if *long {
		lasts, jobs = time.Minute, 66_000 // 37 MB
	}
	s.must("", "submit", "1:ncpus=1", "--array", strconv.Itoa(jobs))
	info, err := os.Stat(s.db)
	if err != nil {
		t.Fatal(err)
	}
	ask := func() *exec.Cmd { // the query gives up before it is done
		return s.start("query", "--max-time", strconv.Itoa(int(lasts.Seconds())),
			"SELECT count(*) FROM jobs a, jobs b, jobs c WHERE a.job * b.job < c.job")
	}
	first := ask()
	db, err := engine.Open(s.db, nil)
	if err != nil {
		t.Fatal(err)
	}
	var waits []time.Duration
	for until, i := time.Now().Add(lasts), 0; time.Now().Before(until); i++ {
		began := time.Now()
		if err := db.Update(func(tx *engine.Tx) error {
			return tx.Queues().Add(engine.Queue{Name: fmt.Sprint("q", i)})
		}); err != nil {
			t.Fatal(err)
		}
		waits = append(waits, time.Since(began))
		time.Sleep(5 * time.Millisecond)
		if i%100 == 99 {
			s.hold("read") // one more reader
		}
	}
	if err := first.Wait(); status(err) != exit.Failed {
		t.Errorf("the query ended by itself: %v", err)
	}
	slices.Sort(waits)
	p99, worst := waits[len(waits)*99/100], waits[len(waits)-1]
	t.Logf("a file of %d MB, %d commits beside a query that goes on and more readers: median %v, p99 %v, worst %v",
		info.Size()>>20, len(waits), waits[len(waits)/2], p99, worst)
	if worst > lasts/2 || *long && p99 > 100*time.Millisecond {
		t.Errorf("a writer waited for %v; p99 %v", worst, p99)
	}
}

// killLines returns command lines of every verb that writes and is one transaction.
func killLines(s *shell, random *rand.Rand, jobs, i int) []string {
	job, node, queue := strconv.Itoa(1+random.IntN(jobs+2)), fmt.Sprintf("n%04d", random.IntN(200)), fmt.Sprint("q", i)
	one := strconv.Itoa(2 + random.IntN(jobs+2)) // 1 is an array
	batch := " --files " + s.path("files.csv") + " --jobs " + s.path("jobs.csv")
	return []string{"place 1:ncpus=1 -t 10h -o id", "submit 1:ncpus=1 -o id", "queue add " + queue + " -o id",
		"hold " + job, "unhold " + job,
		"cycle", "node set " + node + " speed=2", "node drain " + node, "node resume " + node,
		"reserve r" + queue + " --nodes " + node + " --start now+9d -t 1h",
		"unreserve r" + queue, "class set a=60 b=40", "batch next b --host h1", "extend " + one + " --walltime 11h",
		"alter " + job + " --name x", "config set default_walltime=7200",
		"node load " + node + "=0.5", "requeue " + job, "check --repair", "release " + job, "done " + one,
		"cancel " + job, "retry " + job, "signal " + job + " USR1 --timeout 0", "tx -f " + s.path("lines.tx"),
		"node import " + s.path("nodes.csv"), "node add x1 ncpus=2", "node rm x1", "node down " + node,
		"node set " + node + " ncpus=0@0+1@1", "node split " + node + " --by numa", "node join " + node,
		"node offline " + node,
		"pool add spare" + queue + "=3", "pool set spare" + queue + " --outside 1", "pool rm spare" + queue,
		"limit set user=* running=" + strconv.Itoa(300+i%5), "limit set user=u" + queue + " jobs=50",
		"limit rm user=u" + queue, "role add r" + queue + " operator", "role rm r" + queue + " operator",
		"account set a" + queue + " --shares 2", "account rm a" + queue, "job throttle 1[] " + strconv.Itoa(1+i%5),
		"account set lab --shares " + strconv.Itoa(1+i), "account rm lab", "priority set user:ann=" + strconv.Itoa(1+i),
		"priority rm user=bob",
		"preempt set queue=spare over all --at-most " + strconv.Itoa(1+i), "preempt rm queue=spare over all",
		"view set v SELECT(1)", "view rm v",
		"queue add spare", "queue set spare --policy fastest", "queue rm spare", "resource add x=long", "resource rm x",
		"class map a=^x", "class default a", "class rm b", "class rebalance --threshold 20 --minimum 1m",
		"batch create c" + batch, "batch done b 0 --host h1", "batch fail b 0 --host h1", "batch expire",
		"batch recompute", "batch rm c", "node reset-usage"}
}

// TestKillLinesAreAll: no verb that writes is missing, except those that take several transactions,
// which other tests kill.
func TestKillLinesAreAll(t *testing.T) {
	s := &shell{t: t, db: filepath.Join(t.TempDir(), "x.db")}
	lines := killLines(s, seeded(t), 1, 1)
	leafs, _ := leafVerbs()
	for name, v := range leafs {
		if v.Access == verbs.Writes && !v.Alone && !slices.ContainsFunc(lines, func(line string) bool {
			return strings.HasPrefix(line+" ", name+" ")
		}) {
			t.Errorf("killLines has no line for %s", name)
		}
	}
}

// TestKillVerbs kills verbs of all kinds at random moments. What was acknowledged is there, and the file
// is sound.
func TestKillVerbs(t *testing.T) {
	t.Parallel()
	s, random := newShell(t), seeded(t)
	s.prepareKills()
	jobs, queues := map[string]bool{}, map[string]bool{}
	for i := range 5 * *kills {
		lines := killLines(s, random, len(jobs), i)
		line := lines[random.IntN(len(lines))]
		said := strings.TrimSpace(s.killed(random, "", strings.Fields(line)...))
		switch {
		case said == "":
		case strings.HasPrefix(line, "place"), strings.HasPrefix(line, "submit"):
			jobs[said] = true
		case strings.HasPrefix(line, "queue add q"):
			queues[said] = true
		}
		if i%100 == 99 {
			s.must("", "check")
		}
	}
	s.must("", "check")
	for _, id := range strings.Fields(s.must("", "job", "list", "--all", "-o", "id")) {
		delete(jobs, id)
	}
	for _, name := range strings.Fields(s.must("", "queue", "list", "-o", "id")) {
		delete(queues, name)
	}
	if len(jobs)+len(queues) > 0 {
		t.Errorf("acknowledged but lost: jobs %v, queues %v", jobs, queues)
	}
}

// prepareKills makes the objects that the lines of killLines name.
func (s *shell) prepareKills() {
	s.t.Helper()
	s.must(csvOfNodes("n", 200), "node", "import", "-")
	for name, text := range map[string]string{"files.csv": "name,size\nf1,100\nf2,100\n",
		"jobs.csv": "first,last\nf1,f2\n",
		"lines.tx": "node set n0001 speed=3\nsubmit 1:ncpus=1\n", "nodes.csv": "name,ncpus\nn0002,4\nx2,4\n"} {
		if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	s.must("", "batch", "create", "b", "--files", s.path("files.csv"), "--jobs", s.path("jobs.csv"))
	s.must("", "submit", "1:ncpus=1", "--array", "3%1", "--begin", "now+9d")
}

// TestKillLinesAreTaken: none of the lines is wrong usage, whatever the state of the database.
func TestKillLinesAreTaken(t *testing.T) {
	s, random := newShell(t), seeded(t)
	s.prepareKills()
	for _, line := range killLines(s, random, 1, 1) {
		cmd, _, said := s.command("", strings.Fields(line)...)
		if _ = cmd.Run(); cmd.ProcessState.ExitCode() == exit.Usage {
			t.Errorf("%s is wrong usage: %s", line, said)
		}
	}
}

// path returns the path of a file beside the database.
func (s *shell) path(name string) string { return filepath.Join(filepath.Dir(s.db), name) }
