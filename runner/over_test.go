package runner_test

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/runner"
	"github.com/placectl/placectl/store"
)

// TestCopy: nothing is executed from a copy, and the refusal says what makes it a database of its own.
func TestCopy(t *testing.T) {
	t.Parallel()
	dir := newDatabase(t, 1, "true")
	text, err := os.ReadFile(dir + "/c.db")
	if err == nil {
		err = os.WriteFile(dir+"/copy.db", text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(dir+"/copy.db", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, err = runner.New(db, runner.Options{})
	if !errors.Is(err, store.ErrCopy) || !strings.Contains(err.Error(), "adopt") {
		t.Errorf("a Runner of a copy: %v", err)
	}
}

// TestWorkIsOver: while a job runs, Work returns soon once its database is not there for it any more. The job goes on.
func TestWorkIsOver(t *testing.T) {
	for name, is := range map[string]struct {
		ends func(t *testing.T, dir string, db *store.DB)
		want error
	}{
		"a copy at its place": {func(t *testing.T, dir string, _ *store.DB) {
			text, err := os.ReadFile(dir + "/c.db")
			if err == nil {
				err = os.WriteFile(dir+"/copy.db", text, 0o600)
			}
			if err = cmp.Or(err, os.Rename(dir+"/copy.db", dir+"/c.db")); err != nil {
				t.Fatal(err)
			}
		}, store.ErrCopy},
		"a closed handle": {func(t *testing.T, _ string, db *store.DB) {
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}, store.ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := newDatabase(t, 1, "echo >>begun; sleep 3; echo >>ended")
			db, err := store.Open(dir+"/c.db", nil)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			r, err := runner.New(db, runner.Options{})
			if err != nil {
				t.Fatal(err)
			}
			worked := make(chan error)
			go func() { worked <- r.Work(t.Context()) }()
			awaitFile(t, dir+"/begun")
			is.ends(t, dir, db)
			select {
			case err := <-worked:
				if !errors.Is(err, is.want) {
					t.Errorf("Work: %v, want %v", err, is.want)
				}
			case <-time.After(30 * time.Second):
				t.Fatal("Work has not returned")
			}
			awaitFile(t, dir+"/ended")
		})
	}
}

// TestWorkAgain: Work that ends and begins again, while jobs begin, execute and end, neither loses nor repeats nor
// blames any, and leaves nothing open.
func TestWorkAgain(t *testing.T) {
	const jobs = 24
	dir := newDatabase(t, jobs, "echo $PLACECTL_JOB >>out; sleep 0.2")
	db, err := store.Open(dir+"/c.db", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var log strings.Builder
	r, err := runner.New(db, runner.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	work := func(most time.Duration) {
		ctx, stop := context.WithTimeout(t.Context(), most)
		defer stop()
		if err := r.Work(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
	}
	files, routines := open(t), runtime.NumGoroutine()
	for left, turn := 1, 0; left > 0; turn++ {
		if turn == 200 {
			t.Fatalf("%d jobs are left\n%s", left, &log)
		}
		work(time.Duration(10+rand.IntN(200)) * time.Millisecond)
		if left, err = unfinished(db); err != nil {
			t.Fatal(err)
		}
	}
	out := linesOf(t, dir+"/out")
	slices.Sort(out)
	if n := len(slices.Compact(slices.Clone(out))); n != jobs || len(out) != jobs {
		t.Errorf("the commands wrote %d lines, %d different ones, want %d\n%s", len(out), n, jobs, &log)
	}
	for began := time.Now(); time.Since(began) < 30*time.Second; time.Sleep(20 * time.Millisecond) {
		if open(t) <= files+4 && runtime.NumGoroutine() <= routines+4 { // of the database's file
			return
		}
	}
	t.Errorf("open: %d files, before %d; %d goroutines, before %d", open(t), files, runtime.NumGoroutine(), routines)
}

// open counts the open files of this process.
func open(t *testing.T) int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// awaitFile waits until a file is there.
func awaitFile(t *testing.T, path string) {
	t.Helper()
	for began := time.Now(); time.Since(began) < 30*time.Second; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
	}
	t.Fatalf("%s is not there", path)
}

// TestEndedContext: with a context that has ended, neither Work nor Once does anything, and both say so.
func TestEndedContext(t *testing.T) {
	t.Parallel()
	dir := newDatabase(t, 1, "echo >>begun")
	db, err := store.Open(dir+"/c.db", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var log strings.Builder
	r, err := runner.New(db, runner.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if n, err := r.Once(ctx); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("Once: %d, %v", n, err)
	}
	if err := r.Work(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Work: %v", err)
	}
	if n, err := unfinished(db); n != 1 || err != nil || log.String() != "" {
		t.Errorf("%d jobs wait, %v, %s", n, err, &log)
	}
}
