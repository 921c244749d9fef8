package rows

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/placer"
	"pgregory.net/rapid"
)

// busy makes a database of one node, which a job has whole while other jobs wait.
func busy(t testing.TB, submit func(*engine.Tx) error) *engine.DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.db")
	err := engine.Create(path, nil, func(tx *engine.Tx) error {
		n := &index.Node{Name: "n1"}
		n.Set(index.NCPUs, index.Value{Num: 8})
		if _, err := tx.Nodes().Put(n); err != nil {
			return err
		}
		if _, err := tx.Jobs().Place(placer.Request{Select: "1:ncpus=8", Walltime: time.Hour,
			User: "bob"}); err != nil {
			return err
		}
		return submit(tx)
	})
	if err != nil {
		t.Fatal(err)
	}
	db, err := engine.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() }) //nolint:errcheck // nothing was written
	return db
}

// TestWhoIsNext: of the jobs that only wait for room exactly one waits for Resources, the others for their
// turn. It is the first in their order that could start at all.
func TestWhoIsNext(t *testing.T) {
	outer := t
	rapid.Check(t, func(t *rapid.T) {
		smallFirst := rapid.Bool().Draw(t, "small jobs first")
		var want uint64
		before := func(a, b *engine.Job) int {
			if smallFirst {
				return cmp.Or(cmp.Compare(a.Walltime, b.Walltime), cmp.Compare(a.ID, b.ID))
			}
			return cmp.Or(-cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.ID, b.ID))
		}
		db := busy(outer, func(tx *engine.Tx) error {
			if smallFirst {
				if err := tx.Config().Set("job_priority", "0 - WALLTIME"); err != nil {
					return err
				}
			}
			var ready []*engine.Job
			for i := range rapid.IntRange(0, 12).Draw(t, "jobs") {
				s := engine.Submission{
					Request: placer.Request{Select: "1:ncpus=1",
						Walltime: time.Duration(rapid.IntRange(1, 3).Draw(t, "hours")) * time.Hour, User: "ann"},
					Priority: rapid.Int64Range(-1, 1).Draw(t, "priority"), Command: []string{"true"}}
				kind := rapid.IntRange(0, 5).Draw(t, "kind")
				switch kind {
				case 0:
					s.Hold = true
				case 1:
					s.Begin = tx.Now().Add(time.Hour)
				case 2:
					s.After = []engine.Dependency{
						{When: engine.AfterOK, Job: uint64(rapid.IntRange(1, i+1).Draw(t, "after"))}}
				case 3:
					s.Select = "1:ncpus=9"
				case 4:
					s.After = []engine.Dependency{{When: engine.After, Job: 1}} // job 1 is running
				}
				jobs, err := tx.Jobs().Submit(s)
				if err != nil {
					return err
				}
				if kind >= 4 {
					ready = append(ready, jobs...)
				}
			}
			if len(ready) > 0 {
				want = slices.MinFunc(ready, before).ID
			}
			return nil
		})
		var got []uint64
		err := db.View(func(tx *engine.Tx) error {
			got = nil
			v := &View{Tx: tx}
			return v.Jobs(fronts.Selection{Why: true}, func(j *fronts.Job) error {
				if j.Wait == fronts.ForRoom {
					got = append(got, j.ID)
				}
				return nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got) != fmt.Sprint([]uint64{want}) && (want != 0 || len(got) > 0) {
			t.Fatalf("the jobs %v wait for Resources, want only %d", got, want)
		}
		// A query for one job compares it with the others, without sorting them.
		for id := uint64(1); id <= 13; id++ {
			err := db.View(func(tx *engine.Tx) error {
				v := &View{Tx: tx}
				return v.Jobs(fronts.Selection{IDs: []uint64{id}, Why: true}, func(j *fronts.Job) error {
					if (j.Wait == fronts.ForRoom) != (j.ID == want) {
						t.Fatalf("queried alone, job %d waits for %d, but %d is next", j.ID, j.Wait, want)
					}
					return nil
				})
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}

// BenchmarkWaiting asks what the last of many jobs waits for, as squeue -j does. The cost does not depend on
// their number.
func BenchmarkWaiting(b *testing.B) {
	for _, c := range []struct {
		order string
		many  int
	}{{"", 10}, {"", 1000}, {"", 10_000}, {"PRIORITY + AGE/3600", 10_000}} {
		b.Run(fmt.Sprint(c.order, "/", c.many), func(b *testing.B) {
			last := uint64(0)
			db := busy(b, func(tx *engine.Tx) error {
				if err := tx.Config().Set("job_priority", c.order); err != nil {
					return err
				}
				for range c.many {
					jobs, err := tx.Jobs().Submit(
						engine.Submission{Request: placer.Request{Select: "1:ncpus=1", Walltime: time.Hour,
							User: "ann"},
							Command: []string{"true"}})
					if err != nil {
						return err
					}
					last = jobs[0].ID
				}
				return nil
			})
			for b.Loop() {
				err := db.View(func(tx *engine.Tx) error {
					v := &View{Tx: tx}
					return v.Jobs(fronts.Selection{IDs: []uint64{last}, Ended: true, Why: true},
						func(j *fronts.Job) error {
							if j.Wait != fronts.ForTurn {
								return fmt.Errorf("job %d waits for %d", j.ID, j.Wait)
							}
							return nil
						})
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
