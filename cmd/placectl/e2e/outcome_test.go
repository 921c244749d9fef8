package e2e

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/internal/engine"
	"github.com/urfave/cli/v2"
)

// status returns the exit status of a command as in a shell.
func status(err error) int {
	var ended *exec.ExitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &ended):
		return -1
	}
	if s := ended.Sys().(syscall.WaitStatus); s.Signaled() {
		return 128 + int(s.Signal())
	}
	return ended.ExitCode()
}

// jobCount returns the number of jobs.
func (s *shell) jobCount() int {
	s.t.Helper()
	return len(strings.Fields(s.must("", "job", "list", "-o", "id")))
}

// TestAnswerLost: if the answer cannot be written, a change differs from a failure.
func TestAnswerLost(t *testing.T) {
	s := newShell(t)
	s.must(csvOfNodes("n", 20), "node", "import", "-")
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	closed := func() *os.File {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		return w
	}
	for _, tt := range []struct {
		args    string
		stdout  *os.File
		status  int
		changes int
	}{
		{"place 1:ncpus=1", full, exit.Lost, 1},
		{"place 1:ncpus=1 -o json", closed(), exit.Lost, 1},
		{"submit 1:ncpus=1", closed(), exit.Lost, 1},
		{"place 1:ncpus=1 --key k", full, exit.Lost, 1},
		{"place 1:ncpus=1 --key k", full, exit.Lost, 0}, // done before, when its key was new
		{"queue add q", full, exit.Lost, 0},
		{"config set policy=fastest", full, exit.Lost, 0},
		{"config set policy=fastest", full, exit.Failed, 0}, // the setting has this value already
		{"check --repair -o json", full, exit.Lost, 0},
		{"compact", full, exit.Lost, 0},
		{"backup " + s.db + ".copy", full, exit.Lost, 0},
		{"salvage " + s.db + " --to " + s.db + ".saved -o json", full, exit.Lost, 0},
		{"place 1:ncpus=1 --dry-run", full, exit.Failed, 0},
		{"place 1:ncpus=1 --dry-run", closed(), exit.Pipe, 0},
		{"place 1:ncpus=99", full, exit.Never, 0},
		{"node list", full, exit.Failed, 0},
		{"node list", closed(), exit.Pipe, 0},
		{"query SELECT", closed(), exit.Usage, 0},
		{"help", closed(), exit.Pipe, 0},
		{"slurm squeue", closed(), exit.Pipe, 0},
		{"slurm sacct -a", full, 1, 0},
		{"pbs qstat -B", closed(), exit.Pipe, 0},
		{"slurm sbatch -H --wrap true", full, 1, 1}, // front-ends have their systems' statuses
		{"slurm sbatch -H --wrap true", closed(), 1, 1},
		{"pbs qsub -h -- /bin/true", full, 162, 1},
	} {
		before := s.jobCount()
		cmd, _, complaint := s.command("", strings.Fields(tt.args)...)
		cmd.Stdout = tt.stdout
		if got := status(cmd.Run()); got != tt.status {
			t.Errorf("%s: status %d, want %d: %s", tt.args, got, tt.status, complaint)
		}
		if got := s.jobCount() - before; got != tt.changes {
			t.Errorf("%s: %d more jobs", tt.args, got)
		}
		lost := tt.status == exit.Lost || tt.changes > 0
		if lost && !strings.Contains(complaint.String(), "done, but the answer was lost") || tt.status == exit.Pipe &&
			complaint.Len() > 0 {
			t.Errorf("%s: wrong message: %s", tt.args, complaint)
		}
	}
}

// testDB makes a database for tests within the process.
func testDB(t *testing.T) *engine.DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.db")
	opt := &engine.Options{Now: func() time.Time { return testNow }}
	if err := engine.Create(path, opt, nil); err != nil {
		t.Fatal(err)
	}
	db, err := engine.Open(path, opt)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// TestCrash: our own panics have a status of their own, wherever they come from.
func TestCrash(t *testing.T) {
	crash := func(how func(*session.Run) error) (int, string) {
		c := newCapture("cycle")
		r := newRun(t.Context(), c.Env)
		r.Verbs = entries(&session.Verb{Name: "cycle", Run: func(r *session.Run, _ *cli.Context) error {
			return how(r)
		}})
		return r.Outcome(), c.err.String()
	}
	db := testDB(t)
	for what, how := range map[string]func(*session.Run) error{
		"a verb":        func(*session.Run) error { panic("too bad") },
		"a transaction": func(*session.Run) error { return db.View(func(*engine.Tx) error { panic("too bad") }) },
		"a change":      func(*session.Run) error { return db.Update(func(*engine.Tx) error { panic("too bad") }) },
	} {
		code, said := crash(how)
		if code != exit.Crash || !strings.Contains(said, "too bad") || !strings.Contains(said, "outcome_test.go") {
			t.Errorf("a panic in %s: status %d, want %d and its text and stack: %s", what, code, exit.Crash, said)
		}
	}
	if err := db.Update(func(*engine.Tx) error { return nil }); err != nil {
		t.Errorf("after the crashes: %v", err)
	}
}

// TestSignals: a signal before the commit leaves everything as it was. A signal during the commit waits
// until the answer is written.
func TestSignals(t *testing.T) {
	db := testDB(t)
	for _, tt := range []struct {
		name           string
		before, during bool // a signal comes before the commit, or during it
		status         int
		changes        int
	}{
		{"none", false, false, exit.OK, 1},
		{"before the commit", true, false, exit.Interrupted, 0},
		{"during the commit", false, true, exit.OK, 1},
	} {
		count := func() (n int) {
			if err := db.View(func(tx *engine.Tx) error {
				queues, err := tx.Queues().All()
				n = len(queues)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			return n
		}
		was := count()
		c := newCapture("--db", db.Path(), "queue", "add", "q"+strings.ReplaceAll(tt.name, " ", ""))
		c.Commit = func(db *engine.DB, keep bool, fn func(*engine.Tx) error) error {
			return session.Commit(db, keep, func(tx *engine.Tx) error {
				err := fn(tx)
				if tt.during {
					for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
						if err := syscall.Kill(os.Getpid(), sig); err != nil {
							t.Error(err)
						}
					}
					time.Sleep(20 * time.Millisecond)
				}
				return err
			})
		}
		r := newRun(t.Context(), c.Env)
		if tt.before {
			r.Stop()
		}
		if code := r.Outcome(); code != tt.status {
			t.Errorf("%s: status %d, want %d: %s", tt.name, code, tt.status, c.err.String())
		}
		if got := count() - was; got != tt.changes {
			t.Errorf("%s: %d changes", tt.name, got)
		}
	}
}

// TestSignalDuringReading: a signal ends verbs that read for long, and check does not call the file damaged.
func TestSignalDuringReading(t *testing.T) {
	db := testDB(t)
	for _, line := range []string{"check", "whatif --horizon 1h", "whatif --compare easy,relaxed"} {
		c := newCapture(append([]string{"--db", db.Path()}, strings.Fields(line)...)...)
		r := newRun(t.Context(), c.Env)
		r.Stop()
		if code := r.Outcome(); code != exit.Interrupted {
			t.Errorf("%s: status %d, want %d: %s", line, code, exit.Interrupted, c.err.String())
		}
	}
}

// TestSignalWhileAnswering: after the commit, a signal ends the process even if its answer is not read.
func TestSignalWhileAnswering(t *testing.T) {
	s := newShell(t)
	s.must(csvOfNodes("n", 3000), "node", "import", "-")
	r, w, err := os.Pipe() // nothing reads from it
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd, _, _ := s.command("", "place", "3000:ncpus=1", "--place", "scatter", "-o", "json")
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	time.Sleep(time.Second)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if got := status(cmd.Wait()); got != 128+int(syscall.SIGTERM) {
		t.Errorf("status %d, want that of SIGTERM", got)
	}
	if n := s.jobCount(); n != 1 {
		t.Errorf("there are %d jobs, want 1", n)
	}
}

// TestNoFilesLeft: a lack of system resources is not reported as damage to the file.
func TestNoFilesLeft(t *testing.T) {
	s := newShell(t)
	for files := 3; files < 24; files++ {
		cmd, _, complaint := s.command("", "submit", "1:ncpus=1", "--dry-run")
		cmd.Args = append([]string{"sh", "-c", `ulimit -n "$0"; exec "$@"`, strconv.Itoa(files), s.program},
			cmd.Args[1:]...)
		cmd.Path = "/bin/sh"
		if err := cmd.Run(); status(err) != exit.OK && status(err) != exit.Failed {
			t.Errorf("with %d files: status %d: %s", files, status(err), complaint)
		}
	}
}
