package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"pgregory.net/rapid"
)

// payloadCounts returns the number of jobs in each payload row, by directory.
func payloadCounts(t testing.TB, db *DB) map[string]uint64 {
	t.Helper()
	counts := make(map[string]uint64)
	err := db.View(func(tx *Tx) error {
		return tx.k.File.Each(row.Payloads, nil, func(key, payload []byte) (bool, error) {
			p, err := row.PayloadRow.Decode(key, payload)
			if err == nil {
				counts[p.Dir] += p.Jobs
			}
			return true, err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return counts
}

// TestPayloadCounts submits jobs and arrays that have one of a few payloads. It ends some, and
// removes and archives them in any order. Exactly the existing jobs' payloads are kept, once
// each, and their counts are right; a job keeps its payload.
func TestPayloadCounts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		db, clock := newDB(t)
		addNodes(t, db, "n", 2, 4)
		carries := make(map[uint64]string) // jobs that are there, and the directory of what they carry
		must := func(err error) {
			if err != nil {
				rt.Fatal(err)
			}
		}
		submit := func(rt *rapid.T) {
			s := Submission{Request: placer.Request{Select: "1:ncpus=1", Walltime: time.Hour},
				Array: rapid.SampledFrom([]int{0, 0, 1, 5}).Draw(rt, "array")}
			if dir := rapid.SampledFrom([]string{"", "/a", "/b", "/c"}).Draw(rt, "carries"); dir != "" {
				s.Payload = &Payload{Dir: dir, Script: "true\n", Env: []string{"HOME=" + dir}}
			}
			keep := rapid.IntRange(0, 4).Draw(rt, "keep") > 0
			submitted := func(tx *Tx) error {
				jobs, err := tx.Jobs().Submit(s)
				for _, j := range jobs {
					if keep && s.Payload != nil {
						carries[j.ID] = s.Payload.Dir
					}
				}
				return err
			}
			if keep {
				must(db.Update(submitted))
			} else {
				must(db.DryRun(submitted))
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"submit": submit,
			"cancel": func(rt *rapid.T) {
				id := uint64(rapid.IntRange(1, 20).Draw(rt, "job"))
				err := db.Update(func(tx *Tx) error { _, err := tx.Jobs().Cancel(id, ""); return err })
				if err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrConflict) {
					rt.Fatal(err)
				}
			},
			"forget": func(*rapid.T) {
				clock.t += 1000
				must(db.Update(func(tx *Tx) error {
					if err := tx.Config().Set("keep_ended", "500"); err != nil {
						return err
					}
					_, err := tx.Cycle().Run(CycleSpec{})
					return err
				}))
			},
			"archive": func(rt *rapid.T) {
				clock.t += 10
				_, err := db.Archive(filepath.Join(filepath.Dir(db.Path()), "old.jsonl"), kernel.Instant(clock.t), nil)
				must(err)
			},
			"": func(rt *rapid.T) {
				want := make(map[string]uint64)
				must(db.View(func(tx *Tx) error {
					for id, dir := range carries {
						p, err := tx.Jobs().Payload(id)
						switch {
						case errors.Is(err, ErrNotFound):
							delete(carries, id)
							continue
						case err != nil:
							return err
						case p == nil || p.Dir != dir || p.Env[0] != "HOME="+dir:
							return fmt.Errorf("job %d carries %+v, not %s", id, p, dir)
						}
						want[dir]++
					}
					return nil
				}))
				if diff := cmp.Diff(want, payloadCounts(t, db)); diff != "" {
					rt.Fatalf("-carried +kept\n%s", diff)
				}
				if list := findings(t, db); len(list) > 0 {
					rt.Fatalf("%q", list)
				}
			},
		})
	})
}

// TestArchivedPayloads: an archive keeps its jobs' payloads, and can get more of the same.
func TestArchivedPayloads(t *testing.T) {
	db, clock := newDB(t)
	addNodes(t, db, "n", 1, 4)
	to := filepath.Join(t.TempDir(), "old.jsonl")
	p := &Payload{Dir: "/a", Script: "true\n", Umask: 0o77, Env: []string{"A=b=c"},
		Limits: []ResourceLimit{{Name: "core", Soft: 0, Hard: NoLimit}}, Out: "%j", Err: "%%", Append: true,
		Interpreter: "/bin/bash", Compat: "slurm", Variables: []string{"X=y"}}
	var kept []string
	for range 2 {
		err := db.Update(func(tx *Tx) error {
			jobs, err := tx.Jobs().Submit(Submission{Request: placer.Request{Select: "1:ncpus=1", Walltime: time.Hour},
				Array: 3, Payload: p})
			for _, j := range jobs {
				if _, e := tx.Jobs().Cancel(j.ID, ""); e != nil {
					err = e
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, payloadLines(dumped(t, db))...)
		clock.t += 10
		if _, err := db.Archive(to, kernel.Instant(clock.t), nil); err != nil {
			t.Fatal(err)
		}
	}
	if left := payloadCounts(t, db); len(left) > 0 || len(kept) != 2 {
		t.Errorf("%v is left of %q", left, kept)
	}
	text, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(kept, payloadLines(string(text))); diff != "" {
		t.Errorf("-kept +archived\n%s", diff)
	}
}

// payloadLines returns the lines of payloads in a dump or an archive.
func payloadLines(text string) (list []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, `{"table":"payloads"`) {
			list = append(list, line)
		}
	}
	return list
}

// TestPayloadRefused: an invalid payload is refused, with the reason.
func TestPayloadRefused(t *testing.T) {
	db, _ := newDB(t)
	addNodes(t, db, "n", 1, 4)
	before := dumpAll(t, db)
	for want, s := range map[string]Submission{
		"script has 1048577 bytes": {Payload: &Payload{Dir: "/", Script: strings.Repeat("x", MaxScript+1)}},
		"NUL byte at offset 2":     {Payload: &Payload{Dir: "/", Script: "ab\x00c"}},
		"environment has 131073": {
			Payload: &Payload{Dir: "/", Env: []string{"A=" + strings.Repeat("x", MaxEnvironment-2)}}},
		"is not NAME=VALUE":         {Payload: &Payload{Dir: "/", Env: []string{"A"}}},
		"not an absolute path":      {Payload: &Payload{Dir: "here"}},
		"no directory to run in":    {Payload: &Payload{}},
		"%z in the pattern":         {Payload: &Payload{Dir: "/", Out: "a%z"}},
		"ends in a %":               {Payload: &Payload{Dir: "/", Err: "%%%"}},
		"umask 1000":                {Payload: &Payload{Dir: "/", Umask: 0o1000}},
		`not of "lsf"`:              {Payload: &Payload{Dir: "/", Compat: "lsf"}},
		"%é in the pattern \"x%é\"": {Payload: &Payload{Dir: "/", Out: "x%é"}},
	} {
		s.Request = placer.Request{Select: "1:ncpus=1", Walltime: time.Hour}
		err := db.Update(func(tx *Tx) error { _, err := tx.Jobs().Submit(s); return err })
		if !errors.Is(err, ErrInvalid) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%v, and nothing of %q", err, want)
		}
	}
	if now := dumpAll(t, db); now != before {
		t.Error("a refused submission has changed something")
	}
}
