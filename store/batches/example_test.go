package batches_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/store"
	"github.com/placectl/placectl/store/batches"
)

// newDatabase returns an empty database, whose clock stands.
func newDatabase() (db *store.DB, remove func()) {
	dir, err := os.MkdirTemp("", "placectl-")
	if err != nil {
		log.Fatal(err)
	}
	monday := time.Date(2026, time.January, 5, 9, 0, 0, 0, time.UTC)
	opt := &store.Options{Now: func() time.Time { return monday }, Simulation: true}
	path := filepath.Join(dir, "queue.db")
	if err := store.Create(path, opt, nil); err != nil {
		log.Fatal(err)
	}
	if db, err = store.Open(path, opt); err != nil {
		log.Fatal(err)
	}
	return db, func() { db.Close(); os.RemoveAll(dir) }
}

// Eight jobs work on four files, and two hosts ask for work. They begin at the two ends, and each
// gets jobs whose file it has before it fetches another.
func Example() {
	db, remove := newDatabase()
	defer remove()
	err := db.Update(func(tx *store.Tx) error {
		maker, err := batches.Make(tx, "night", locality.Settings{Hosts: 2})
		if err != nil {
			return err
		}
		for _, name := range []string{"a.dat", "b.dat", "c.dat", "d.dat"} {
			if err := maker.AddFile(batches.File{Name: name, Size: 1 << 30}); err != nil {
				return err
			}
		}
		for i := range 8 {
			if err := maker.AddJob(locality.Job{A: i / 2, B: i / 2, Credit: locality.Micro, Quorum: 1}); err != nil {
				return err
			}
		}
		return maker.Finish()
	})
	if err != nil {
		log.Fatal(err)
	}
	for range 3 {
		for _, host := range []string{"east", "west"} {
			work(db, host)
		}
	}
	// Output:
	// east fetches a.dat
	// east does job 0
	// west fetches d.dat
	// west does job 7
	// east does job 1
	// west does job 6
	// east fetches b.dat
	// east does job 2
	// west fetches c.dat
	// west does job 5
}

// work asks for a job, fetches the files that it needs, and does it.
func work(db *store.DB, host string) {
	var grant *batches.Grant
	var none error // why there is no work
	err := db.Update(func(tx *store.Tx) (err error) {
		grant, err = batches.Next(tx, "night", host, "ann", locality.Want{Jobs: 1})
		if none = err; errors.Is(err, batches.ErrIdle) || errors.Is(err, batches.ErrOver) {
			return nil // keep the transaction
		}
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	if none != nil {
		fmt.Println(host, "has to wait, or has finished:", none)
		return
	}
	for _, f := range grant.Fetch {
		fmt.Println(host, "fetches", f.Name)
	}
	job := grant.Jobs[0].Job
	fmt.Println(host, "does job", job)
	err = db.Update(func(tx *store.Tx) error {
		_, err := batches.Done(tx, "night", host, []int{job})
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
}
