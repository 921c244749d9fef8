package e2e

import (
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

	"github.com/placectl/placectl/internal/engine"
)

// TestAttemptsKilled kills passes, supervisors, gates and commands at random moments. No attempt is
// executed twice, none reported as not executed was executed, each job ends, and nothing is left.
// Package keeper has the same test with a database whose commits fail.
func TestAttemptsKilled(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	dir := filepath.Dir(s.db)
	ledger := filepath.Join(dir, "ledger")
	s.must("", "node", "add", "n1", "ncpus=6")
	s.must("", "config", "set", "state_dir="+dir+"/state", "launch=work")
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	var passes []*exec.Cmd
	ended := make(chan struct{}, 3)
	t.Cleanup(s.end)
	pass := func() {
		if len(passes)-len(ended) >= cap(ended) {
			<-ended
			passes = passes[1:]
		}
		cmd, _, _ := s.command("", "work", "--once", "--cycle", "--host", "n1")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		passes = append(passes, cmd)
		go func() { cmd.Wait(); ended <- struct{}{} }()
	}
	killed := map[string]int{}
	jobs := 0
	for total := 0; total < *kills; {
		if jobs-s.over(t) < 8 {
			jobs++
			s.must("", "submit", "1:ncpus=1", "-t", "5m", "--out", "/dev/null", "--", "sh", "-c",
				fmt.Sprintf(`echo "$PLACECTL_JOB.$PLACECTL_ATTEMPT" >>%s; (setsid sleep 0.0%d &); sleep 0.0%d`, ledger,
					random.IntN(10), random.IntN(9)))
		}
		pass()
		for pid, what := range s.processes() {
			if random.IntN(5) == 0 && syscall.Kill(pid, syscall.SIGKILL) == nil {
				killed[what]++
				total++
			}
		}
		time.Sleep(time.Duration(random.IntN(30)) * time.Millisecond)
	}
	t.Log("killed", killed, "jobs", jobs)
	left := func() []string {
		list, _ := filepath.Glob(dir + "/state/*.*/*.*") // not what sessions and attempts were told
		return list
	}
	for end := time.Now().Add(time.Minute); s.over(t) < jobs || len(left()) > 0 || len(s.processes()) > 0; {
		if time.Now().After(end) {
			t.Fatalf("only %d of %d jobs have ended; left: slots %v, processes %v\n%s", s.over(t), jobs, left(),
				s.processes(), s.must("", "job", "list"))
		}
		for _, id := range strings.Fields(s.must("", "job", "list", "--state", "held", "-o", "id")) {
			s.must("", "unhold", id)
		}
		cmd, _, _ := s.command("", "work", "--once", "--cycle", "--host", "n1")
		cmd.Run() //nolint:errcheck // what it leaves is looked at
		time.Sleep(100 * time.Millisecond)
	}
	s.checkAttempts(t, ledger)
	s.must("", "check")
}

// end kills all processes.
func (s *shell) end() {
	for range 100 {
		list := s.processes()
		for pid := range list {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		if len(list) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestAttendedKilled kills attendants, supervisors, gates, commands and the verbs inside jobs at random
// moments while jobs come: single ones, chains in which a job submits the next, arrays, and followers.
// No attempt is executed twice. After the kills, one look at the status is enough for the rest to drain
// without a verb, and nothing stays.
func TestAttendedKilled(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	dir := filepath.Dir(s.db)
	ledger := filepath.Join(dir, "ledger")
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	link := fmt.Sprintf("echo \"$PLACECTL_JOB.$PLACECTL_ATTEMPT\" >>%s\nsleep 0.0$2\ntest $1 = 0 || %s submit -q -t "+
		"5m --out /dev/null -- sh $0 $(($1 - 1)) $2\n", ledger, s.program)
	if err := os.WriteFile(dir+"/link.sh", []byte(link), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.end)
	s.must("", "node", "add", host, "ncpus=6")
	s.must("", "config", "set", "state_dir="+dir+"/state", "start=auto")
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	killed, last := map[string]int{}, ""
	for total := 0; total < *kills; {
		if s.live(t) < 12 {
			words := []string{"submit", "-t", "5m", "--out", "/dev/null", "-o", "id"}
			links := 0
			switch random.IntN(4) {
			case 0:
				links = random.IntN(4)
			case 1:
				words = append(words, "--array", "0-2")
			case 2:
				if last != "" {
					words = append(words, "--afterany", last)
				}
			}
			ids := strings.Fields(
				s.must("", append(words, "--", "sh", dir+"/link.sh", strconv.Itoa(links),
					strconv.Itoa(random.IntN(10)))...))
			last = ids[len(ids)-1]
		} else if random.IntN(5) == 0 { // all that could go on may have been killed
			s.must("", "status")
		}
		for pid, what := range s.processes() {
			if random.IntN(8) == 0 && syscall.Kill(pid, syscall.SIGKILL) == nil {
				killed[what]++
				total++
			}
		}
		time.Sleep(time.Duration(random.IntN(30)) * time.Millisecond)
	}
	t.Log("killed", killed)
	s.must("", "status")
	left := func() []string {
		list, _ := filepath.Glob(dir + "/state/*.*/*.*") // not what sessions and attempts were told
		return list
	}
	idle := s.live(t) == 0
	for end := time.Now().Add(time.Minute); s.live(t) > 0 || len(left()) > 0 || len(s.processes()) > 0; {
		if idle && len(s.processes()) == 0 && !slices.ContainsFunc(left(), isTaken) {
			s.must("", "work", "--once") // a keeper that was killed after the last job left free slots to the next pass
		}
		if time.Now().After(end) {
			t.Fatalf("%d jobs have not ended; left: slots %v, processes %v\n%s", s.live(t), left(), s.processes(),
				s.must("", "job", "list"))
		}
		if held := strings.Fields(s.must("", "job", "list", "--state", "held", "-o", "id")); len(held) > 0 {
			s.must("", append([]string{"unhold"}, held...)...)
		}
		time.Sleep(100 * time.Millisecond)
	}
	s.checkAttempts(t, ledger)
	s.must("", "check")
}

// isTaken reports whether a path is that of a slot with an attempt.
func isTaken(path string) bool {
	journal, err := os.Stat(path + "/journal")
	return err == nil && journal.Size() > 0
}

// live returns how many jobs have not ended.
func (s *shell) live(t *testing.T) (n int) {
	s.read(t, func(tx *engine.Tx) error {
		n = 0
		return tx.Jobs().Each(func(*engine.Job) error { n++; return nil }, engine.JobHeld, engine.JobQueued,
			engine.JobReserved, engine.JobLate, engine.JobRunning)
	})
	return n
}

// over returns how many jobs have ended.
func (s *shell) over(t *testing.T) (n int) {
	s.read(t, func(tx *engine.Tx) error {
		n = 0
		return tx.Jobs().Each(func(j *engine.Job) error {
			if !j.State.Live() {
				n++
			}
			return nil
		})
	})
	return n
}

func (s *shell) read(t *testing.T, fn func(*engine.Tx) error) {
	t.Helper()
	db, err := engine.Open(s.db, nil)
	if err == nil {
		err = db.View(fn)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// processes returns the processes that have the database in their environment or name it, with their
// roles.
func (s *shell) processes() map[int]string {
	list := map[int]string{}
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range all {
		env, err := os.ReadFile(proc + "/environ")
		text, _ := os.ReadFile(proc + "/cmdline")
		words := strings.Split(string(text), "\x00")
		if err != nil || !strings.Contains("\x00"+string(env), "\x00PLACECTL_DB="+s.db+"\x00") &&
			!slices.Contains(words, s.db) {
			continue
		}
		words = slices.DeleteFunc(words, func(w string) bool { return w == "--db" || w == s.db })
		what := filepath.Base(words[0])
		if what == "placectl" && len(words) > 1 {
			what = words[1]
		}
		pid, _ := strconv.Atoi(filepath.Base(proc))
		if what != "." && what != "check" && what != "unhold" && what != "job" {
			list[pid] = what
		}
	}
	return list
}

// checkAttempts compares the attempts with the ledger, which has a line for each execution.
func (s *shell) checkAttempts(t *testing.T, ledger string) {
	text, err := os.ReadFile(ledger)
	if err != nil {
		t.Fatal(err)
	}
	executed := map[string]int{}
	for line := range strings.Lines(string(text)) {
		executed[strings.TrimSpace(line)]++
	}
	outcomes := map[string]int{}
	s.read(t, func(tx *engine.Tx) error {
		return tx.Attempts().Each(0, func(a *engine.Attempt) error {
			key := fmt.Sprintf("%d.%d", a.Job, a.Number)
			n := executed[key]
			delete(executed, key)
			outcomes[a.Outcome.String()]++
			switch {
			case n > 1:
				t.Errorf("%s was executed %d times", key, n)
			case a.State != engine.AttemptEnded:
				t.Errorf("attempt %s is %s, want ended", key, a.State)
			case n > 0 && (a.Outcome == engine.OutcomeUnbegun || a.Outcome == engine.OutcomeRefused):
				t.Errorf("%s was executed, but its outcome is %s", key, a.Outcome)
			case n == 0 && a.Outcome == engine.OutcomeExited:
				t.Errorf("%s was not executed, but its outcome is %s", key, a.Outcome)
			}
			return nil
		})
	})
	if len(executed) > 0 {
		t.Error("executed, but unknown to the database:", executed)
	}
	t.Log("outcomes", outcomes)
}
