package main

import (
	"bufio"
	"bytes"
	"fmt"
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
	"github.com/placectl/placectl/store"
)

// holdMain is the program placectl-hold read|write DB: it holds a transaction until it is
// ended, and says when it has it.
func holdMain() {
	db, err := store.Open(os.Args[2], nil)
	if err == nil {
		hold := func(*store.Tx) error {
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
		s.t.Fatalf("%q %v", line, err)
	}
	return cmd
}

// send sends a process a signal, and waits until it stands still if it is to stop.
func (s *shell) send(p *os.Process, sig syscall.Signal) {
	s.t.Helper()
	if err := p.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
	for range 500 {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Pid))
		_, state, _ := strings.Cut(string(stat), ") ")
		if sig != syscall.SIGSTOP || err != nil || strings.HasPrefix(state, "T") {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
	s.t.Fatal("it does not stop")
}

// soon runs a command that is to have the lock before long.
func (s *shell) soon(what string) {
	s.t.Helper()
	began := time.Now()
	cmd, _, complaint := s.command("", "--lock-timeout", "10s", "place", "1:ncpus=1")
	if err := cmd.Run(); err != nil {
		s.t.Fatalf("%s: %v: %s", what, err, complaint)
	}
	if took := time.Since(began); took > 5*time.Second {
		s.t.Errorf("%s: it took %v", what, took)
	}
}

// A process that is stopped holds up nobody but where it is writing; then others are told
// who it is.
func TestStopped(t *testing.T) {
	s := newShell(t)
	s.must(csvOfNodes("n", 50), "node", "import", "-")

	reader := s.hold("read")
	time.Sleep(300 * time.Millisecond) // by then it has left the file
	s.send(reader.Process, syscall.SIGSTOP)
	s.soon("beside a reader that is stopped")

	writer := s.hold("write")
	s.send(writer.Process, syscall.SIGSTOP)
	cmd, _, complaint := s.command("", "--lock-timeout", "300ms", "place", "1:ncpus=1")
	err := cmd.Run()
	want := fmt.Sprintf("by process %d (\"placectl-hold write", writer.Process.Pid)
	if said := complaint.String(); status(err) != exit.Locked || !strings.Contains(said, want) || !strings.Contains(said, "has written since") || !strings.Contains(said, "and is stopped") {
		t.Errorf("status %d: %s", status(err), said)
	}

	waiter, _, _ := s.command("", "place", "1:ncpus=1")
	if err := waiter.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(400 * time.Millisecond) // it waits at the door, or for the seat
	s.send(waiter.Process, syscall.SIGSTOP)
	if err := writer.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	writer.Wait() //nolint:errcheck // it was killed
	s.soon("beside a waiter that is stopped")
	s.send(waiter.Process, syscall.SIGCONT)
	if err := waiter.Wait(); err != nil {
		t.Errorf("the waiter: %v", err)
	}
	if n := s.jobCount(); n != 3 {
		t.Errorf("%d jobs", n)
	}
	s.must("", "check")
}

// The child that check looks with ends with it.
func TestCheckDiesWithItsChild(t *testing.T) {
	s := newShell(t)
	s.must(csvOfNodes("n", 20_000), "node", "import", "-")
	for try := range 20 {
		cmd, _, _ := s.command("", "check")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		child := 0
		for deadline := time.Now().Add(5 * time.Second); child == 0 && time.Now().Before(deadline); {
			list, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", cmd.Process.Pid, cmd.Process.Pid))
			tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", cmd.Process.Pid))
			for _, name := range tasks {
				text, _ := os.ReadFile(name)
				list = append(list, text...)
			}
			if words := strings.Fields(string(list)); len(words) > 0 && isItself(words[0], cmd.Process.Pid) {
				child, _ = strconv.Atoi(words[0])
			}
			if cmd.ProcessState != nil {
				break
			}
		}
		if child == 0 || syscall.Kill(child, syscall.SIGSTOP) != nil {
			cmd.Wait() //nolint:errcheck // it was too fast
			continue
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		cmd.Wait() //nolint:errcheck // it was killed
		for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child))
			if _, state, _ := strings.Cut(string(stat), ") "); err != nil || strings.HasPrefix(state, "Z") {
				return
			}
		}
		t.Fatalf("try %d: the child %d lives on", try, child)
	}
	t.Error("no child of check was met")
}

// isItself reports whether a child of a process runs its own program already. Before that
// it is no more than a part of its parent, and the parent waits for it.
func isItself(child string, parent int) bool {
	its, err := os.ReadFile("/proc/" + child + "/cmdline")
	parents, errParent := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", parent))
	return err == nil && errParent == nil && !bytes.Equal(its, parents)
}

// Writers wait for a long read only until it has left the file.
func TestWritersBesideLongRead(t *testing.T) {
	s := newShell(t)
	s.must(csvOfNodes("n", 1000), "node", "import", "-")
	lasts, jobs := 3*time.Second, 3000
	if *kills > 1000 { // the long form
		lasts, jobs = time.Minute, 100_000
	}
	s.must("", "submit", "1:ncpus=1", "--array", strconv.Itoa(jobs))
	info, err := os.Stat(s.db)
	if err != nil {
		t.Fatal(err)
	}
	s.hold("read")
	db, err := store.Open(s.db, nil)
	if err != nil {
		t.Fatal(err)
	}
	var waits []time.Duration
	for until, i := time.Now().Add(lasts), 0; time.Now().Before(until); i++ {
		began := time.Now()
		if err := db.Update(func(tx *store.Tx) error { return tx.AddQueue(store.Queue{Name: fmt.Sprint("q", i)}) }); err != nil {
			t.Fatal(err)
		}
		waits = append(waits, time.Since(began))
		time.Sleep(5 * time.Millisecond)
		if i%100 == 99 {
			s.hold("read") // one more
		}
	}
	slices.Sort(waits)
	p99 := waits[len(waits)*99/100]
	t.Logf("a file of %d MB, %d commits beside reads that go on: median %v, p99 %v, worst %v", info.Size()>>20, len(waits), waits[len(waits)/2], p99, waits[len(waits)-1])
	if worst := waits[len(waits)-1]; worst > lasts/2 {
		t.Errorf("a writer waited for %v", worst)
	}
}

// TestKillVerbs kills verbs of all kinds at random moments: what was acknowledged is
// there, and the file is sound.
func TestKillVerbs(t *testing.T) {
	s, random := newShell(t), seeded(t)
	s.must(csvOfNodes("n", 200), "node", "import", "-")
	s.must("name,size\nf1,100\nf2,100\n", "batch", "create", "b", "--files", "-", "--jobs", s.file("jobs.csv", "first,last\nf1,f2\n"))
	jobs, queues := map[string]bool{}, map[string]bool{}
	for i := range *kills {
		job, node, queue := strconv.Itoa(1+random.IntN(len(jobs)+2)), fmt.Sprintf("n%04d", random.IntN(200)), fmt.Sprint("q", i)
		lines := []string{"place 1:ncpus=1 -t 10h -o id", "submit 1:ncpus=1 -o id", "queue add " + queue + " -o id", "hold " + job, "unhold " + job,
			"cycle", "node set " + node + " speed=2", "node drain " + node, "node resume " + node, "reserve r" + queue + " --nodes " + node + " --start now+9d -t 1h",
			"unreserve r" + queue, "class set a=60 b=40", "batch next b --host h1", "extend " + job + " --walltime 11h", "config set default_walltime=2h",
			"node load " + node + "=0.5", "requeue " + job, "check --repair"}
		line := lines[random.IntN(len(lines))]
		said := strings.TrimSpace(s.killed(random, "", strings.Fields(line)...))
		switch {
		case said == "":
		case strings.HasPrefix(line, "place"), strings.HasPrefix(line, "submit"):
			jobs[said] = true
		case strings.HasPrefix(line, "queue add"):
			queues[queue] = true
		}
		if i%100 == 99 {
			s.must("", "check")
		}
	}
	s.must("", "check")
	for _, id := range strings.Fields(s.must("", "job", "list", "-o", "id")) {
		delete(jobs, id)
	}
	for _, name := range strings.Fields(s.must("", "queue", "list", "-o", "id")) {
		delete(queues, name)
	}
	if len(jobs)+len(queues) > 0 {
		t.Errorf("acknowledged and lost: jobs %v, queues %v", jobs, queues)
	}
}

// file makes a file for a verb to read.
func (s *shell) file(name, text string) string {
	s.t.Helper()
	path := filepath.Join(s.t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}
