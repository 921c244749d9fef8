package engine

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
)

// arrayWaits returns a database with a node of two cpus. Jobs of an array have both, and
// others of its jobs wait.
func arrayWaits(tb testing.TB, waiting int) *DB {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "array.db")
	opt := &Options{}
	err := Create(path, opt, func(tx *Tx) error {
		node := &index.Node{Name: "n1"}
		node.Set(index.NCPUs, index.Value{Num: 2})
		_, err := tx.Nodes().Put(node)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	db, err := Open(path, opt)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { db.Close() })
	err = db.Update(func(tx *Tx) error {
		_, err := tx.Jobs().Submit(Submission{Request: placer.Request{Select: "1:ncpus=1", Walltime: time.Hour},
			Command: []string{"true"}, Array: waiting + 2})
		if err == nil {
			_, err = tx.Cycle().Run(CycleSpec{By: BySupervisor})
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return db
}

// cycleOnce makes a cycle.
func cycleOnce(tb testing.TB, db *DB) {
	tb.Helper()
	err := db.Update(func(tx *Tx) error {
		_, err := tx.Cycle().Run(CycleSpec{By: BySupervisor})
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// TestCycleOverArray: the time of a cycle does not depend on how many equal jobs wait. It took six
// times as long for 10,000 when their rows were compared.
func TestCycleOverArray(t *testing.T) {
	few, many := arrayWaits(t, 98), arrayWaits(t, 9_998)
	fastest := func(db *DB) time.Duration {
		least := time.Hour
		for range 50 {
			began := time.Now()
			cycleOnce(t, db)
			least = min(least, time.Since(began))
		}
		return least
	}
	if short, long := fastest(few), fastest(many); long > 3*short {
		t.Errorf("a cycle takes %v if 100 equal jobs wait, and %v if 10,000 do", short, long)
	}
}

// BenchmarkCycleOverArray makes cycles over 10,000 equal waiting jobs.
func BenchmarkCycleOverArray(b *testing.B) {
	db := arrayWaits(b, 9_998)
	for b.Loop() {
		cycleOnce(b, db)
	}
}

// BenchmarkFirstCycle starts 1,000 jobs of 100 arrays on 1,000 nodes, and reports them for launching.
func BenchmarkFirstCycle(b *testing.B) {
	path := filepath.Join(b.TempDir(), "first.db")
	err := Create(path, nil, func(tx *Tx) error {
		for i := range 1000 {
			node := &index.Node{Name: fmt.Sprintf("n%d", i)}
			node.Set(index.NCPUs, index.Value{Num: 16})
			if _, err := tx.Nodes().Put(node); err != nil {
				return err
			}
		}
		for i := range 100 {
			r := placer.Request{Select: fmt.Sprintf("1:ncpus=%d", i%16+1), Walltime: time.Duration(i%7+1) * time.Hour}
			if _, err := tx.Jobs().Submit(Submission{Request: r, Array: 10}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	db, err := Open(path, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	b.ReportAllocs()
	for b.Loop() {
		err := db.DryRun(func(tx *Tx) error {
			r, err := tx.Cycle().Run(CycleSpec{})
			if err == nil && len(r.Launch) != 1000 {
				err = fmt.Errorf("%d of 1,000 jobs start", len(r.Launch))
			}
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
