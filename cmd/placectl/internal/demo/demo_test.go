package demo

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/backfill/swf"
	"github.com/placectl/placectl/store"
)

const until = 1_800_000_000

// A replay leaves a sound database, in which jobs have waited and wait, and what is
// told of it is what its rows say.
func TestReplay(t *testing.T) {
	data, err := Load(until)
	if err != nil {
		t.Fatal(err)
	}
	path, seen := filepath.Join(t.TempDir(), "demo.db"), 0
	p, err := data.Replay(context.Background(), path, &store.Options{}, "", func(n int) { seen += n })
	if err != nil {
		t.Fatal(err)
	}
	rep, err := p.Report(data, path)
	if err != nil {
		t.Fatal(err)
	}
	s := rep.past
	if len(data.Jobs) != seen || s.running+s.finished != s.AtOnce+s.Later || s.AtOnce+s.Later+s.Waiting != seen || len(s.queue) != s.Waiting || len(s.waits) != s.Later {
		t.Errorf("the figures do not add up: %+v", s.Outcome)
	}
	if s.AtOnce+s.Later < 1100 || s.Later < 10 || s.Waiting < 10 || s.letIn == 0 {
		t.Errorf("%+v; %d jobs were let into a reservation", s.Outcome, s.letIn)
	}
	waiting := 0
	for _, w := range rep.waiting {
		waiting += w.jobs
		if !w.start.IsZero() && w.start.Unix() <= until {
			t.Errorf("%s waits although it could start at %v", w.request, w.start)
		}
	}
	if waiting != s.Waiting {
		t.Errorf("%d of %d waiting jobs", waiting, s.Waiting)
	}
	if err := p.DB.View(func(tx *store.Tx) error { checkDemo(t, tx, s); return nil }); err != nil {
		t.Fatal(err)
	}
	if err := p.DB.Check(func(finding string) { t.Error(finding) }); err != nil {
		t.Fatal(err)
	}
	if err := p.Discard(path); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("it is still there")
	}
}

// A replay that is stopped leaves nothing.
func TestReplayStopped(t *testing.T) {
	data, err := Load(until)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	path := filepath.Join(t.TempDir(), "demo.db")
	if _, err := data.Replay(ctx, path, &store.Options{}, "", func(int) { stop() }); err == nil {
		t.Error("it went on")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("it left a file")
	}
}

// What is replayed is what was asked for: as many processors in all as the record
// counts, and its memory.
func TestData(t *testing.T) {
	data, err := Load(until)
	if err != nil {
		t.Fatal(err)
	}
	if len(data.Nodes) != 68 || data.CPUs() != 20*80+48*12 {
		t.Errorf("%d nodes, %d cpus", len(data.Nodes), data.CPUs())
	}
	log, err := swf.NewReader(bytes.NewReader(trace))
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

// What is done at an instant may be run again before it counts, and comes to the same.
func TestInstantTwice(t *testing.T) {
	data, err := Load(until)
	if err != nil {
		t.Fatal(err)
	}
	opt := &store.Options{Now: func() time.Time { return time.Unix(data.From, 0) }, AnyTime: true}
	path := filepath.Join(t.TempDir(), "demo.db")
	if err := store.Create(path, opt, data.setUp); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(path, opt)
	if err != nil {
		t.Fatal(err)
	}
	now := instant{jobs: data.Jobs[:400]}
	var first [2][]*store.Job
	update := func(fn func(*store.Tx) error) error { return db.Update(fn) }
	for _, run := range []func(func(*store.Tx) error) error{db.DryRun, update} {
		if err := run(now.update); err != nil {
			t.Fatal(err)
		}
		came := [...][]*store.Job{now.begun, now.planned}
		if diff := cmp.Diff(first, came); diff != "" && first[0] != nil {
			t.Errorf("the first run came to something else than the second (-first +second)\n%s", diff)
		}
		first = came
	}
	if len(now.begun) == 0 || len(now.planned) == 0 {
		t.Errorf("%d jobs have begun, %d are planned", len(now.begun), len(now.planned))
	}
}
