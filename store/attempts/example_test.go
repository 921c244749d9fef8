package attempts_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store"
	"github.com/placectl/placectl/store/attempts"
)

// newQueue returns a database with a node and a job that has just started there.
func newQueue() (db *store.DB, remove func()) {
	dir, err := os.MkdirTemp("", "placectl-")
	if err != nil {
		log.Fatal(err)
	}
	path := filepath.Join(dir, "queue.db")
	err = store.Create(path, nil, func(tx *store.Tx) error {
		defs, err := tx.Resources()
		if err != nil {
			return err
		}
		if err := tx.Set(store.Setting{Name: "launch", Value: "work"}); err != nil {
			return err
		}
		node := &index.Node{Name: "n1"}
		if err := node.SetAmount(defs, "ncpus", "8"); err != nil {
			return err
		}
		if _, err := tx.PutNode(node); err != nil {
			return err
		}
		_, err = tx.Submit(store.Submission{Request: placer.Request{Name: "sort", Walltime: time.Hour},
			Command: []string{"sort", "big.txt"}})
		if err != nil {
			return err
		}
		_, err = tx.Cycle(context.Background(), store.CycleOptions{})
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	if db, err = store.Open(path, nil); err != nil {
		log.Fatal(err)
	}
	return db, func() { db.Close(); os.RemoveAll(dir) }
}

// A program claims an attempt before it executes anything, and reports how it ended. Between the
// two transactions the command runs.
func Example() {
	db, remove := newQueue() // job 1 has started, and waits for a program that executes it
	defer remove()
	var nonce attempts.Nonce
	rand.Read(nonce[:])
	var granted *attempts.Granted
	err := db.Update(func(tx *store.Tx) error {
		for job, err := range attempts.Unclaimed(tx) {
			if err != nil {
				return err
			}
			granted, err = attempts.Take(tx, attempts.Claim{Job: job.ID, Attempt: job.Attempt, Nonce: nonce,
				Process: attempts.Process{Host: "n1", PID: os.Getpid()}})
			return err
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("execute", granted.Job.Command, "of job", granted.Job.ID)

	var job *store.Job
	err = db.Update(func(tx *store.Tx) (err error) {
		job, err = attempts.End(tx, attempts.Result{Job: granted.Job.ID, Attempt: granted.Job.Attempt, Nonce: nonce,
			Outcome: attempts.Exited, Exit: 0})
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("job", job.ID, "is", job.State)
	// Output:
	// execute [sort big.txt] of job 1
	// job 1 is finished
}
