package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/placectl/placectl/internal/engine"
)

// staggered is the number of reservations on each node of the adversarial store: fifty minutes taken,
// fifty free, each node a little after the one before. At almost any time some nodes are free, but none
// is free for an hour until all plans are over.
const staggered = 15

// adversarial measures the worst question for when: enough nodes are free at many times, but not for long
// enough.
func (b *bench) adversarial(dir string) error {
	fmt.Printf("\nwhen, where enough nodes are free at every time but none for long enough; %d reservations a node\n",
		staggered)
	for _, t := range b.stores {
		spans := t.size
		path := filepath.Join(dir, "adversarial-"+strconv.Itoa(spans)+".db")
		if err := exec.Command(b.self, "-make-adversarial", path, "-sizes", strconv.Itoa(spans)).Run(); err != nil {
			return err
		}
		var got []sample
		for range min(b.runs, 5) {
			_, m, err := b.process(b.program, target{spans, 1, path}, "when", "2:ncpus=1", "--place", "scatter:excl",
				"-t", "1h", "-o", "id")
			if err != nil {
				return err
			}
			got = append(got, m)
		}
		wall := median(got, func(s sample) float64 { return float64(s.wall) / 1e6 })
		fmt.Printf("  %d spans on %d nodes: %.1f ms, %.0f ns a span\n", spans, spans/staggered, wall,
			wall*1e6/float64(spans))
	}
	return nil
}

// fillAdversarial makes a store with spans reservations.
func fillAdversarial(path string, spans int) error {
	now := base()
	opt := &engine.Options{Now: func() time.Time { return now }}
	nodes := spans / staggered
	if err := engine.Create(path, opt, func(tx *engine.Tx) error { return addPlainNodes(tx, nodes) }); err != nil {
		return err
	}
	db, err := engine.Open(path, opt)
	if err != nil {
		return err
	}
	defer db.Close()
	return db.Update(func(tx *engine.Tx) error {
		for node := range nodes {
			for k := range staggered {
				start := tx.Now().Add(time.Duration(1+node*3000/nodes+k*6000) * time.Second)
				name := fmt.Sprintf("r%d-%d", node, k)
				if _, err := tx.Reservations().ReserveNodes(name, []uint32{uint32(node)}, start,
					start.Add(3000*time.Second)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
