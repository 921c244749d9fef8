package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// recovery is a database with two states, on which verbs for recovery are killed.
type recovery struct {
	*shell
	dir    string
	random *rand.Rand
	old    string // a dump of the first state, which is in backup.db
	now    string // a dump of the second state, which is in the database
}

func newRecovery(t *testing.T) *recovery {
	r := &recovery{shell: newShell(t), random: seeded(t)}
	r.dir = filepath.Dir(r.db)
	r.must(csvOfNodes("n", 1500), "node", "import", "-")
	r.must("", "submit", "1:ncpus=1", "--array", "600", "--hold", "-o", "id")
	r.must("", "backup", r.path("backup.db"))
	r.old = rows(r.must("", "dump"))
	r.must("", "cancel", "1")
	r.must("", "node", "set", "n[0000-0900]", "priority=3")
	dump := r.must("", "dump")
	if err := os.WriteFile(r.path("dump.jsonl"), []byte(dump), 0o600); err != nil {
		t.Fatal(err)
	}
	r.now = rows(dump)
	r.must("", "backup", r.path("second.db"))
	return r
}

func (r *recovery) path(name string) string { return filepath.Join(r.dir, name) }

// kill starts a command and kills it at a random moment within the time that it took before. ended says
// whether it was over by then.
func (r *recovery) kill(most time.Duration, args ...string) (ended bool) {
	cmd, _, _ := r.command("", args...)
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	time.Sleep(time.Duration(r.random.Int64N(int64(most))))
	_ = cmd.Process.Signal(syscall.SIGKILL)
	return cmd.Wait() == nil
}

// again restores the database's second state.
func (r *recovery) again() {
	b, err := os.ReadFile(r.path("second.db"))
	if err == nil {
		err = os.WriteFile(r.db, b, 0o600)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// whole verifies that a file is sound, and returns its content.
func (r *recovery) whole(path string) string {
	r.t.Helper()
	r.must("", "--db", path, "check", "-q", "--in-process")
	return rows(r.must("", "--db", path, "dump"))
}

// rows returns a dump without the clock, which goes on when a database is written.
func rows(dump string) string {
	var b strings.Builder
	for line := range strings.Lines(dump) {
		if !strings.Contains(line, `"table":"meta","key":"state"`) {
			b.WriteString(line)
		}
	}
	return b.String()
}

func (r *recovery) remove(pattern string) {
	names, _ := filepath.Glob(r.path(pattern))
	for _, name := range names {
		os.Remove(name)
	}
}

// jobLines counts the jobs of a dump.
func jobLines(dump string) int { return strings.Count(dump, `"table":"jobs"`) }

// jobsOf returns the jobs of a dump by number.
func jobsOf(dump string) map[string]bool {
	jobs := make(map[string]bool)
	for line := range strings.Lines(dump) {
		if _, rest, is := strings.Cut(line, `"table":"jobs","key":`); is {
			number, _, _ := strings.Cut(rest, ",")
			jobs[number] = true
		}
	}
	return jobs
}

// lines returns the lines of an archive, each of them complete, or none if there is no archive.
func (r *recovery) lines(name string) string {
	r.t.Helper()
	text, err := os.ReadFile(r.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err == nil && strings.HasSuffix(name, ".gz") {
		var plain *gzip.Reader
		if plain, err = gzip.NewReader(bytes.NewReader(text)); err == nil {
			text, err = io.ReadAll(plain)
		}
	}
	if err != nil {
		r.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if !json.Valid([]byte(line)) || !strings.HasSuffix(line, "\n") {
			r.t.Errorf("%s has the incomplete line %q", name, line)
		}
	}
	return string(text)
}

// recoveryVerb is a command line, and what must hold after it, killed or not.
type recoveryVerb struct {
	args  []string
	check func()
}

// TestKillRecovery kills each verb that repairs or replaces a file at random moments. The file is the old
// one or the new one, and leftovers beside it do no harm.
func TestKillRecovery(t *testing.T) {
	t.Parallel()
	r := newRecovery(t)
	verbs := map[string]recoveryVerb{
		"backup": {[]string{"backup", r.path("copy.db")}, func() {
			if _, err := os.Stat(r.path("copy.db")); err == nil && r.whole(r.path("copy.db")) != r.now {
				t.Error("the copy differs from the database")
			}
			r.remove("copy.db*")
		}},
		"restore": {[]string{"restore", "--no-hold", r.path("backup.db")}, func() {
			if is := r.whole(r.db); is != r.now && is != r.old {
				t.Error("the database is neither the old one nor the new one")
			}
			kept, _ := filepath.Glob(r.db + ".replaced-*")
			for _, name := range kept {
				if is := r.whole(name); is != r.now && is != r.old {
					t.Errorf("%s is neither the old one nor the new one", name)
				}
			}
			if r.whole(r.db) == r.old && len(kept) == 0 {
				t.Error("the previous database is lost")
			}
			r.remove("*.replaced-*")
		}},
		"load": {[]string{"--db", r.path("new.db"), "load", r.path("dump.jsonl")}, func() {
			if _, err := os.Stat(r.path("new.db")); err == nil && r.whole(r.path("new.db")) != r.now {
				t.Error("the loaded database differs from the dump")
			}
			r.remove("new.db*")
		}},
		"compact": {[]string{"compact"}, func() {
			if r.whole(r.db) != r.now {
				t.Error("the content of the database has changed")
			}
		}},
		"salvage": {[]string{"salvage", r.db, "--to", r.path("saved.db")}, func() {
			if _, err := os.Stat(r.path("saved.db")); err == nil && jobLines(r.whole(r.path("saved.db"))) != jobLines(
				r.now) {
				t.Error("jobs are missing")
			}
			r.remove("saved.db*")
		}},
	}
	for _, name := range []string{"old.jsonl", "old.jsonl.gz"} {
		verbs["archive "+name] = recoveryVerb{[]string{"archive", "--before", "now", "--to", r.path(name)}, func() {
			// Killed and run once more, so jobs in both archives are in the file twice.
			there := jobsOf(r.whole(r.db))
			maps.Copy(there, jobsOf(r.lines(name)))
			if want := jobsOf(r.now); len(there) != len(want) {
				t.Errorf("%d jobs are in the database or in %s, want %d", len(there), name, len(want))
			}
			r.must("", "archive", "--before", "now", "--to", r.path(name))
			if is, want := jobsOf(r.lines(name)), jobsOf(r.now); len(is) != len(want) || jobLines(r.whole(r.db)) != 0 {
				t.Errorf("in the end %d jobs are in %s, want %d", len(is), name, len(want))
			}
			r.remove("old.jsonl*")
		}}
	}
	time.Sleep(time.Second) // so that cancelled jobs ended before now
	for name, v := range verbs {
		began := time.Now()
		r.must("", v.args...)
		took := time.Since(began)
		v.check()
		for range max(1, *kills/25) {
			r.again()
			r.kill(took, v.args...)
			v.check()
		}
		r.again()
		r.must("", v.args...) // once without a kill
		v.check()
		r.litter(name, v.args)
	}
}

// litter verifies that the next run removes the leftovers of killed runs once they are old enough.
func (r *recovery) litter(name string, args []string) {
	left, _ := filepath.Glob(r.path(".*.new-*"))
	for _, file := range left {
		then := time.Now().Add(-time.Minute)
		if err := os.Chtimes(file, then, then); err != nil {
			r.t.Fatal(err)
		}
	}
	r.again()
	r.must("", args...)
	if left, _ := filepath.Glob(r.path(".*.new-*")); len(left) > 0 {
		r.t.Errorf("%s: the next run has left %v", name, left)
	}
	r.remove("copy.db*")
	r.remove("*.replaced-*")
	r.remove("new.db*")
	r.remove("saved.db*")
	r.remove("old.*")
	r.again()
}
