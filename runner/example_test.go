package runner_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/runner"
	"github.com/placectl/placectl/store"
)

// A program executes the job that it submits.
func Example() {
	dir, err := os.MkdirTemp("", "placectl-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := dir + "/cluster.db"
	err = store.Create(path, nil, func(tx *store.Tx) error {
		host, err := os.Hostname()
		if err != nil {
			return err
		}
		defs, err := tx.Resources()
		if err != nil {
			return err
		}
		node := &index.Node{Name: host} // jobs of the node that has this host's name run here
		if err := node.SetAmount(defs, "ncpus", "4"); err != nil {
			return err
		}
		_, err = tx.PutNode(node)
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	db, err := store.Open(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	r, err := runner.New(db, runner.Options{})
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	worked := make(chan error)
	go func() { worked <- r.Work(ctx) }()

	payload := runner.Here()
	payload.Dir, payload.Out = dir, "out"
	job := new(store.Job)
	err = db.Update(func(tx *store.Tx) error {
		made, err := tx.Submit(store.Submission{Request: placer.Request{Select: "ncpus=1", Walltime: time.Minute},
			Command: []string{"echo", "hello"}, Payload: payload})
		if err == nil {
			job.ID = made.First
		}
		return err
	})
	for state := ""; err == nil && job.State != store.JobFinished; {
		if state, err = db.Wait(ctx, state); err == nil {
			err = db.View(func(tx *store.Tx) (err error) {
				job, err = tx.Job(job.ID)
				return err
			})
		}
	}
	if err != nil {
		log.Fatal(err)
	}
	out, err := os.ReadFile(dir + "/out")
	fmt.Printf("%s%v\n", out, err)

	stop()
	if err := <-worked; !errors.Is(err, context.Canceled) {
		log.Fatal(err)
	}
	// Output:
	// hello
	// <nil>
}
