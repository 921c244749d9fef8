package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestFind: the random tests of this repository are found, whatever leads to their random numbers, and no
// others.
func TestFind(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	all, err := find(root, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dir, name string
		random    bool
	}{
		{"locality", "TestLife", true},              // rapid.Check
		{"timeline", "TestPlannerChurn", true},      // a function that calls seeded
		{"bench/oracle", "TestRandom", true},        // a module of its own
		{"cmd/placectl/e2e", "TestKillPlace", true}, // processes
		{"locality", "TestLateAnswer", false},       // written
		{"bench/oracle", "TestCorpus", false},       // recorded
	} {
		if got := slices.Contains(all, test{c.name, filepath.Join(root, c.dir)}); got != c.random {
			t.Errorf("%s %s is found: %v, want %v", c.dir, c.name, got, c.random)
		}
	}
	some, err := find(root, "Churn$", []string{filepath.Join(root, "timeline") + "/"})
	if want := (test{"TestPlannerChurn", filepath.Join(root, "timeline")}); err != nil || len(some) != 1 ||
		some[0] != want {
		t.Errorf("find of Churn$ in timeline = %v, %v, want %v", some, err, want)
	}
	if _, err := find(root, "TestNothingOfTheKind", nil); err == nil {
		t.Error("find succeeds although no test matches")
	}
}

// TestSoak soaks a test that passes and one that fails.
func TestSoak(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example\n\ngo 1.26\n", "a_test.go": `package a

import ("os"; "testing")

func seeded() string { return os.Getenv("RAPID_SEED") }

func TestGood(t *testing.T) { t.Log(seeded()) }

func TestBad(t *testing.T) { t.Error("it began with", seeded()) }

func TestWritten(t *testing.T) { t.Error("it is not random") }
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tests, err := find(dir, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &soak{turn: time.Second, processes: 1, tests: tests, logs: t.TempDir()}
	if err := s.build(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		if err := s.one(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	if err := s.report(&b); err == nil {
		t.Error("report succeeds although a test failed")
	}
	bad := s.results[test{"TestBad", dir}]
	if len(tests) != 2 || bad.runs != 2 || len(bad.failures) != 2 || bad.failures[0].seed == bad.failures[1].seed ||
		len(s.results[test{"TestGood", dir}].failures) > 0 {
		t.Errorf("want 2 runs each of a good and a bad test:\n%s", b.String())
	}
	log, err := os.ReadFile(bad.failures[0].log)
	if err != nil || !strings.Contains(string(log), "it began with "+bad.failures[0].seed) ||
		!strings.Contains(b.String(), "RAPID_SEED="+bad.failures[0].seed) {
		t.Errorf("the failure's seed is missing in its log or the report: %v: %q\n%s", err, log, b.String())
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("left behind: %v", left)
	}
}

// TestCount: the checks that rapid reports are counted. A run without rapid counts as one.
func TestCount(t *testing.T) {
	t.Parallel()
	var r result
	r.count([]byte("=== RUN TestA/x\n    a_test.go:1: [rapid] OK, passed 100 tests (1s)\n    a_test.go:1: [rapid] " +
		"OK, passed 7 tests (1s)\n"))
	r.count([]byte("--- PASS: TestB\n"))
	r.count([]byte("    a_test.go:1: [rapid] failed after 0 tests: no\n"))
	if r.runs != 3 || r.made != 108 {
		t.Errorf("%d runs and %d checks are counted, want 3 and 108", r.runs, r.made)
	}
}
