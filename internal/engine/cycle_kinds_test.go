package engine

import (
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
)

// TestCycleLooksAgainAtKinds: first fit gives the first chunk the only node with the memory
// for the second, so the job does not fit. After a part of that node is taken it fits, though
// nothing was freed.
func TestCycleLooksAgainAtKinds(t *testing.T) {
	t.Parallel()
	c := &clock{t: 1_000_000}
	opt := &Options{Now: c.now}
	path := t.TempDir() + "/kinds.db"
	err := Create(path, opt, func(tx *Tx) error {
		for _, n := range []struct {
			name      string
			cpus, mem int64
		}{{"large", 2, 8 << 20}, {"poor", 2, 1 << 20}, {"small", 1, 8 << 20}} {
			node := &index.Node{Name: n.name}
			node.Set(index.NCPUs, index.Value{Num: n.cpus})
			node.Set(index.Mem, index.Value{Num: n.mem})
			if _, err := tx.Nodes().Put(node); err != nil {
				return err
			}
		}
		_, err := tx.Jobs().Place(placer.Request{Select: "1:ncpus=1:host=small", Walltime: 10 * time.Hour})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	db, err := Open(path, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	started := func(before func(tx *Tx) error) (n int) {
		t.Helper()
		if err := db.Update(func(tx *Tx) error {
			if err := before(tx); err != nil {
				return err
			}
			r, err := tx.Cycle().Run(CycleSpec{Backfill: FCFS})
			if err == nil {
				n = len(r.Started)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := started(func(tx *Tx) error {
		_, err := tx.Jobs().Submit(
			Submission{Request: placer.Request{Select: "1:ncpus=2+1:ncpus=1:mem=5gb", Place: "scatter",
				Walltime: time.Hour}})
		return err
	}); n != 0 {
		t.Fatalf("%d started where first fit finds no room", n)
	}
	if n := started(func(tx *Tx) error {
		_, err := tx.Jobs().Place(placer.Request{Select: "1:ncpus=1:host=large", Walltime: time.Hour})
		return err
	}); n != 1 {
		t.Fatalf("%d started, and placing it would have succeeded", n)
	}
}
