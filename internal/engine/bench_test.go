package engine

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
)

// BenchmarkEmbeddedPlace places one-node jobs on the same number of nodes a
// thousand in a transaction. The goal is 200,000/s: 5 us each.
func BenchmarkEmbeddedPlace(b *testing.B) {
	const nodes = 100_000
	var db *DB
	placed := nodes
	for b.Loop() {
		if placed == nodes {
			b.StopTimer()
			db, placed = filled(b, nodes), 0
			b.StartTimer()
		}
		err := db.Update(func(tx *Tx) error {
			for range 1000 {
				if _, err := tx.Jobs().Place(placer.Request{Select: "1:ncpus=1", Place: "excl",
					Walltime: time.Hour}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
		placed += 1000
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/place")
}

func filled(b *testing.B, n int) *DB {
	b.Helper()
	path := filepath.Join(b.TempDir(), "bench.db")
	opt := &Options{}
	err := Create(path, opt, func(tx *Tx) error {
		for i := range n {
			node := &index.Node{Name: fmt.Sprintf("node%06d", i)}
			node.Set(index.NCPUs, index.Value{Num: 16})
			if _, err := tx.Nodes().Put(node); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	db, err := Open(path, opt)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	return db
}
