package demo

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/backfill/swf"
)

const until = 1_800_000_000

var update = flag.Bool("update", false, "make data/demo.jsonl.gz anew")

// TestReplay: a replay of the record leaves a sound database. With -update it becomes the demo.
func TestReplay(t *testing.T) {
	if testing.Short() && !*update {
		t.Skip("-short: the replay takes seconds")
	}
	db := read(t, recordedUntil).add().Replay(t, filepath.Join(t.TempDir(), "demo.db"))
	sound(t, db)
	if !*update {
		return
	}
	id := identity(t, db)
	var text, packed bytes.Buffer
	if _, err := db.Dump(&text, nil); err != nil {
		t.Fatal(err)
	}
	zip, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	told := regexp.MustCompile(`"reason":"to start at 2013-[^"]*",`) // words do not move in time
	_, err := zip.Write(bytes.Replace(told.ReplaceAll(text.Bytes(), nil), []byte(id.ID), []byte(sameID), 1))
	if err = errors.Join(err, zip.Close()); err == nil {
		err = os.WriteFile("data/demo.jsonl.gz", packed.Bytes(), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func identity(t *testing.T, db *engine.DB) (id engine.Identity) {
	t.Helper()
	if err := db.View(func(tx *engine.Tx) (err error) { id, err = tx.Identity(); return err }); err != nil {
		t.Fatal(err)
	}
	return id
}

// sound checks a database against itself and against its jobs.
func sound(t *testing.T, db *engine.DB) {
	t.Helper()
	if err := db.View(func(tx *engine.Tx) error { checkDemo(t, tx); return nil }); err != nil {
		t.Fatal(err)
	}
	if err := db.Check(func(finding string) { t.Error(finding) }); err != nil {
		t.Fatal(err)
	}
}

// TestLoad: the demo ends at the instant for which it is loaded, is sound, and has an identity of its own.
func TestLoad(t *testing.T) {
	ids := make(map[string]bool)
	for i, now := range []time.Time{time.Unix(until, 0), time.Unix(recordedUntil-86400, 0), time.Unix(until, 0)} {
		opt := engine.Options{Now: func() time.Time { return now }, AnyTime: true}
		path := filepath.Join(t.TempDir(), "demo.db")
		if err := Load(path, now, &engine.LoadOptions{Options: opt}); err != nil {
			t.Fatal(err)
		}
		db, err := engine.Open(path, &opt)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		sound(t, db)
		id := identity(t, db)
		if !id.AnyTime {
			t.Errorf("the demo's identity %+v is not for any time", id)
		}
		if ids[id.ID] = true; len(ids) != i+1 {
			t.Error("two demos are the same database")
		}
		err = db.View(func(tx *engine.Tx) error {
			if made, err := Made(tx); !made || err != nil {
				t.Errorf("Made = %v, %v, want true", made, err)
			}
			first, last := int64(math.MaxInt64), int64(0)
			err := tx.Jobs().Each(func(j *engine.Job) error {
				first, last = min(first, j.Submit.Unix()), max(last, j.Submit.Unix())
				return nil
			})
			if since := now.Unix() - int64(Lasts.Seconds()); first < since || first > since+86400 ||
				last > now.Unix() || last < now.Unix()-3600 {
				t.Errorf("jobs were submitted from %d to %d, as of %d", first, last, now.Unix())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if _, err := db.Dump(&text, nil); err != nil || bytes.Contains(text.Bytes(), []byte("2013-")) {
			t.Errorf("words contain times that were not moved: %v", err)
		}
	}
}

// TestData: the replayed jobs request what was recorded: the same number of processors in all, and the
// memory.
func TestData(t *testing.T) {
	data := read(t, until)
	if len(data.Nodes) != 68 || data.CPUs() != 20*80+48*12 {
		t.Errorf("%d nodes, %d cpus", len(data.Nodes), data.CPUs())
	}
	log, err := swf.NewReader(bytes.NewReader(record(t, "wagap-2013.swf.gz")))
	if err != nil {
		t.Fatal(err)
	}
	defs := index.NewDefs()
	last := data.From
	recs, err := recordedJobs(log)
	if err != nil || len(recs) != len(data.Jobs) {
		t.Fatalf("%d jobs are recorded and %d replayed: %v", len(recs), len(data.Jobs), err)
	}
	for i, j := range data.Jobs {
		rec := recs[i]
		if j.Submit < last || j.Submit >= data.Until || j.Run < 1 {
			t.Errorf("the job %+v is out of order, or does not run", j)
		}
		last = j.Submit
		spec, err := placer.Parse(defs, j.Request)
		if err != nil || spec.Place.Exclusive() {
			t.Fatalf("%s became the place %+v, %v, want a shared one", j.Asked, spec.Place, err)
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
		own := strings.Contains(rec.Extra[extraRequest], "mem=") // the request gives its own memory
		if cpus != rec.WantProcs || !own && (mem*1024 < rec.WantMemory || mem*1024 >= rec.WantMemory+nodes*1024) {
			t.Errorf("%s requests %d cpus and %d kB, recorded are %d and %d bytes", j.Asked, cpus, mem, rec.WantProcs,
				rec.WantMemory)
		}
	}
}

// recordedJobs returns the jobs of the replayed days.
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

// TestInstantTwice: the changes of an instant may run again before they count, with the same result.
func TestInstantTwice(t *testing.T) {
	data := read(t, until).add()
	opt := &engine.Options{Now: func() time.Time { return time.Unix(data.From, 0) }, AnyTime: true}
	path := filepath.Join(t.TempDir(), "demo.db")
	if err := engine.Create(path, opt, data.setUp); err != nil {
		t.Fatal(err)
	}
	db, err := engine.Open(path, opt)
	if err != nil {
		t.Fatal(err)
	}
	now := instant{data: data, jobs: data.Jobs[:400]}
	var first [2][]*engine.Job
	update := func(fn func(*engine.Tx) error) error { return db.Update(fn) }
	for _, run := range []func(func(*engine.Tx) error) error{db.DryRun, update} {
		if err := run(now.update); err != nil {
			t.Fatal(err)
		}
		came := [...][]*engine.Job{now.begun, now.planned}
		if diff := cmp.Diff(first, came); diff != "" && first[0] != nil {
			t.Errorf("the first run had another result than the second (-first +second)\n%s", diff)
		}
		first = came
	}
	if len(now.begun) == 0 || len(now.planned) == 0 {
		t.Errorf("%d jobs have begun, %d are planned", len(now.begun), len(now.planned))
	}
}
