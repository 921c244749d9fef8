package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/backfill/swf"
	"github.com/placectl/placectl/store"
)

// TestDemo runs the demo once and looks at all it leaves behind.
func TestDemo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "demo.db")
	c := newCapture("demo", "--db", path, "-o", "json")
	if code := c.run(); code != exitOK {
		t.Fatal(code, c.err.String())
	}
	var doc demoDoc
	if err := json.Unmarshal(c.out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	waiting := 0
	for _, w := range doc.WaitingRequests {
		waiting += w.Jobs
		if !w.Start.After(testNow) {
			t.Errorf("%s waits although it could start at %v", w.Request, w.Start)
		}
	}
	if doc.Placed < 1100 || doc.Placed != doc.Released+doc.Running || doc.Requests != doc.Placed+doc.Waiting {
		t.Errorf("the figures do not add up: %+v", doc)
	}
	if doc.Waiting == 0 || waiting != doc.Waiting || len(doc.RunningJobs) != doc.Running {
		t.Errorf("%d of %d waiting jobs, %d of %d running ones", waiting, doc.Waiting, len(doc.RunningJobs), doc.Running)
	}
	if doc.Shared < doc.Placed/2 || doc.LetIn == 0 || doc.FittedIn == 0 {
		t.Errorf("%d jobs shared nodes, %d were let into reservations, %d fitted in before one", doc.Shared, doc.LetIn, doc.FittedIn)
	}
	checkPolicies(t, &doc)
	db, err := store.Open(path, &store.Options{Now: func() time.Time { return testNow }})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Check(func(finding string) { t.Error(finding) }); err != nil {
		t.Fatal(err)
	}
	if err := db.View(func(tx *store.Tx) error { checkDemo(t, tx, &doc); return nil }); err != nil {
		t.Fatal(err)
	}
	tryHints(t, path, doc.Next)
}

// demoDoc is what is read back of the demo's JSON.
type demoDoc struct {
	Requests, Placed, Released, Running, Waiting, Waited, Shared int
	LetIn                                                        int          `json:"let_in"`
	FittedIn                                                     int          `json:"fitted_in"`
	RunningJobs                                                  []any        `json:"running_jobs"`
	NodeList                                                     []demoNode   `json:"node_list"`
	Policies                                                     []demoPolicy `json:"policies"`
	WaitingRequests                                              []struct {
		Request string
		Jobs    int
		Start   time.Time
	} `json:"waiting_requests"`
	Next []demoHint
}

// checkPolicies looks at the comparison: all had the same requests, and sharing
// is worth something.
func checkPolicies(t *testing.T, doc *demoDoc) {
	t.Helper()
	if len(doc.Policies) != 1+len(demoOthers) {
		t.Fatalf("%d policies", len(doc.Policies))
	}
	names := make(map[string]bool)
	for _, o := range doc.Policies {
		names[o.Policy] = true
		if o.AtOnce+o.Later+o.Waiting != doc.Requests {
			t.Errorf("%s: %d, %d and %d of %d requests", o.Policy, o.AtOnce, o.Later, o.Waiting, doc.Requests)
		}
		if o.Whole != (o.JobsPerNode == 1) {
			t.Errorf("%s: %.2f jobs on a node, whole nodes: %v", o.Policy, o.JobsPerNode, o.Whole)
		}
	}
	mine, whole := doc.Policies[0], doc.Policies[len(doc.Policies)-1]
	if mine.AtOnce != doc.Placed-doc.Waited || mine.Later != doc.Waited {
		t.Errorf("the first is not the demo's own: %+v", mine)
	}
	if !whole.Whole || whole.Policy != mine.Policy || whole.MeanWait < 10*mine.MeanWait {
		t.Errorf("whole nodes: %+v; shared ones: %+v", whole, mine)
	}
	if len(names) != len(doc.Policies)-1 {
		t.Errorf("policies compared: %v", names)
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

// What is replayed is what was asked for: as many processors in all as the record
// counts, and its memory.
func TestDemoData(t *testing.T) {
	data, err := loadDemo(testNow.Unix())
	if err != nil {
		t.Fatal(err)
	}
	if len(data.Nodes) != 68 || data.cpus() != 20*80+48*12 {
		t.Errorf("%d nodes, %d cpus", len(data.Nodes), data.cpus())
	}
	log, err := swf.NewReader(bytes.NewReader(demoTrace))
	if err != nil {
		t.Fatal(err)
	}
	defs := index.NewDefs()
	last := data.From
	recs, err := recordedJobs(log)
	if err != nil || len(recs) != len(data.Jobs) {
		t.Fatal(len(recs), len(data.Jobs), err)
	}
	for i, j := range data.Jobs {
		rec := recs[i]
		if j.Submit < last || j.Submit >= data.Until || j.Run < 1 {
			t.Errorf("%+v", j)
		}
		last = j.Submit
		spec, err := placer.Parse(defs, j.Request)
		if err != nil || spec.Place.Exclusive() {
			t.Fatalf("%s: %+v, %v", j.Asked, spec.Place, err)
		}
		var nodes, cpus, mem int64
		for _, c := range spec.Chunks {
			nodes += int64(c.Count)
			for _, w := range c.Wants {
				switch w.Res {
				case index.NCPUs:
					cpus += int64(c.Count) * w.Value.Num
				case index.Mem:
					mem += int64(c.Count) * w.Value.Num
				}
			}
		}
		own := strings.Contains(rec.Extra[extraRequest], "mem=") // it says itself how much
		if cpus != rec.WantProcs || !own && (mem*1024 < rec.WantMemory || mem*1024 >= rec.WantMemory+nodes*1024) {
			t.Errorf("%s: %d cpus and %d kb; recorded are %d and %d bytes", j.Asked, cpus, mem, rec.WantProcs, rec.WantMemory)
		}
	}
}

// recordedJobs are those of the days that are replayed.
func recordedJobs(log *swf.Reader) (jobs []swf.Job, err error) {
	for {
		rec, err := log.Next()
		switch {
		case err == io.EOF:
			return jobs, nil
		case err != nil:
			return nil, err
		case rec.Submit >= recordedFrom && rec.Submit < recordedUntil:
			jobs = append(jobs, rec)
		}
	}
}

func TestNewDemoJob(t *testing.T) {
	for _, c := range []struct {
		asked string
		mem   int64
		want  string
	}{
		{"8:ppn=8:x86_64:cl_zegox", 8 << 30, "nodes=8:ppn=8:x86_64:cl_zegox,mem=8gb"},
		{"1:ppn=10:brno", 60000 << 20, "nodes=1:ppn=10:brno,mem=60000mb"},
		{"1:ppn=2", 1<<20 + 1, "nodes=1:ppn=2,mem=1025kb"},
		{"1:ppn=1:mem=3gb", 400 << 20, "nodes=1:ppn=1:mem=3gb"},
		{"zewura19.cerit-sc.cz:ppn=12:brno", -1, "nodes=zewura19:ppn=12:brno"},
	} {
		j := newDemoJob(swf.Job{Run: 70, WantTime: 60, WantMemory: c.mem, Extra: []string{"q_1d", c.asked}}, 0)
		if j.Request.Select != c.want || j.Run != 60 {
			t.Errorf("%s: %s, %d s; want %s", c.asked, j.Request.Select, j.Run, c.want)
		}
	}
}

func TestWholeNodes(t *testing.T) {
	for in, want := range map[string]string{
		"nodes=1":                     "nodes=1#excl",
		"nodes=2:ppn=4,mem=8gb":       "nodes=2:ppn=4#excl,mem=8gb",
		"nodes=2:ppn=4#excl,mem=8gb":  "nodes=2:ppn=4#excl,mem=8gb",
		"nodes=2:ppn=4#shared,mem=gb": "nodes=2:ppn=4#shared,mem=gb",
	} {
		if got := wholeNodes(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
