package locality_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/placectl/placectl/locality"
)

// newBatch makes a batch in memory: eight jobs on four files; job i uses file i/2.
func newBatch() (*locality.Memory, *locality.Batch) {
	rows := locality.NewMemory()
	maker, err := locality.NewMaker("night", locality.Settings{Hosts: 2}, 4, rows.Keep)
	if err != nil {
		log.Fatal(err)
	}
	for i := range 8 {
		if err := maker.Add(locality.Job{A: i / 2, B: i / 2, Credit: locality.Micro, Quorum: 1}); err != nil {
			log.Fatal(err)
		}
	}
	batch, err := maker.Finish(rows, 0)
	if err != nil {
		log.Fatal(err)
	}
	return rows, batch
}

// Two hosts take the jobs of a batch until it is over. Each file goes to one of them.
func Example() {
	rows, batch := newBatch()
	hosts := []*locality.Host{{Number: 0, Name: "east"}, {Number: 1, Name: "west"}}
	has := make(map[*locality.Host][]locality.Given)
	for now := int64(0); !batch.Over(); now += 60 { // each job takes a minute
		op, err := locality.Begin(rows, batch, now)
		if err != nil {
			log.Fatal(err)
		}
		for _, host := range hosts {
			for _, given := range has[host] {
				if _, err := op.Done(host, given.Job); err != nil {
					log.Fatal(err)
				}
			}
			grant, err := op.Next(host, locality.Want{Jobs: 1})
			if err != nil && !errors.Is(err, locality.ErrIdle) && !errors.Is(err, locality.ErrOver) {
				log.Fatal(err)
			}
			for _, given := range grant.Jobs {
				fmt.Println(now, host.Name, "fetches", grant.Fetch, "and does job", given.Job)
			}
			has[host] = grant.Jobs
		}
	}
	fmt.Println(batch.Transfers, "transfers, at least", batch.Bound)
	// Output:
	// 0 east fetches [{0 0}] and does job 0
	// 0 west fetches [{3 3}] and does job 7
	// 60 east fetches [] and does job 1
	// 60 west fetches [] and does job 6
	// 120 east fetches [{1 1}] and does job 2
	// 120 west fetches [{2 2}] and does job 5
	// 180 east fetches [] and does job 3
	// 180 west fetches [] and does job 4
	// 4 transfers, at least 4
}
