package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/placectl/placectl/cmd/placectl/internal/demo"
	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
)

// TestDemo runs the demo once, and then the commands that it suggests.
func TestDemo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "demo.db")
	c := newCapture("demo", "--db", path, "-o", "json")
	if code := c.run(); code != exit.OK {
		t.Fatal(code, c.err.String())
	}
	var doc demoDoc
	if err := json.Unmarshal(c.out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Finished < 800 || doc.Running < 100 || doc.Failed == 0 || doc.Waited == 0 ||
		doc.Requests != doc.Finished+doc.Failed+doc.Running+doc.Waiting {
		t.Errorf("the figures do not add up: %+v", doc)
	}
	tryHints(t, path, doc.Next)
}

// demoDoc is the part of the demo's JSON that the test reads.
type demoDoc struct {
	Requests, Finished, Failed, Running, Waiting, Waited int
	Next                                                 []demo.Hint
}

// tryHints runs the suggested commands in order. The explained job waits until the job before it is
// released and a cycle is made.
func tryHints(t *testing.T, path string, hints []demo.Hint) {
	t.Helper()
	if len(hints) < 10 {
		t.Errorf("the demo suggests only %d commands", len(hints))
	}
	var job string
	state := func() string {
		c := newCapture("--db", path, "show", job, "-o", "json")
		var doc []struct{ State string }
		if code := c.run(); code != exit.OK || json.Unmarshal(c.out.Bytes(), &doc) != nil {
			t.Fatalf("show %s: status %d: %s%s", job, code, c.out.String(), c.err.String())
		}
		return doc[0].State
	}
	for _, h := range hints {
		_, line, ok := strings.Cut(h.Command, " --db "+path+" ")
		if !ok {
			t.Fatalf("%q does not name %s", h.Command, path)
		}
		words, err := text.SplitWords(line)
		if err != nil {
			t.Fatalf("%s cannot be split into words: %v", line, err)
		}
		if line == "check" {
			words = append(words, "--in-process") // here the program is the test
		}
		c := newCapture(append([]string{"--db", path}, words...)...)
		if code := c.run(); code != exit.OK || c.out.Len() == 0 && line != "check" {
			t.Errorf("%s: status %d, %q %q", line, code, c.out.String(), c.err.String())
		}
		switch words[0] {
		case "explain":
			if job = words[1]; state() != "reserved" {
				t.Errorf("%s: the job is %s, want reserved", line, state())
			}
		case "cycle":
			if state() != "running" {
				t.Errorf("after the cycle job %s is %s, want running", job, state())
			}
		}
	}
	if job == "" {
		t.Error("the demo suggests no explain")
	}
}

// TestDemoForce: an existing file is replaced only if it is a demo and --force is given.
func TestDemoForce(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	run := func(want int, args ...string) {
		t.Helper()
		c := newCapture(append(args, "-q", "-o", "id")...)
		if code := c.run(); code != want {
			t.Errorf("%v: status %d, want %d: %s", args, code, want, c.err.String())
		}
	}
	run(exit.OK, "demo", "--db", "named.db")
	before, err := os.Stat("named.db")
	if err != nil {
		t.Fatal(err)
	}
	run(exit.Conflict, "demo", "--db", "named.db")
	if same, err := os.Stat("named.db"); err != nil || !os.SameFile(before, same) {
		t.Error("a demo was replaced without --force:", err)
	}
	run(exit.OK, "demo", "--db", "named.db", "--force")
	if same, err := os.Stat("named.db"); err != nil || same.ModTime().Equal(before.ModTime()) {
		t.Error("a demo was not replaced with --force:", err)
	}
	run(exit.OK, "demo")
	run(exit.OK, "demo")
	if err := engine.Create("mine.db", nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("notes", []byte("not a database, but mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(exit.Conflict, "demo", "--force", "--db", "mine.db")
	run(exit.Damaged, "demo", "--force", "--db", "notes")
	for _, name := range []string{"mine.db", "notes"} {
		if _, err := os.Stat(name); err != nil {
			t.Error("--force removed a file that is no demo:", err)
		}
	}
}
