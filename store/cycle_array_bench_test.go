package store

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
)

// arrayWaits makes a database with a node of two cpus, both taken by jobs of an array, of which
// so many others wait.
func arrayWaits(tb testing.TB, waiting int) *DB {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "array.db")
	opt := &Options{Private: true}
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
		_, err := tx.Jobs().Submit(Submission{Request: placer.Request{Select: "1:ncpus=1", Walltime: time.Hour}, Command: []string{"true"}, Array: waiting + 2})
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

// BenchmarkCycleOverArray makes cycles over 10,000 equal waiting jobs.
func BenchmarkCycleOverArray(b *testing.B) {
	db := arrayWaits(b, 10_000)
	for b.Loop() {
		err := db.Update(func(tx *Tx) error {
			_, err := tx.Cycle().Run(CycleSpec{By: BySupervisor})
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
