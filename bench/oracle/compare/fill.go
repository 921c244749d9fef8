package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/placer"
)

// jobs is how many jobs begin each hour on all nodes together: planning many small jobs for the same
// nodes takes long.
const jobs = 100

// fill makes a store with nodes of eight kinds in four queues. Each node has ten jobs one after the
// other, the first of which runs. A twentieth of the nodes is idle.
func fill(path string, nodes int) error {
	fmt.Fprintf(os.Stderr, "making a store of %d nodes and %d allocations\n", nodes, nodes*10)
	opt := &engine.Options{Now: clock}
	if err := engine.Create(path, opt, nil); err != nil {
		return err
	}
	db, err := engine.Open(path, opt)
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(7, 7))
	err = db.Update(func(tx *engine.Tx) error {
		for q := range 4 {
			if err := tx.Queues().Add(engine.Queue{Name: fmt.Sprintf("q%d", q)}); err != nil {
				return err
			}
		}
		for i := range nodes {
			n := &index.Node{Name: fmt.Sprintf("n%05d", i), Queue: fmt.Sprintf("q%d", i%4),
				Load: float64(rng.IntN(64)) / 8, Features: []string{"f" + fmt.Sprint(i%3)}}
			n.Set(index.NCPUs, index.Value{Num: []int64{8, 16, 32, 64}[i/4%4]})
			n.Set(index.Mem, index.Value{Num: int64(32<<20) << (i / 4 % 2)})
			if _, err := tx.Nodes().Put(n); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for slot := range 10 {
		begun := time.Now()
		err := db.Update(func(tx *engine.Tx) error {
			for i := range jobs {
				r := placer.Request{Select: fmt.Sprintf("%d:ncpus=8", nodes/jobs), Place: "scatter:excl",
					Walltime: time.Hour, Queue: fmt.Sprintf("q%d", i%4), User: fmt.Sprintf("u%d", i%50)}
				if slot == 0 && i%20 == 0 {
					continue
				}
				if _, err := tx.Jobs().PlaceAt(r, clock().Add(time.Duration(slot)*time.Hour)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "jobs of hour %d: %s\n", slot, time.Since(begun).Round(time.Millisecond))
	}
	return db.Close()
}
