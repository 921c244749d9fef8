package e2e

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
)

// runNode runs a verb on a database with some input.
func runNode(t *testing.T, path, input string, args ...string) (out, errText string, code int) {
	t.Helper()
	c := newCapture(append([]string{"--db", path}, args...)...)
	c.Stdin = strings.NewReader(input)
	code = c.run()
	return c.out.String(), c.err.String(), code
}

// TestNodeImportAllOrNothing: a file with any error changes not a byte of the database.
func TestNodeImportAllOrNothing(t *testing.T) {
	path := newNodeDB(t)
	if _, text, code := runNode(t, path, nodesCSV(100), "node", "import", "-"); code != exit.OK {
		t.Fatal(text)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string]string{
		"a wrong value at the end": nodesCSV(500) + "last,,x,,,,,,\n",
		"a node twice":             nodesCSV(500) + "node000001,,,,,,,,\n",
		"a long line":              nodesCSV(500) + "last,,,,,,," + strings.Repeat("x", 10<<20) + ",\n",
		"a reason without cause":   "name,reason,queue\nm1,,\nnode000001,broken,new\n",
		"cut off":                  `[{"name":"m1"},{"name":"m2"},`,
	} {
		out, text, code := runNode(t, path, in, "node", "import", "-")
		if code != exit.Usage || out != "" || !strings.Contains(text, "standard input, line ") {
			t.Errorf("%s: status %d, want %d with the line: %s%.300s", name, code, exit.Usage, out, text)
		}
		after, err := os.ReadFile(path)
		if err != nil || string(before) != string(after) {
			t.Errorf("%s: the database has changed", name)
		}
	}
}

func TestNodeImportInterrupted(t *testing.T) {
	path := newNodeDB(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c := newCapture("--db", path, "node", "import", "-")
	c.Stdin = strings.NewReader(nodesCSV(1000))
	if code := execute(ctx, c.Env); code != exit.Interrupted || c.out.Len() > 0 {
		t.Fatalf("interrupted: status %d, want %d: %s%s", code, exit.Interrupted, c.out.String(), c.err.String())
	}
	if out, text, code := runNode(t, path, "", "node", "list", "-o", "json"); code != exit.OK || out != "[]\n" {
		t.Fatalf("nodes are left after an interrupt: %s%s", out, text)
	}
}

// TestNodeImportHoldsNoLock: while the input is slow, others can read and write.
func TestNodeImportHoldsNoLock(t *testing.T) {
	path := newNodeDB(t)
	in, feed := io.Pipe()
	done := make(chan int)
	c := newCapture("--db", path, "node", "import", "-")
	c.Stdin = in
	go func() { done <- c.run() }()
	if _, err := io.WriteString(feed, "name,ncpus\nn1,2\n"); err != nil { // by now it is reading
		t.Fatal(err)
	}
	if _, text, code := runNode(t, path, "", "--lock-timeout", "1s", "node", "add", "n2"); code != exit.OK {
		t.Fatalf("node add while an import waits for its input: %s", text)
	}
	// The assumptions under which the file was read must still hold.
	if _, text, code := runNode(t, path, "", "--lock-timeout", "1s", "resource", "add",
		"late=string"); code != exit.OK {
		t.Fatalf("resource add while an import waits for its input: %s", text)
	}
	feed.Close()
	if code := <-done; code != exit.Conflict || !strings.Contains(c.err.String(), "run it again") {
		t.Fatalf("an import whose resources have changed: status %d, want %d: %s", code, exit.Conflict, c.err.String())
	}
}

func TestNodeImportProgress(t *testing.T) {
	for _, tty := range []bool{true, false} {
		c := newCapture("--db", newNodeDB(t), "node", "import", "-")
		now := testNow
		c.Clock = func() time.Time { now = now.Add(time.Second); return now }
		c.Stdin, c.StderrTTY = strings.NewReader(nodesCSV(1000)), tty
		if code := c.run(); code != exit.OK || strings.Contains(c.err.String(), "import [####") != tty {
			t.Errorf("terminal %v: status %d, errors %q", tty, code, c.err.String())
		}
	}
}

// TestNodeListImports: importing what a list prints for programs changes nothing.
func TestNodeListImports(t *testing.T) {
	path := newNodeDB(t)
	if _, text, code := runNode(t, path, nodesCSV(50), "node", "import", "-"); code != exit.OK {
		t.Fatal(text)
	}
	for _, form := range []string{"json", "jsonl", "csv"} {
		list, _, _ := runNode(t, path, "", "node", "list", "-o", form)
		if out, text, code := runNode(t, path, list, "node", "import", "-", "-o", "jsonl"); code != exit.OK ||
			!strings.HasPrefix(out, `{"added":0,"updated":0,"unchanged":50,"changed":0,"nodes":50,`) {
			t.Errorf("importing the list as %s again changes something: status %d: %s%s", form, code, out, text)
		}
		other := newNodeDB(t)
		if _, text, code := runNode(t, other, list, "node", "import", "-"); code != exit.OK {
			t.Errorf("importing the list as %s elsewhere: status %d: %s", form, code, text)
		}
		if again, _, _ := runNode(t, other, "", "node", "list", "-o", form); again != list {
			t.Errorf("the list as %s makes other nodes", form)
		}
	}
}
