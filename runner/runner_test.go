package runner_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/runner"
	"github.com/placectl/placectl/store"
)

var storm = flag.Bool("storm", false, "kill the dispatcher 50 times in 100 jobs")

// programVariable makes the test binary a program that executes jobs in a folder: "inside DIR" never calls runner.Main,
// "apart DIR" does.
const programVariable = "RUNNER_TEST_PROGRAM"

func TestMain(m *testing.M) {
	kind, dir, is := strings.Cut(os.Getenv(programVariable), " ")
	if !is {
		os.Exit(m.Run())
	}
	if kind == "apart" {
		runner.Main()
	}
	if err := program(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// program executes the jobs of a database until none is left.
func program(dir string) error {
	f, err := os.OpenFile(dir+"/begun", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	fmt.Fprintln(f, os.Getpid())
	f.Close()
	db, err := store.Open(dir+"/c.db", nil)
	if err != nil {
		return err
	}
	defer db.Close()
	r, err := runner.New(db, runner.Options{})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		defer stop()
		for {
			if left, err := unfinished(db); err == nil && left == 0 {
				time.Sleep(time.Second) // attempts that were never begun are settled, too
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	if err := r.Work(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

func unfinished(db *store.DB) (n int, err error) {
	rows, err := db.Query(context.Background(), "select count(*) from jobs where state in ('queued', 'running')")
	if err != nil {
		return 0, err
	}
	for rows.Next() {
		if err := rows.Scan(&n); err != nil {
			return 0, err
		}
	}
	return n, rows.Err()
}

// newDatabase makes a database of this host, with jobs that run a line of shell.
func newDatabase(t testing.TB, jobs int, line string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	err = store.Create(dir+"/c.db", nil, func(tx *store.Tx) error {
		defs, err := tx.Resources()
		if err != nil {
			return err
		}
		node := &index.Node{Name: host}
		if err := node.SetAmount(defs, "ncpus", "8"); err != nil {
			return err
		}
		if _, err = tx.PutNode(node); err != nil {
			return err
		}
		if err = tx.Set(store.Setting{Name: "state_dir", Value: dir + "/state"}); err != nil {
			return err
		}
		payload := runner.Here()
		payload.Dir, payload.Out = dir, "/dev/null"
		for range jobs {
			if _, err := tx.Submit(store.Submission{Command: []string{"sh", "-c", line}, Payload: payload,
				Request: placer.Request{Select: "ncpus=1", Walltime: time.Minute}}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func start(t testing.TB, kind, dir string) *os.Process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := os.StartProcess(self, []string{"program"}, &os.ProcAttr{Files: []*os.File{nil, os.Stdout, os.Stderr},
		Env: append(os.Environ(), programVariable+"="+kind+" "+dir)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ours lists the processes that belong to a program in a folder.
func ours(dir string) (list []string) {
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range all {
		text, _ := os.ReadFile(path)
		if strings.Contains(string(text), dir) {
			list = append(list, filepath.Dir(path))
		}
	}
	return list
}

func linesOf(t testing.TB, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(text))
}

// unhold lets go on what is held, because a program was killed three times between claiming a job and executing it.
func unhold(t testing.TB, dir string) (some bool) {
	t.Helper()
	db, err := store.Open(dir+"/c.db", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.Update(func(tx *store.Tx) error {
		for job, err := range tx.Jobs(store.JobHeld) {
			if err != nil {
				return err
			}
			some = true
			if _, err := tx.Unhold(job.ID); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return some
}

// TestNeverMain: a program that never calls Main executes its jobs. Nothing of its main runs in another process, and
// there are no more processes than two for each running job.
func TestNeverMain(t *testing.T) {
	dir := newDatabase(t, 20, `echo $PLACECTL_JOB >>out; sleep 0.1`)
	p := start(t, "inside", dir)
	ended := make(chan error, 1)
	go func() { _, err := p.Wait(); ended <- err }()
	most := 0
	for done := false; !done; {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
			done = true
		case <-time.After(5 * time.Millisecond):
			if most = max(most, len(ours(dir))); most > 100 {
				p.Kill() //nolint:errcheck // the test has failed
				t.Fatalf("%d processes", most)
			}
		}
	}
	out := linesOf(t, dir+"/out")
	slices.Sort(out)
	if n := len(slices.Compact(slices.Clone(out))); n != 20 || len(out) != 20 {
		t.Errorf("the commands wrote %d lines, %d different ones, want 20", len(out), n)
	}
	if begun := linesOf(t, dir+"/begun"); len(begun) != 1 {
		t.Errorf("the program began in the processes %v, want one", begun)
	}
	if most > 1+8*3 { // the warden, the command and what that starts
		t.Errorf("there were %d processes, want at most 25", most)
	}
	if left := ours(dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestStorm: a program that executes jobs is killed again and again. Each job is executed once, and nothing is left.
func TestStorm(t *testing.T) {
	kills, jobs := 8, 16
	if *storm {
		kills, jobs = 50, 100
	}
	for _, kind := range []string{"inside", "apart"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dir := newDatabase(t, jobs, `echo $PLACECTL_JOB.$PLACECTL_ATTEMPT >>out; sleep 0.$(($PLACECTL_JOB % 4))`)
			for range kills {
				p := start(t, kind, dir)
				time.Sleep(time.Duration(20+rand.IntN(500)) * time.Millisecond)
				p.Signal(syscall.SIGKILL) //nolint:errcheck // it may have ended
				p.Wait()                  //nolint:errcheck // as before
			}
			for again := true; again; again = unhold(t, dir) {
				if is, err := start(t, kind, dir).Wait(); err != nil || !is.Success() {
					t.Fatal(is, err)
				}
			}
			executed := map[string]int{}
			for _, line := range linesOf(t, dir+"/out") {
				if executed[line]++; executed[line] > 1 {
					t.Errorf("attempt %s was executed twice", line)
				}
				job, _, _ := strings.Cut(line, ".")
				if executed["job "+job]++; executed["job "+job] > 1 {
					t.Errorf("job %s was executed twice", job)
				}
			}
			if len(executed) != 2*jobs {
				t.Errorf("%d executions, want %d", len(executed)/2, jobs)
			}
			end := time.Now().Add(20 * time.Second)
			for ; len(ours(dir)) > 0 && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			}
			slots, _ := filepath.Glob(dir + "/state/*/slot*/journal")
			for _, path := range slots {
				if is, err := os.Stat(path); err == nil && is.Size() > 0 {
					t.Errorf("left: %s", path)
				}
			}
			if left := ours(dir); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// TestBesideOthers: a program that works for a database in a folder that others may write to executes what it has
// submitted itself, because Submit signs it, and holds the rest.
func TestBesideOthers(t *testing.T) {
	t.Setenv("HOME", t.TempDir()) // of the key
	dir := newDatabase(t, 0, "")
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(dir+"/c.db", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	submit := func() (id uint64) {
		payload := runner.Here()
		payload.Dir, payload.Out = dir, "/dev/null"
		err := db.Update(func(tx *store.Tx) error {
			made, err := tx.Submit(store.Submission{Command: []string{"true"}, Payload: payload,
				Request: placer.Request{Select: "ncpus=1", Walltime: time.Minute}})
			if err == nil {
				id = made.First
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	unsigned := submit()
	r, err := runner.New(db, runner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	signed := submit()
	ctx, stop := context.WithCancel(t.Context())
	worked := make(chan error)
	go func() { worked <- r.Work(ctx) }()
	states := make(map[uint64]store.JobState)
	for began := time.Now(); time.Since(began) < 30*time.Second; time.Sleep(20 * time.Millisecond) {
		err := db.View(func(tx *store.Tx) error {
			for _, id := range []uint64{unsigned, signed} {
				job, err := tx.Job(id)
				if err != nil {
					return err
				}
				states[id] = job.State
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if states[unsigned] == store.JobHeld && states[signed] == store.JobFinished {
			break
		}
	}
	stop()
	if err := <-worked; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if states[unsigned] != store.JobHeld || states[signed] != store.JobFinished {
		t.Errorf("unsigned: %s, signed: %s", states[unsigned], states[signed])
	}
}
