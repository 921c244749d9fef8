package store

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/placectl/placectl/locality"
)

// BenchmarkBatch is next and done of hosts drawn at random out of 100,000 that work
// in a batch of 1,000,000 jobs, a hundred operations a transaction.
func BenchmarkBatch(b *testing.B) {
	const hosts, jobs = 100_000, 1_000_000
	db, clock := newDB(b)
	addBatch(b, db, "b", locality.Settings{Hosts: hosts}, someJobs(jobs))
	held := make([][]locality.Given, hosts)
	next := func(tx *Tx, n int) error {
		g, err := tx.BatchNext("b", fmt.Sprint("h", n), "", locality.Want{Jobs: 1, Lease: 1 << 30})
		if g != nil {
			held[n] = g.Jobs
			return nil
		}
		return err
	}
	for from := 0; from < hosts; from += 1000 {
		if err := db.Update(func(tx *Tx) error {
			for n := from; n < from+1000; n++ {
				if err := next(tx, n); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			b.Fatal(err)
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	b.ResetTimer()
	for done := 0; done < b.N; {
		clock.t++
		if err := db.Update(func(tx *Tx) error {
			for ; done%100 != 99 && done < b.N; done++ {
				n := r.IntN(hosts)
				if len(held[n]) > 0 {
					if _, err := tx.BatchDone("b", fmt.Sprint("h", n), []int{held[n][0].Job}); err != nil {
						return err
					}
				}
				if err := next(tx, n); err != nil {
					return err
				}
			}
			done++
			return nil
		}); err != nil {
			b.Fatal(err)
		}
	}
}
