package engine

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// mostViewCalls is the most system calls of a View through a handle that has its file open.
const mostViewCalls = 12

// noProcess is a number that no process has. A signal to it marks a place in a trace.
const noProcess = 1<<31 - 3

// viewsInFile makes several Views, and marks where each begins and ends.
const viewsInFile = 40

// TestViewCalls counts the system calls of a View, as strace sees them. It does not count those of the Go runtime
// beside it: the View of several that has the fewest counts.
func TestViewCalls(t *testing.T) {
	if path := os.Getenv("PLACECTL_TEST_VIEWS"); path != "" {
		db, err := Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for range viewsInFile {
			syscall.Kill(noProcess, 0) //nolint:errcheck // it fails
			if err := db.View(func(*Tx) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
		syscall.Kill(noProcess, 0) //nolint:errcheck // as above
		return
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	dir := t.TempDir()
	path, trace := filepath.Join(dir, "a.db"), filepath.Join(dir, "trace")
	if err := Create(path, nil, nil); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(strace, "-f", "-o", trace, os.Args[0], "-test.run=^TestViewCalls$", "-test.parallel=1")
	c.Env = append(os.Environ(), "PLACECTL_TEST_VIEWS="+path)
	if out, err := c.CombinedOutput(); strings.Contains(string(out), "ptrace") {
		t.Skipf("strace cannot trace here: %s", out)
	} else if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	call := regexp.MustCompile(`(?m)^\d+ +([a-z]\w*)\(`)
	parts := strings.Split(string(text), "kill(2147483645")
	if len(parts) != viewsInFile+2 {
		t.Fatalf("%d marks", len(parts))
	}
	fewest, which := 1000, []string(nil)
	for _, part := range parts[1 : len(parts)-1] {
		var made []string
		for _, m := range call.FindAllStringSubmatch(part, -1) {
			if m[1] != "futex" && m[1] != "nanosleep" {
				made = append(made, m[1])
			}
		}
		if len(made) < fewest {
			fewest, which = len(made), made
		}
	}
	if fewest == 0 || fewest > mostViewCalls {
		t.Errorf("a View makes %d system calls, want at most %d: %v", fewest, mostViewCalls, which)
	}
	t.Logf("%d: %v", fewest, which)
}
