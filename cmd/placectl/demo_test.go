package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/cmd/placectl/swf"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store"
)

// TestDemo runs the demo once and looks at all it leaves behind.
func TestDemo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "demo.db")
	c := newCapture("demo", "--db", path, "-o", "json")
	if code := c.run(); code != exitOK {
		t.Fatal(code, c.err.String())
	}
	var doc struct {
		Requests, Placed, Released, Running, Waiting int
		LeftOut                                      []leftOutJSON  `json:"left_out"`
		RunningJobs                                  []any          `json:"running_jobs"`
		WaitingRequests                              []demoWaitJSON `json:"waiting_requests"`
		Next                                         []demoHint
	}
	if err := json.Unmarshal(c.out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	leftOut, waiting := 0, 0
	for _, l := range doc.LeftOut {
		leftOut += l.Jobs
	}
	for _, w := range doc.WaitingRequests {
		waiting += w.Jobs
		if !w.Start.After(testNow) {
			t.Errorf("%s waits although it could start at %v", w.Request, w.Start)
		}
	}
	if doc.Placed < 900 || doc.Placed != doc.Released+doc.Running || doc.Requests != doc.Placed+doc.Waiting+leftOut {
		t.Errorf("the figures do not add up: %+v", doc)
	}
	if waiting != doc.Waiting || len(doc.RunningJobs) != doc.Running {
		t.Errorf("%d of %d waiting jobs, %d of %d running ones", waiting, doc.Waiting, len(doc.RunningJobs), doc.Running)
	}
	db, err := store.Open(path, &store.Options{Now: func() time.Time { return testNow }})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Check(func(finding string) { t.Error(finding) }); err != nil {
		t.Fatal(err)
	}
	if err := db.View(func(tx *store.Tx) error { checkDemo(t, tx, doc.Placed, doc.Running); return nil }); err != nil {
		t.Fatal(err)
	}
	tryHints(t, path, doc.Next)
}

// demoWaitJSON is demoWait as it is read back.
type demoWaitJSON struct {
	Request string
	Jobs    int
	Start   time.Time
}

// checkDemo holds the jobs against each other, the reservations, the calendar
// and the buckets: who ran where is told by the job rows alone.
func checkDemo(t *testing.T, tx *store.Tx, placed, running int) {
	t.Helper()
	type stay struct {
		start, end int64
		who        string
	}
	stays := make(map[uint32][]stay)
	held, count := 0, map[store.JobState]int{}
	err := tx.EachJob(func(j *store.Job) error {
		count[j.State]++
		for _, n := range j.NodeNumbers() {
			stays[n] = append(stays[n], stay{j.Start, j.End, j.Name})
			on, busy := tx.Calendar().On(n)
			if j.State == store.JobRunning {
				held++
				if !busy || on.Start != j.Start || on.End != j.End {
					t.Errorf("%s runs on node %d, where the calendar has %+v", j.Name, n, on)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := map[store.JobState]int{store.JobRunning: running, store.JobFinished: placed - running}; !cmp.Equal(count, want) {
		t.Errorf("jobs by state: %v, want %v", count, want)
	}
	err = tx.EachReservation(func(v *store.Reservation) error {
		for _, n := range v.Nodes {
			stays[n] = append(stays[n], stay{v.Start, v.End, v.Name})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for n, list := range stays {
		for i, a := range list {
			for _, b := range list[:i] {
				if a.start < b.end && b.start < a.end {
					t.Errorf("node %d: %s and %s at once", n, a.who, b.who)
				}
			}
		}
	}
	ix, err := tx.Index()
	if err != nil {
		t.Fatal(err)
	}
	busy, later := 0, 0
	for _, b := range ix.Buckets() {
		busy += int(b.Count[index.Busy])
		later += int(b.Count[index.Later])
	}
	if busy != held || later == 0 {
		t.Errorf("%d nodes busy, %d held by jobs; %d later", busy, held, later)
	}
}

// tryHints runs what the demo tells people to try, in the order given.
func tryHints(t *testing.T, path string, hints []demoHint) {
	t.Helper()
	if len(hints) < 5 {
		t.Errorf("only %d commands to try", len(hints))
	}
	var when []string // the request that a release brings forward
	starts := func() time.Time {
		c := newCapture(append(when, "-o", "json")...)
		var plans []struct{ Start time.Time }
		if code := c.run(); code != exitOK || json.Unmarshal(c.out.Bytes(), &plans) != nil || len(plans) != 1 {
			t.Fatal(when, code, c.out.String(), c.err.String())
		}
		return plans[0].Start
	}
	for _, h := range hints {
		_, line, ok := strings.Cut(h.Command, " --db "+path+" ")
		if !ok {
			t.Fatalf("%q does not name %s", h.Command, path)
		}
		if line == "check" {
			line += " --" + inProcess // the program is the test here
		}
		args := append([]string{"--db", path}, strings.Fields(line)...)
		c := newCapture(args...)
		if code := c.run(); code != exitOK || c.out.Len() == 0 && !strings.HasPrefix(line, "check") {
			t.Errorf("%s: status %d, %q %q", line, code, c.out.String(), c.err.String())
		}
		switch verb, _, _ := strings.Cut(line, " "); verb {
		case "when":
			if when = args; !starts().After(testNow) {
				t.Errorf("%s: it need not wait", line)
			}
		case "release":
			if at := starts(); at.After(testNow.Truncate(time.Second)) {
				t.Errorf("after %s it starts at %v", line, at)
			}
		}
	}
}

// What is there is replaced only when it is a demo, and somebody said so.
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
	run(exitOK, "demo", "--db", "named.db")
	before, err := os.Stat("named.db")
	if err != nil {
		t.Fatal(err)
	}
	run(exitConflict, "demo", "--db", "named.db")
	if same, err := os.Stat("named.db"); err != nil || !os.SameFile(before, same) {
		t.Error("it was replaced without --force", err)
	}
	run(exitOK, "demo", "--db", "named.db", "--force")
	if same, err := os.Stat("named.db"); err != nil || same.ModTime().Equal(before.ModTime()) {
		t.Error("it was not replaced with --force", err)
	}
	run(exitOK, "demo")
	run(exitOK, "demo")
	if err := store.Create("mine.db", nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("notes", []byte("not a database, but mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(exitConflict, "demo", "--force", "--db", "mine.db")
	run(exitDamaged, "demo", "--force", "--db", "notes")
	for _, name := range []string{"mine.db", "notes"} {
		if _, err := os.Stat(name); err != nil {
			t.Error("--force removed what was no demo:", err)
		}
	}
}

func TestDemoData(t *testing.T) {
	data, err := loadDemo(testNow.Unix())
	if err != nil {
		t.Fatal(err)
	}
	if len(data.Nodes) != 68 || data.cpus() != 20*80+48*12 {
		t.Errorf("%d nodes, %d cpus", len(data.Nodes), data.cpus())
	}
	defs := index.NewDefs()
	last := data.From
	for _, j := range data.Jobs {
		if j.Submit < last || j.Submit >= data.Until || j.Run < 1 {
			t.Errorf("%+v", j)
		}
		last = j.Submit
		spec, err := placer.Parse(defs, j.Request)
		if err != nil || spec.Place.Share != placer.Excl {
			t.Errorf("%s: %+v, %v", j.Asked, spec.Place, err)
		}
	}
}

func TestDemoLeftOut(t *testing.T) {
	for asked, want := range map[string]string{
		"8:ppn=8:x86_64:cl_zegox":                "",
		"1:ppn=64:x86_64:cl_zewura#excl":         "",
		"1:ppn=4:mem=3gb+2":                      "",
		"1:^zewura12.cerit-sc.cz:ppn=24":         "exclude",
		"1:ppn=1.5":                              "half a processor",
		"1:zegox20.cerit-sc.cz+1:ppn=2:cl_zegox": "name a host",
		"1:ppn=1:host=zewura10":                  "name a host",
	} {
		got := leftOut(swf.Job{Run: 1, WantTime: 1, Extra: []string{"q_1d", asked}})
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", asked, got, want)
		}
	}
	if leftOut(swf.Job{Run: -461, WantTime: 60, Extra: []string{"q_1d", "1"}}) == "" {
		t.Error("a job that did not run is replayed")
	}
}

func TestShellWord(t *testing.T) {
	for in, want := range map[string]string{"placectl-demo.db": "placectl-demo.db", "my demo.db": "'my demo.db'", "a'b": `'a'\''b'`, "$HOME": "'$HOME'"} {
		if got := shellWord(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
