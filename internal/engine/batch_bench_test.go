package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/placectl/placectl/locality"
)

// BenchmarkBatch runs next and done for random hosts out of 100,000 that work in a batch of
// 1,000,000 jobs, a hundred of each in a transaction. It reports the time of a transaction.
func BenchmarkBatch(b *testing.B) {
	const hosts, jobs, each = 100_000, 1_000_000, 100
	db, clock := newDB(b)
	addBatch(b, db, "b", locality.Settings{Hosts: hosts}, someJobs(jobs))
	held := make([][]locality.Given, hosts)
	next := func(tx *Tx, n int) error {
		g, err := tx.Batches().Next("b", fmt.Sprint("h", n), "", locality.Want{Jobs: 1, Lease: 1 << 30})
		if g != nil {
			held[n] = g.Jobs
			return nil
		}
		return err
	}
	for from := 0; from < hosts; from += 1000 {
		benchUpdate(b, db, 1000, func(tx *Tx, n int) error { return next(tx, from+n) })
	}
	r := rand.New(rand.NewPCG(1, 1))
	for b.Loop() { // the setup runs once
		clock.t++
		benchUpdate(b, db, each, func(tx *Tx, _ int) error {
			n := r.IntN(hosts)
			if len(held[n]) > 0 {
				if _, err := tx.Batches().Done("b", fmt.Sprint("h", n), []int{held[n][0].Job}); err != nil {
					return err
				}
			}
			return next(tx, n)
		})
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*each), "µs/job")
}

// benchUpdate runs fn a number of times in one transaction.
func benchUpdate(b *testing.B, db *DB, times int, fn func(*Tx, int) error) {
	b.Helper()
	if err := db.Update(func(tx *Tx) error {
		for n := range times {
			if err := fn(tx, n); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		b.Fatal(err)
	}
}
