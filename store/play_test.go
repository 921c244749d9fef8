package store

import (
	"fmt"
	"maps"
	"path/filepath"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store/internal/row"
	"pgregory.net/rapid"
)

// TestPlayRemembers: what a play hands on from one instant to the next changes no start.
func TestPlayRemembers(t *testing.T) {
	t.Parallel()
	waited := 0
	rapid.Check(t, func(rt *rapid.T) { waited += playRemembers(rt, filepath.Join(t.TempDir(), "a.db")) })
	if waited < 100 {
		t.Errorf("%d jobs have waited", waited)
	}
}

func playRemembers(t *rapid.T, path string) (waited int) {
	now := &clock{1_700_000_000}
	pick := func(label string, list ...string) string { return rapid.SampledFrom(list).Draw(t, label) }
	nodes := rapid.IntRange(2, 8).Draw(t, "nodes")
	err := Create(path, &Options{Now: now.now, AnyTime: true}, func(tx *Tx) error {
		if err := tx.AddResource(index.Def{Name: "color", Type: index.String}); err != nil {
			return err
		}
		defs, err := tx.Resources()
		if err != nil {
			return err
		}
		color, _ := defs.Lookup("color")
		for i := range nodes {
			n := &index.Node{Name: fmt.Sprintf("n%d", i)}
			n.Set(index.NCPUs, index.Value{Num: 4})
			n.Set(color.ID, index.Value{Str: fmt.Sprintf("c%d", i%3)})
			if _, err := tx.PutNode(n); err != nil {
				return err
			}
		}
		return tx.Configure("backfill", pick("backfill", "easy", "easy", "fcfs", "conservative", "relaxed"))
	})
	if err != nil {
		t.Fatal(err)
	}
	db, err := Open(path, &Options{Now: now.now})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.Update(func(tx *Tx) error {
		for i := range rapid.IntRange(5, 40).Draw(t, "jobs") {
			s := Submission{Request: placer.Request{Select: pick("chunks", "1", "1", "1", "2", "3", "6", "12") + ":ncpus=" + pick("cpus", "1", "2", "4") + pick("color", "", "", ":color=c0", ":color=c1"),
				Place: pick("place", "free", "free", "scatter", "excl", "scatter:excl", "pack"), User: pick("user", "ann", "bob"),
				Walltime: time.Duration(rapid.IntRange(1, 40).Draw(t, "walltime")) * time.Minute}, Priority: int64(rapid.IntRange(0, 1).Draw(t, "priority"))}
			if rapid.IntRange(0, 5).Draw(t, "later") == 0 {
				s.Begin = instant(now.t + int64(rapid.IntRange(1, 3000).Draw(t, "begin")))
			}
			if _, err := tx.Submit(s); err != nil {
				return err
			}
			if i%8 == 7 {
				if _, err := tx.Cycle(CycleSpec{}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(func(tx *Tx) error {
		for _, runs := range []func(*row.Job, int64) (int64, error){nil, func(j *row.Job, ran int64) (int64, error) { return max(ran, 1+j.Walltime/int64(2+j.ID%3)), nil }} {
			is, err := tx.played(PlaySpec{runs: runs})
			if err != nil {
				return err
			}
			want, err := tx.played(PlaySpec{runs: runs, forgets: true})
			if err != nil {
				return err
			}
			if is.memory == nil || want.memory != nil {
				t.Fatal("nothing is remembered, or what should not be")
			}
			if !maps.Equal(is.started, want.started) {
				t.Fatalf("jobs start at %v, and at %v where nothing is remembered", is.started, want.started)
			}
			waited = len(is.started)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return waited
}
