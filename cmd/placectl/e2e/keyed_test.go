package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"pgregory.net/rapid"
)

// hasKey reports whether a command line has a key that must be kept.
func hasKey(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return a == "--key" || strings.HasPrefix(a, "--key=") }) &&
		!slices.Contains(args, "--"+verbs.DryRun)
}

// faulted makes the commit of a command with a key fail at times with an unknown outcome, before or after
// it took effect. The same command then follows. The laws verify that everything was done once.
func (s *simulation) faulted(args []string, stdin string, sum [32]byte) {
	// their effects are not only in the commit
	if !hasKey(args) || slices.Contains(args, "--exec") || slices.Contains([]string{"compact", "check"}, args[0]) ||
		!s.seldom("fault", 2) {
		return
	}
	done := rapid.Bool().Draw(s.draw, "done")
	c := s.callWith(stdin, func(db *engine.DB, keep bool, fn func(*engine.Tx) error) error {
		err := session.Commit(db, keep && done, fn)
		if err == nil && keep {
			err = engine.ErrUnknown
		}
		return err
	}, args...)
	if now := s.sum(); c.status != exit.Unknown && now != sum || c.status == exit.Unknown && !done && now != sum {
		s.t.Fatalf("%v: status %d, done %t, and the file has changed: %s", c, c.status, done, c.err)
	}
	if c.status != exit.Unknown || !done {
		return
	}
	left := s.sum()
	if again := s.call(stdin, args...); again.status != exit.OK && slices.Contains(args, "next") {
		return // there was nothing to give, so no answer is kept
	} else if again.status != exit.OK || s.sum() != left {
		s.t.Fatalf("%v: done, but repeated with the same key its status is %d, file changed: %t: %s", c, again.status,
			s.sum() != left, again.err)
	}
}

// repeated repeats a command with a key: the answer is the first one, and the file does not change.
func (s *simulation) repeated(c verbRun, stdin string) {
	if !hasKey(c.args) || c.status != exit.OK {
		return
	}
	sum := s.sum()
	if again := s.call(stdin, c.args...); again.status != c.status || again.out != c.out || s.sum() != sum {
		s.t.Fatalf("%v repeated: status %d, file changed: %t\n%s%s\nthe first answer:\n%s", c, again.status,
			s.sum() != sum, again.out, again.err, c.out)
	}
}

// keyedLine is a command line that writes.
type keyedLine struct {
	line, verb string
	dry        bool // it also works with --dry-run
}

// keyedLines returns one or more lines of each verb that takes a key, for the database of the flags' tests.
func keyedLines(t *testing.T) (lines []keyedLine) {
	leafs, _ := leafVerbs()
	for line := range strings.Lines(strings.TrimSpace(flagLines)) {
		line = strings.TrimSpace(line)
		without, dry := strings.CutSuffix(line, " --dry-run")
		if !dry && !strings.HasSuffix(line, " --repair") {
			continue
		}
		if verb, _, _ := takeFlag(t, line); !leafs[verb].Unkeyed {
			lines = append(lines, keyedLine{without, verb, dry})
		}
	}
	return lines
}

// TestKeys: with a key, each verb that writes does what it does without one, but once. The same command
// line prints the same bytes and changes nothing, in whatever form. A commit with an unknown outcome may be
// repeated. Another request with the key is refused, and so is an empty key.
func TestKeys(t *testing.T) {
	template := flagsDB(t)
	for _, tt := range keyedLines(t) {
		line := tt.line
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			plain := t.TempDir()
			copyDatabase(t, dir, template)
			copyDatabase(t, plain, template)
			for _, form := range output.FormatNames() {
				if !tt.dry {
					break
				}
				// The first answer in a form is the same as without a key.
				key, full := " --key=k"+form, line+" -o "+form
				status, said := flagRun(t, dir, full+" --dry-run"+key)
				wantStatus, want := flagRun(t, plain, full+" --dry-run")
				if status != wantStatus || said != want {
					t.Fatalf("%s: status %d, but without a key %d:\n%s\nwithout a key:\n%s", full, status, wantStatus,
						said, want)
				}
			}
			first := make(map[string]string)
			status, said := flagRun(t, dir, line+" --key=one -o csv")
			if first["csv"] = said; status == exit.NotNow {
				return // there was nothing to give, so no answer is kept
			}
			if status != exit.OK {
				t.Fatalf("status %d: %s", status, said)
			}
			files := filesIn(t, dir)
			for _, form := range append(output.FormatNames(), output.FormatNames()...) {
				status, said := flagRun(t, dir, line+" --no-color --key=one -o "+form)
				if want, there := first[form]; status != exit.OK || there && said != want {
					t.Fatalf("repeated, as %s: status %d\n%s\nthe first answer:\n%s", form, status, said, want)
				}
				first[form] = said
			}
			other := "config set policy=fastest"
			if strings.HasPrefix(line, "init") { // of another database
				other = line + " --policy=fastest"
			} else if strings.HasPrefix(line, "load") {
				other += " --db=@/new.db"
			} else if strings.HasPrefix(line, "salvage") {
				other = "salvage @/backup.db --to=@/saved.db"
			}
			if status, said := flagRun(t, dir, other+" --key=one"); status != exit.Conflict {
				t.Errorf("another request with the key: status %d: %s", status, said)
			}
			if status, said := flagRun(t, dir, line+" --key="); status != exit.Usage {
				t.Errorf("an empty key: status %d: %s", status, said)
			}
			if diff := cmp.Diff(files, filesIn(t, dir)); diff != "" {
				t.Error("the file has changed")
			}
		})
	}
}

// TestEveryWriterTakesAKey, except for verbs that cannot be repeated.
func TestEveryWriterTakesAKey(t *testing.T) {
	leafs, _ := leafVerbs()
	seen := make(map[string]bool)
	for _, tt := range keyedLines(t) {
		seen[tt.verb] = true
	}
	for name, v := range leafs {
		writing := v.Access == verbs.Writes || v.Access == verbs.Makes || name == "check" // with --repair
		if has := verbs.FindFlag(v.Flags, verbs.Key) != nil; has != (writing && !v.Unkeyed) {
			t.Errorf("%s has --key: %t", name, has)
		}
		// demo takes seconds and is tested below, signal needs a process and is tested by its script
		if writing && !v.Unkeyed && !seen[name] && name != "demo" && name != "signal" {
			t.Errorf("keyedLines has no line for %s", name)
		}
	}
}

// TestKeyedDemo: the demo with a key is made once, and answers in every form.
func TestKeyedDemo(t *testing.T) {
	dir := t.TempDir()
	said := make(map[string]string)
	var made os.FileInfo
	for _, form := range []string{"line", "line", "table", "json"} {
		status, out := flagRun(t, dir, "demo --force --db=@/demo.db --key=one -o "+form)
		info, err := os.Stat(filepath.Join(dir, "demo.db"))
		if status != exit.OK || err != nil {
			t.Fatalf("as %s: status %d: %s", form, status, out)
		}
		if want, again := said[form]; again && out != want || made != nil && !os.SameFile(made, info) {
			t.Errorf("as %s, repeated:\n%s\nthe first time:\n%s", form, out, want)
		}
		said[form], made = out, info
	}
	if !strings.Contains(said["table"], "placectl --db") || !json.Valid([]byte(said["json"])) {
		t.Errorf("the page names no placectl --db, or the JSON is invalid:\n%s\nJSON:\n%s", said["table"], said["json"])
	}
	if status, out := flagRun(t, dir, "demo --db=@/demo.db --key=one"); status != exit.Conflict {
		t.Errorf("another request with the key: status %d: %s", status, out)
	}
}

// callWith is call with a different commit.
func (s *simulation) callWith(stdin string, commit func(*engine.DB, bool, func(*engine.Tx) error) error,
	args ...string) verbRun {
	c := s.capture(stdin, args...)
	c.Commit = commit
	status := execute(context.Background(), c.Env)
	return verbRun{args: args, status: status, out: c.out.String(), err: c.err.String()}
}

// TestKeyedCycleLaunches: a cycle whose commit has an unknown outcome has launched nothing. With the same
// key its jobs are launched, once.
func TestKeyedCycleLaunches(t *testing.T) {
	s := newSimulation(t, t.TempDir())
	s.must("submit", "1:ncpus=1")
	told := filepath.Join(s.dir, "told")
	launcher := filepath.Join(s.dir, "launcher")
	if err := os.WriteFile(launcher, []byte("#!/bin/sh\necho $PLACECTL_EVENT $PLACECTL_JOB >>"+told+"\n"),
		0o755); err != nil {
		t.Fatal(err)
	}
	args := []string{"cycle", "--exec", launcher, "--key", "now"}
	c := s.callWith("", func(db *engine.DB, keep bool, fn func(*engine.Tx) error) error {
		return errors.Join(session.Commit(db, keep, fn), engine.ErrUnknown)
	}, args...)
	if _, err := os.Stat(told); c.status != exit.Unknown || err == nil {
		t.Fatalf("status %d: %s; launched: %v", c.status, c.err, err)
	}
	for range 3 {
		if c := s.call("", args...); c.status != exit.OK {
			t.Fatalf("the cycle repeated: status %d: %s", c.status, c.err)
		}
	}
	if text, err := os.ReadFile(told); err != nil || string(text) != "start 1\n" {
		t.Errorf("the launcher has run for %q: %v", text, err)
	}
	if out := s.must("query", "SELECT count(*) FROM events WHERE event = 'launch'", "-o", "csv",
		"--no-header"); strings.TrimSpace(out) != "1" {
		t.Errorf("the events have the launches %s", out)
	}
}

// TestKeysInTransactions: a line of tx may have a key of its own, and so may tx.
func TestKeysInTransactions(t *testing.T) {
	s := newSimulation(t, t.TempDir())
	lines := "place 1:ncpus=1 --key a\nsubmit 1:ncpus=1 --key b\n"
	first := s.call(lines, "tx", "-o", "json")
	sum := s.sum()
	if again := s.call(lines, "tx", "-o", "json"); first.status != exit.OK || again.out != first.out ||
		again.status != exit.OK || s.sum() != sum {
		t.Fatalf("lines with keys: status %d: %s%s\nrepeated: status %d: %s%s", first.status, first.out, first.err,
			again.status, again.out, again.err)
	}
	more := s.call(lines+"place 1:ncpus=2\n", "tx", "-o", "json", "--key", "c")
	sum = s.sum()
	if again := s.call(lines+"place 1:ncpus=2\n", "tx", "-o", "json", "--key", "c"); more.status != exit.OK ||
		again.out != more.out || s.sum() != sum {
		t.Fatalf("tx with a key:\n%s%s\nrepeated:\n%s%s", more.out, more.err, again.out, again.err)
	}
	if !strings.HasPrefix(more.out, strings.TrimSuffix(first.out, "]\n")+",\n") || strings.Count(more.out, "\n") != 3 {
		t.Errorf("the answer\n%s\nis not continued by one more line in\n%s", first.out, more.out)
	}
	for _, bad := range []struct {
		lines string
		args  []string
		code  int
	}{
		{"place 1:ncpus=1 --key a\nplace 1:ncpus=1\n", []string{"tx", "--key", "c"}, exit.Conflict},
		{"place 1:ncpus=2 --key a\n", []string{"tx"}, exit.Conflict},
		{"place 1:ncpus=2 --key ''\n", []string{"tx"}, exit.Usage},
		{"place 1:ncpus=1 --key d\n", []string{"tx", "--key", "d"}, exit.Conflict},
	} {
		if c := s.call(bad.lines, bad.args...); c.status != bad.code || s.sum() != sum {
			t.Errorf("%q %q: status %d, want %d: %s", bad.lines, bad.args, c.status, bad.code, c.err)
		}
	}
	if c := s.call("place 1:ncpus=1 --key e\nplace 1:ncpus=1 --key e\n", "tx"); c.status != exit.OK ||
		strings.Count(c.out, "job:    4") != 2 {
		t.Errorf("a key used twice: status %d: %s%s", c.status, c.out, c.err)
	}
}
