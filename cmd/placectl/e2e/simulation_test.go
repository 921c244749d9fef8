package e2e

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/urfave/cli/v2"
	"pgregory.net/rapid"
)

// A simulation is the life of one database as its users live it. It draws command lines of every verb, with
// every flag of the verb and every setting, so that names collide. Meanwhile the clock goes on, jumps, and
// at times is behind the file. After each command it verifies from outside that:
//
//   - the exit status is one that the verb's help lists, and the answer is well formed;
//   - a command that fails, only reads, or is a dry run leaves the file as it was, byte
//     for byte;
//   - nothing that was acknowledged is lost, and nothing changes that the verb does not
//     mention (simulation_laws_test.go);
//   - check finds nothing, and every reader can read the file.
type simulation struct {
	t     fataler
	draw  *rapid.T
	dir   string
	db    string
	now   time.Time
	slow  time.Duration            // how far the present command's clock is behind
	leafs map[string]*session.Verb // by their full names
	exits map[string][]int
	last  verbRun
	jobs  int // as of the last snapshot
}

type fataler interface {
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// verbRun is a command line and its result.
type verbRun struct {
	verb     string
	args     []string
	status   int
	out, err string
}

func (c verbRun) String() string { return fmt.Sprintf("%q", c.args) }

func newSimulation(t fataler, dir string) *simulation {
	s := &simulation{t: t, dir: dir, db: filepath.Join(dir, "sim.db"), now: testNow}
	s.leafs, s.exits = leafVerbs()
	for name, text := range simulationFiles {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s.must("init", "--any-time", "--resource", "color=string", "--resource", "rack=string_array", "--resource",
		"lic=long,consumable")
	s.must("node", "add", "n[1-3]", "ncpus=2", "mem=4gb", "color=red", "rack=a")
	s.must("node", "add", "n[4-5]", "ncpus=4", "mem=8gb", "ngpus=1", "rack=a|b")
	s.must("queue", "add", "q1")
	s.must("pool", "add", "fluent=3")
	s.must("class", "set", "red=60", "blue=40")
	s.must("class", "default", "red")
	s.must("batch", "create", "b", "--files", filepath.Join(dir, "files.csv"), "--jobs", filepath.Join(dir, "jobs.csv"))
	return s
}

// leafVerbs returns the verbs that can be called, subcommands with both words, and the exit statuses that
// the help of each lists.
func leafVerbs() (leafs map[string]*session.Verb, exits map[string][]int) {
	r := newCapture().runner()
	leafs, exits = make(map[string]*session.Verb), make(map[string][]int)
	var walk func(path string, v *session.Verb)
	walk = func(path string, v *session.Verb) {
		path = strings.TrimSpace(path + " " + v.Name)
		if v.Runs() && !v.Hidden {
			leafs[path] = v
			exits[path] = append([]int{exit.OK, exit.Failed, exit.Usage, exit.Interrupted}, v.AllStatuses()...)
		}
		for _, sub := range v.Verbs {
			walk(path, sub)
		}
	}
	for _, e := range r.Verbs {
		walk("", e.Verb())
	}
	return leafs, exits
}

// call runs a command line in this process, at the simulation's instant.
func (s *simulation) call(stdin string, args ...string) verbRun {
	simulated.Add(1)
	c := s.capture(stdin, args...)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	status := execute(ctx, c.Env)
	if ctx.Err() != nil {
		s.t.Fatalf("%q has not ended after a minute", args)
	}
	return verbRun{args: args, status: status, out: c.out.String(), err: c.err.String()}
}

// capture returns a command line of the simulation before it runs.
func (s *simulation) capture(stdin string, args ...string) *capture {
	c := newCapture(args...)
	c.vars["PLACECTL_DB"] = s.db
	c.vars["TMPDIR"] = s.dir
	c.Stdin = strings.NewReader(stdin)
	now := s.now
	c.Clock = func() time.Time { return now }
	return c
}

func (s *simulation) must(args ...string) string {
	c := s.call("", args...)
	if c.status != exit.OK {
		s.t.Fatalf("%v: status %d: %s", c, c.status, c.err)
	}
	return c.out
}

// sum returns a hash of the file, to tell whether it has changed.
func (s *simulation) sum() [sha256.Size]byte {
	b, err := os.ReadFile(s.db)
	if err != nil {
		s.t.Fatal(err)
	}
	return sha256.Sum256(b)
}

// madeNothing changes an answer in JSON into that of a dry run: without the numbers of new jobs and
// arrays. It also removes the word that says so.
func madeNothing(answer string) string {
	return strings.ReplaceAll(madeNumbers().ReplaceAllString(answer, `"$1":null`), `,"dry_run":true`, "")
}

var madeNumbers = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"(job|array)":(?:\d+|null)`) })

// step draws a command, runs it and verifies the result.
func (s *simulation) step(t *rapid.T) {
	s.t, s.draw = t, t
	s.pass()
	verb := rapid.SampledFrom(simulatedVerbs).Draw(t, "verb")
	args, stdin := s.commandLine(verb)
	before, sum := s.snapshot(), s.sum()
	rehearsed, dry := s.rehearse(verb, args)
	s.slow = s.slowClock()
	s.faulted(args, stdin, sum)
	c := s.call(stdin, args...)
	s.repeated(c, stdin)
	s.now = s.now.Add(s.slow)
	c.verb, s.last = verb, c
	t.Logf("%s %v: %d %s", s.now.Format(time.DateTime), c, c.status, c.err)
	s.answered(c)
	if s.keepsFile(c) && s.sum() != sum {
		t.Fatalf("%v: status %d, but the file has changed", c, c.status)
	}
	if rehearsed && s.slow == 0 && (dry.status != c.status || madeNothing(dry.out) != madeNothing(c.out)) {
		t.Fatalf("%v: status %d, but the dry run had %d:\n%s%s\nthe dry run:\n%s%s", c, c.status, dry.status, c.out,
			c.err, dry.out, dry.err)
	}
	after := s.snapshot()
	s.lawful(c, before, after)
	s.sound()
}

// rehearse makes a dry run of some commands. It must answer as the command then does.
func (s *simulation) rehearse(verb string, args []string) (bool, verbRun) {
	launches := verb == "run" || slices.Contains(args, "--exec")
	if s.leafs[verb] == nil || !s.hasFlag(verb, verbs.DryRun) || launches || slices.Contains(args, "--"+verbs.DryRun) ||
		!s.seldom("rehearse", 3) {
		return false, verbRun{}
	}
	at := len(strings.Fields(verb))
	return true, s.call("", slices.Insert(slices.Clone(args), at, "--"+verbs.DryRun)...)
}

func (s *simulation) hasFlag(verb, flag string) bool {
	return slices.ContainsFunc(s.leafs[verb].Flags, func(f cli.Flag) bool { return f.Names()[0] == flag })
}

// slowClock sets the clock back for one command at times, like that of a machine which is behind the
// others. It returns by how much.
func (s *simulation) slowClock() time.Duration {
	if !s.seldom("slow clock", 30) {
		return 0
	}
	slow := rapid.SampledFrom([]time.Duration{time.Second, 10 * time.Minute, 48 * time.Hour}).Draw(s.draw, "slow by")
	s.now = s.now.Add(-slow)
	return slow
}

// pass lets time pass: mostly a little, sometimes days.
func (s *simulation) pass() {
	step := rapid.SampledFrom([]time.Duration{0, 0, 0, time.Second, time.Minute, 10 * time.Minute, time.Hour,
		5 * time.Hour, 30 * time.Hour, 200 * time.Hour}).Draw(s.draw, "time")
	s.now = s.now.Add(step)
}

// keepsFile reports whether the command must not change the file.
func (s *simulation) keepsFile(c verbRun) bool {
	switch {
	case slices.Contains(c.args, "--dry-run") || s.leafs[c.verb] != nil && s.leafs[c.verb].Access == verbs.Reads &&
		!slices.Contains(c.args, "--repair"):
		return true
	case c.status == exit.OK:
		return false
	}
	// run has its command's status. A host that gets no work may have lost some, and learns which
	// files it may delete. A cycle says which launches have failed.
	return c.verb != "run" && c.verb != "batch next" && !slices.Contains(c.args, "--exec")
}

// impossible matches what no answer may contain: the name of a temporary file, a zero time.
var impossible = regexp.MustCompile(`1970-01-01|1969-12-31|0001-01-01|\.tmp|%!|<nil>|0x[0-9a-f]{8}|goroutine`)

// answered verifies the form of an answer.
func (s *simulation) answered(c verbRun) {
	if listed := s.exits[c.verb]; listed != nil && c.verb != "run" && !slices.Contains(listed, c.status) {
		s.t.Fatalf("%v: status %d, which its help does not list: %s", c, c.status, c.err)
	}
	switch c.status {
	case exit.Damaged, exit.Unknown, exit.Interrupted, exit.Locked:
		s.t.Fatalf("%v: unexpected status %d: %s", c, c.status, c.err)
	case exit.OK:
	default:
		if c.err == "" && c.verb != "run" && c.verb != "wait" && c.verb != "batch next" {
			s.t.Fatalf("%v: status %d without a message", c, c.status)
		}
	}
	if bad := impossible.FindString(c.out + c.err); bad != "" {
		s.t.Fatalf("%v prints %q, which no answer may contain:\n%s\n%s", c, bad, c.out, c.err)
	}
	form := outputForm(c.args)
	if c.status != exit.OK || c.verb == "run" || c.verb == "shell" || slices.ContainsFunc(c.args, isPicture) {
		return
	}
	switch form {
	case "json":
		// Commands with several answers, such as tx and a file of queries, print them one after the
		// other. A dump is lines of JSON in any form.
		d := json.NewDecoder(strings.NewReader(c.out))
		several := c.verb == "tx" || c.verb == "query" || c.verb == "dump"
		for n := 0; d.More(); n++ {
			var answer json.RawMessage
			if err := d.Decode(&answer); err != nil || n > 0 && !several {
				s.t.Fatalf("%v: the answer is no JSON (%v):\n%s", c, err, c.out)
			}
		}
	case "jsonl":
		for line := range strings.Lines(c.out) {
			if !json.Valid([]byte(line)) {
				s.t.Fatalf("%v: a line is no JSON: %s", c, line)
			}
		}
	}
}

func isPicture(arg string) bool { return arg == "--svg" || arg == "--html" }

func outputForm(args []string) string {
	for i, a := range args {
		if a == "-o" && i+1 < len(args) {
			return args[i+1]
		}
	}
	return "table"
}

// sound verifies the file itself.
func (s *simulation) sound() {
	db, err := engine.Open(s.db, &engine.Options{Now: func() time.Time { return s.now }})
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	var findings []string
	err = db.Check(func(f string) { findings = append(findings, f) })
	if err != nil || len(findings) > 0 {
		s.t.Fatalf("after %v: check: %v %q", s.last, err, findings)
	}
}

// readable runs every verb that lists something. None may fail in any state.
func (s *simulation) readable(t *rapid.T) {
	s.t, s.draw = t, t
	sum := s.sum()
	for _, line := range []string{"config list", "resource list", "queue list", "pool list", "node list", "bucket list",
		"set list", "reservation list --all",
		"job list --all", "events", "class show", "class plan", "batch list", "batch cursors b --all", "gantt",
		"status", "metrics",
		"when 1:ncpus=1", "explain 1:ncpus=1"} {
		c := s.call("", append(strings.Fields(line), "-o", rapid.SampledFrom(outputForms).Draw(t, "form"))...)
		c.verb, _, _ = strings.Cut(line, " -")
		allowed := []int{exit.OK}
		switch strings.Fields(line)[0] {
		case "when":
			allowed = append(allowed, exit.Never)
			if strings.Contains(c.err, "limit: ") || outOfService.MatchString(c.err) {
				allowed = append(allowed, exit.NotNow) // no instant ends a rule, or brings a node back
			}
		case "batch":
			allowed = append(allowed, exit.NotFound)
		}
		if !slices.Contains(allowed, c.status) {
			t.Fatalf("the reader %v: status %d: %s", c, c.status, c.err)
		}
		s.answered(c)
	}
	s.tablesAgree()
	if s.sum() != sum {
		t.Fatal("readers have changed the file")
	}
}

var outOfService = regexp.MustCompile(`n\S* is (drained|offline|down)`)

// tablesAgree compares what queries return with what the library says.
func (s *simulation) tablesAgree() {
	now := s.snapshot()
	for _, q := range []struct {
		sql  string
		want []string
	}{
		{"SELECT job FROM jobs", keysOf(now.jobs)},
		{"SELECT name FROM nodes", keysOf(now.nodes)},
		{"SELECT name FROM queues", keysOf(now.queues)},
		{"SELECT name FROM batches", keysOf(now.batches)},
		{"SELECT name FROM config", keysOf(now.settings)},
		{"SELECT job FROM jobs WHERE state = 'running'", keysWhere(now.jobs, func(j *engine.Job) bool {
			return j.State == engine.JobRunning
		})},
		{"SELECT DISTINCT job FROM allocations WHERE job IS NOT NULL", keysWhere(now.jobs, func(j *engine.Job) bool {
			return j.State.Live() && len(j.AllNodes()) > 0
		})},
		{"SELECT job FROM jobs WHERE reason LIKE 'can never run%' AND expected IS NOT NULL", nil},
	} {
		c := s.call("", "query", q.sql, "-o", "csv", "--no-header")
		got := slices.Sorted(slices.Values(strings.Fields(c.out)))
		if c.status != exit.OK || !slices.Equal(got, q.want) {
			s.t.Fatalf("%s: status %d %s\n got %q\nwant %q", q.sql, c.status, c.err, got, q.want)
		}
	}
}

func keysOf[K comparable, V any](m map[K]V) []string {
	return keysWhere(m, func(V) bool { return true })
}

func keysWhere[K comparable, V any](m map[K]V, keep func(V) bool) (out []string) {
	for k, v := range maps.All(m) {
		if keep(v) {
			out = append(out, fmt.Sprint(k))
		}
	}
	slices.Sort(out)
	return out
}

// simulated counts the commands of all simulations.
var simulated atomic.Int64

// TestSimulation simulates many lives.
func TestSimulation(t *testing.T) {
	if testing.Short() {
		t.Skip("thousands of commands")
	}
	t.Parallel()
	defer func() { t.Logf("%d commands", simulated.Load()) }()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(dir)
		s := newSimulation(rt, dir)
		rt.Repeat(map[string]func(*rapid.T){"command": s.step, "another": s.step, "a third": s.step, "a fourth": s.step,
			"read": s.readable})
		s.t = rt
		s.recovered()
	})
}

// TestSimulationKnowsAll fails for a verb, a flag or a setting that the simulation does not draw.
func TestSimulationKnowsAll(t *testing.T) {
	leafs, _ := leafVerbs()
	for name, c := range leafs {
		drawn, left := slices.Contains(simulatedVerbs, name), leftOut[name] != ""
		if drawn == left {
			t.Errorf("verb %s: drawn: %t, left out with a reason: %t", name, drawn, left)
		}
		for _, f := range c.Flags {
			if flag := f.Names()[0]; drawn && flagValues[flag] == nil && flagValues[name+" "+flag] == nil {
				t.Errorf("verb %s: flagValues has nothing for --%s", name, flag)
			}
		}
	}
	for _, name := range engine.SettingNames() {
		if settingValues[name] == nil {
			t.Errorf("settingValues has nothing for %s", name)
		}
	}
}

// TestSimulationNotices is a canary: a simulation in which a command loses something must fail.
func TestSimulationNotices(t *testing.T) {
	for name, harm := range map[string]func(tx *engine.Tx) error{
		"a node is lost": func(tx *engine.Tx) error {
			n, _, err := tx.Nodes().Number("n1")
			return errors.Join(err, tx.Nodes().Remove(n))
		},
		"a queue is lost":   func(tx *engine.Tx) error { return tx.Queues().Remove("q1") },
		"a setting changes": func(tx *engine.Tx) error { return tx.Config().Set("policy", "fastest") },
		"a batch is lost":   func(tx *engine.Tx) error { _, err := tx.Batches().Remove("b"); return err },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSimulation(t, t.TempDir())
			before := s.snapshot()
			db, err := engine.Open(s.db, &engine.Options{Now: func() time.Time { return s.now }})
			if err == nil {
				err = errors.Join(db.Update(harm), db.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
			if s.broken(verbRun{verb: "status"}, before, s.snapshot()) == "" {
				t.Error("the simulation has not noticed that a command loses something")
			}
		})
	}
}
