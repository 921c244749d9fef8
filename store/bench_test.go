package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store"
	"github.com/placectl/placectl/store/storetest"
)

// BenchmarkPlace places and releases a job on one of 1,000 nodes, through this package and through what is below it:
// the difference is the conversion of the job.
func BenchmarkPlace(b *testing.B) {
	make := func(b *testing.B) *store.DB {
		db, _ := storetest.New(b, putThousand)
		return db
	}
	r := placer.Request{Select: "2:ncpus=2", Walltime: time.Hour}
	b.Run("store", func(b *testing.B) {
		db := make(b)
		for b.Loop() {
			err := db.Update(func(tx *store.Tx) error {
				job, err := tx.Place(r)
				if err == nil {
					_, err = tx.Release(job.ID)
				}
				return err
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("engine", func(b *testing.B) {
		below := engine.DBOf(make(b))
		for b.Loop() {
			err := below.Update(func(tx *engine.Tx) error {
				job, err := tx.Jobs().Place(r)
				if err == nil {
					_, err = tx.Jobs().Release(job.ID)
				}
				return err
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}

// putThousand declares 1,000 nodes with 8 cpus each.
func putThousand(tx *store.Tx) error {
	defs, err := tx.Resources()
	if err != nil {
		return err
	}
	for i := range 1000 {
		n := &index.Node{Name: fmt.Sprintf("n%04d", i)}
		if err := n.SetAmount(defs, "ncpus", "8"); err != nil {
			return err
		}
		if _, err := tx.PutNode(n); err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkLeases lets 200 goroutines place a job and release it, by Batch and by Update, while another handle writes
// now and then. The folder is that of the tests, or PLACECTL_BENCH_DIR. Goals, as ratios in one run: 8 times as many
// requests by Batch, and p99 a tenth; the other waits at most 0.2 s. Run it with -benchtime 4000x.
func BenchmarkLeases(b *testing.B) {
	for _, c := range []struct {
		name string
		of   func(*store.DB, func(*store.Tx) error) error
	}{{"Batch", (*store.DB).Batch}, {"Update", (*store.DB).Update}} {
		b.Run(c.name, func(b *testing.B) {
			dir, err := os.MkdirTemp(os.Getenv("PLACECTL_BENCH_DIR"), "leases-")
			if err != nil {
				b.Fatal(err)
			}
			defer os.RemoveAll(dir)
			path := filepath.Join(dir, "l.db")
			if err := store.Create(path, nil, putThousand); err != nil {
				b.Fatal(err)
			}
			db, err := store.Open(path, nil)
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			other, err := store.Open(path, nil)
			if err != nil {
				b.Fatal(err)
			}
			defer other.Close()
			over, longest := make(chan struct{}), make(chan time.Duration)
			go func() {
				most := time.Duration(0)
				for {
					select {
					case <-over:
						longest <- most
						return
					case <-time.After(50 * time.Millisecond):
					}
					began := time.Now()
					if err := other.Update(func(*store.Tx) error { return nil }); err != nil {
						b.Error(err)
					}
					most = max(most, time.Since(began))
				}
			}()
			b.ResetTimer()
			took := leases(b, db, c.of)
			b.StopTimer()
			close(over)
			slices.Sort(took)
			b.ReportMetric(float64(len(took))/b.Elapsed().Seconds(), "requests/s")
			b.ReportMetric(float64(took[len(took)*99/100].Milliseconds()), "p99-ms")
			b.ReportMetric(float64((<-longest).Milliseconds()), "other-ms")
		})
	}
}

// leases makes b.N requests, half of them to place a job and half to release it, and returns how long each took.
func leases(b *testing.B, db *store.DB, do func(*store.DB, func(*store.Tx) error) error) (took []time.Duration) {
	var all sync.WaitGroup
	var mu sync.Mutex
	var next atomic.Int64
	for range 200 {
		all.Go(func() {
			for next.Add(2) <= int64(max(b.N, 2)) {
				var id uint64
				began := time.Now()
				err := do(db, func(tx *store.Tx) error {
					j, err := tx.Place(placer.Request{Select: "1:ncpus=1", Walltime: time.Hour})
					if err == nil {
						id = j.ID
					}
					return err
				})
				placed := time.Now()
				if err == nil {
					err = do(db, func(tx *store.Tx) error { _, err := tx.Release(id); return err })
				}
				if err != nil {
					b.Error(err)
					return
				}
				mu.Lock()
				took = append(took, placed.Sub(began), time.Since(placed))
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return took
}
