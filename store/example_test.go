package store_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store"
)

// exampleDB returns a new database of four nodes, on a day on which the clock stands still.
func exampleDB() (*store.DB, func()) {
	dir, err := os.MkdirTemp("", "placectl-")
	if err != nil {
		log.Fatal(err)
	}
	path := filepath.Join(dir, "cluster.db")
	day := time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	options := &store.Options{Now: func() time.Time { return day }}
	if err := store.Create(path, options, addNodes); err != nil {
		log.Fatal(err)
	}
	db, err := store.Open(path, options)
	if err != nil {
		log.Fatal(err)
	}
	return db, func() { db.Close(); os.RemoveAll(dir) }
}

// addNodes adds n1 to n4, of 8 cpus and 64 GB each.
func addNodes(tx *store.Tx) error {
	defs, err := tx.Config().Resources()
	if err != nil {
		return err
	}
	for i := range 4 {
		node := &index.Node{Name: fmt.Sprintf("n%d", i+1)}
		if err := errors.Join(node.SetAmount(defs, "ncpus", "8"), node.SetAmount(defs, "mem", "64gb")); err != nil {
			return err
		}
		if _, err := tx.Nodes().Put(node); err != nil {
			return err
		}
	}
	return nil
}

// A database is a file. Create makes it, and Open gives a handle on it, which several
// goroutines and processes may use at once.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "placectl-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "cluster.db")
	if err := store.Create(path, nil, nil); err != nil {
		log.Fatal(err)
	}
	db, err := store.Open(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	err = store.Create(path, nil, nil)
	fmt.Println("a second time:", errors.Is(err, store.ErrExists))
	// Output:
	// a second time: true
}

func Example_putNode() {
	db, remove := exampleDB()
	defer remove()
	err := db.Update(func(tx *store.Tx) error {
		if err := tx.Config().AddResource(index.Def{Name: "color", Type: index.String}); err != nil {
			return err
		}
		defs, err := tx.Config().Resources()
		if err != nil {
			return err
		}
		node, err := tx.Nodes().Get("n2")
		if err != nil {
			return err
		}
		if err := node.SetAmount(defs, "color", "red"); err != nil {
			return err
		}
		added, err := tx.Nodes().Put(node)
		fmt.Println(node.Name, "has", node.Amount(defs, "mem"), "and is", node.Amount(defs, "color")+", new:", added)
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// n2 has 64gb and is red, new: false
}

// What does not fit now is a *placer.Refusal, which says why; errors.Is tells "not now"
// from "never".
func Example_place() {
	db, remove := exampleDB()
	defer remove()
	wide := placer.Request{Select: "3:ncpus=8", Place: "scatter:excl", Walltime: time.Hour}
	err := db.Update(func(tx *store.Tx) error {
		job, err := tx.Jobs().Place(wide)
		if err != nil {
			return err
		}
		names, err := tx.Nodes().Names(job.NodeNumbers())
		fmt.Println("job", job.ID, job.State, "on", strings.Join(names, " "))
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	err = db.Update(func(tx *store.Tx) error {
		_, err := tx.Jobs().Place(wide)
		return err
	})
	fmt.Println("not now:", errors.Is(err, placer.ErrNotNow))
	wide.Select = "5:ncpus=8"
	err = db.Update(func(tx *store.Tx) error {
		_, err := tx.Jobs().Place(wide)
		return err
	})
	fmt.Println("never:", errors.Is(err, placer.ErrNever))
	// Output:
	// job 1 running on n1 n2 n3
	// not now: true
	// never: true
}

func Example_when() {
	db, remove := exampleDB()
	defer remove()
	err := db.Update(func(tx *store.Tx) error {
		_, err := tx.Jobs().Place(placer.Request{Select: "4:ncpus=8", Place: "scatter:excl",
			Walltime: 90 * time.Minute})
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	err = db.View(func(tx *store.Tx) error {
		plans, err := tx.Ask().When(placer.Request{Select: "2:ncpus=8", Place: "scatter:excl", Walltime: time.Hour},
			tx.Now(), 1)
		if err != nil {
			return err
		}
		fmt.Println("in", plans[0].Start.Sub(tx.Now()))
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// in 1h30m0s
}

// Submitted jobs wait in the queue until a cycle starts them. The caller of a cycle is told once of
// each job that it should launch.
func ExampleTx_Cycle() {
	db, remove := exampleDB()
	defer remove()
	err := db.Update(func(tx *store.Tx) error {
		_, err := tx.Jobs().Submit(store.Submission{Request: placer.Request{Select: "4:ncpus=8", Walltime: time.Hour},
			Command: []string{"./big"}})
		if err != nil {
			return err
		}
		_, err = tx.Jobs().Submit(store.Submission{Request: placer.Request{Select: "1:ncpus=2", Walltime: time.Hour},
			Command: []string{"./small"}})
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	var report *store.CycleReport
	err = db.Update(func(tx *store.Tx) (err error) {
		report, err = tx.Cycle().Run(store.CycleSpec{Backfill: store.Conservative})
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, job := range report.Launch {
		fmt.Println("launch", job.Command[0])
	}
	for _, job := range report.Planned {
		fmt.Println("planned", job.Command[0], "in", job.Start.Sub(job.Submit))
	}
	// Output:
	// launch ./big
	// planned ./small in 1h0m0s
}

func ExampleDB_Query() {
	db, remove := exampleDB()
	defer remove()
	rows, err := db.Query(context.Background(),
		"SELECT name, ncpus FROM nodes WHERE mem >= '64GiB' AND name > ? ORDER BY name", "n2")
	if err != nil {
		log.Fatal(err)
	}
	for row, err := range rows.All() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(row[0], row[1])
	}
	// Output:
	// n3 8
	// n4 8
}

// A batch hands its jobs out to hosts so that each file goes to few of them.
func Example_batchNext() {
	db, remove := exampleDB()
	defer remove()
	err := db.Update(func(tx *store.Tx) error {
		m, err := tx.Batches().Make("night", locality.Settings{Hosts: 2})
		if err != nil {
			return err
		}
		for _, name := range []string{"a.dat", "b.dat"} {
			if err := m.AddFile(store.BatchFile{Name: name, Size: 1 << 30}); err != nil {
				return err
			}
		}
		for i := range 4 {
			if err := m.AddJob(locality.Job{A: i / 2, B: i / 2, Credit: 1_000_000, Quorum: 1}); err != nil {
				return err
			}
		}
		_, err = m.Finish()
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	err = db.Update(func(tx *store.Tx) error {
		grant, err := tx.Batches().Next("night", "host1", "ann", locality.Want{Jobs: 1})
		if err != nil {
			return err
		}
		for _, f := range grant.Fetch {
			fmt.Println("fetch", f.Name)
		}
		for _, j := range grant.Jobs {
			fmt.Println("run", j.Job)
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// fetch a.dat
	// run 0
}
