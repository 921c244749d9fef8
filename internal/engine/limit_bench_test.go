package engine

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/queue"
	"github.com/placectl/placectl/placer"
)

// BenchmarkLimitedPass makes a cycle over 10,000 waiting jobs of 100 users while other jobs
// have the nodes: without rules, with twenty that hold back no job, and with one that holds
// back all.
func BenchmarkLimitedPass(b *testing.B) {
	for _, rules := range []string{"none", "twenty", "full"} {
		b.Run(rules, func(b *testing.B) {
			db, _ := newDB(b)
			fill := func(fn func(*Tx) error) {
				if err := db.Update(fn); err != nil {
					b.Fatal(err)
				}
			}
			fill(func(tx *Tx) error {
				for i := range 100 {
					n := &index.Node{Name: fmt.Sprint("n", i),
						Res: []index.Amount{{Res: index.NCPUs, Value: index.Value{Num: 16}}}}
					if _, err := tx.Nodes().Put(n); err != nil {
						return err
					}
					if _, err := tx.Jobs().Place(placer.Request{Select: "1:ncpus=16", User: "eve",
						Walltime: 100 * time.Hour}); err != nil {
						return err
					}
				}
				for i := range 10_000 {
					r := placer.Request{Select: "1:ncpus=1", User: fmt.Sprint("u", i%100), Walltime: time.Hour}
					if _, err := tx.Jobs().Submit(Submission{Request: r}); err != nil {
						return err
					}
				}
				switch rules {
				case "full":
					return tx.Limits().Set(Limit{Key: "user=*", Measure: "running", Max: 0})
				case "twenty":
					var list []Limit
					for i := range 10 {
						list = append(list, Limit{Key: fmt.Sprint("user=u", i), Measure: "running", Max: 5000},
							Limit{Key: fmt.Sprint("user=u", i), Measure: "ncpus", Max: 5000})
					}
					list[0].Key, list[1].Key, list[2].Key = "user=*", "user=*", "all"
					return tx.Limits().Set(list...)
				}
				return nil
			})
			b.ResetTimer()
			for range b.N {
				if err := db.DryRun(func(tx *Tx) error {
					_, err := tx.Cycle().Run(CycleSpec{})
					return err
				}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPriorities sorts 10,000 waiting jobs of 100 users in 20 accounts, by everything
// that the preset slurm uses.
func BenchmarkPriorities(b *testing.B) {
	db, _ := newDB(b)
	err := db.Update(func(tx *Tx) error {
		if err := tx.Config().Set("job_priority", "slurm"); err != nil {
			return err
		}
		for i := range 100 {
			n := &index.Node{Name: fmt.Sprint("n", i),
				Res: []index.Amount{{Res: index.NCPUs, Value: index.Value{Num: 16}}}}
			if _, err := tx.Nodes().Put(n); err != nil {
				return err
			}
			if _, err := tx.Jobs().Place(placer.Request{Select: "1:ncpus=16", User: fmt.Sprint("u", i),
				Account: fmt.Sprint("a", i%20), Walltime: 100 * time.Hour}); err != nil {
				return err
			}
		}
		for i := range 10_000 {
			r := placer.Request{Select: fmt.Sprintf("1:ncpus=%d", 1+i%8), User: fmt.Sprint("u", i%100),
				Account: fmt.Sprint("a", i%20), Walltime: time.Hour}
			if _, err := tx.Jobs().Submit(Submission{Request: r}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	err = db.View(func(tx *Tx) error {
		kept, err := queue.StoredOrder(tx.k)
		if err != nil {
			return err
		}
		b.ResetTimer()
		for range b.N {
			*queue.Orders.In(tx.k) = nil
			o, err := queue.OrderOf(tx.k, kept)
			if err != nil {
				return err
			}
			if err := o.Sort(slices.Clone(kept)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}
