package store_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store"
)

// newCluster returns a database of four nodes with 8 cpus and 64 GB each. Its clock stands at
// nine o'clock on a Monday.
func newCluster() (db *store.DB, remove func()) {
	dir, err := os.MkdirTemp("", "placectl-")
	if err != nil {
		log.Fatal(err)
	}
	monday := time.Date(2026, time.January, 5, 9, 0, 0, 0, time.UTC)
	opt := &store.Options{Now: func() time.Time { return monday }, Simulation: true}
	path := filepath.Join(dir, "cluster.db")
	if err := store.Create(path, opt, putNodes); err != nil {
		log.Fatal(err)
	}
	if db, err = store.Open(path, opt); err != nil {
		log.Fatal(err)
	}
	return db, func() { db.Close(); os.RemoveAll(dir) }
}

func putNodes(tx *store.Tx) error {
	defs, err := tx.Resources()
	if err != nil {
		return err
	}
	for _, name := range []string{"n1", "n2", "n3", "n4"} {
		node := &index.Node{Name: name}
		if err := errors.Join(node.SetAmount(defs, "ncpus", "8"), node.SetAmount(defs, "mem", "64gb")); err != nil {
			return err
		}
		if _, err := tx.PutNode(node); err != nil {
			return err
		}
	}
	return nil
}

// A database is a file. Create makes it, and Open gives a handle on it. Goroutines share the handle,
// and other processes open the same file.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "placectl-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "cluster.db")

	err = store.Create(path, nil, func(tx *store.Tx) error {
		defs, err := tx.Resources()
		if err != nil {
			return err
		}
		node := &index.Node{Name: "n1"}
		if err := node.SetAmount(defs, "ncpus", "8"); err != nil {
			return err
		}
		_, err = tx.PutNode(node)
		return err
	})
	if err != nil && !errors.Is(err, store.ErrExists) {
		log.Fatal(err)
	}
	db, err := store.Open(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	err = db.View(func(tx *store.Tx) error {
		node, err := tx.Node("n1")
		fmt.Println(node.Name, "is", node.State)
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// n1 is up
}

// Place chooses nodes at once. A request that does not fit now is refused, and the refusal says
// when it would fit.
func ExampleDB_Update() {
	db, remove := newCluster() // n1 to n4, of 8 cpus each
	defer remove()
	request := placer.Request{Select: "3:ncpus=8", Walltime: time.Hour}
	for range 2 {
		var job *store.Job
		err := db.Update(func(tx *store.Tx) (err error) {
			job, err = tx.Place(request)
			return err
		})
		var refusal *placer.Refusal
		switch {
		case errors.As(err, &refusal):
			fmt.Println(refusal)
			if start, ok := refusal.Earliest(); ok {
				fmt.Println("earliest start:", time.Unix(start, 0).UTC().Format(time.TimeOnly))
			}
		case err != nil:
			log.Fatal(err)
		default:
			fmt.Println("job", job.ID, "is", job.State, "on", job.Nodes)
		}
	}
	// Output:
	// job 1 is running on [n1 n2 n3]
	// cannot run now: chunk 1 (3:ncpus=8): room for 1 of 3
	// earliest start: 10:00:00
}

// What is submitted waits in the queue. A cycle starts the jobs that fit, and plans the first one
// that does not. Others go around it.
func ExampleTx_Submit() {
	db, remove := newCluster() // n1 to n4, of 8 cpus each
	defer remove()
	var report *store.CycleReport
	err := db.Update(func(tx *store.Tx) (err error) {
		for _, s := range []string{"4:ncpus=6", "1:ncpus=4", "2:ncpus=2"} {
			_, err := tx.Submit(store.Submission{Request: placer.Request{Select: s, Walltime: time.Hour}})
			if err != nil {
				return err
			}
		}
		report, err = tx.Cycle(context.Background(), store.CycleOptions{})
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, job := range report.Started {
		fmt.Println("job", job.ID, "starts on", job.Nodes)
	}
	for _, job := range report.Planned {
		fmt.Println("job", job.ID, "is planned for", job.Start.UTC().Format(time.TimeOnly), "on", job.Nodes)
	}
	// Output:
	// job 1 starts on [n1 n2 n3 n4]
	// job 3 starts on [n1 n2]
	// job 2 is planned for 10:00:00 on [n1]
}

// When returns possible starts of a request, and keeps nothing for it.
func ExampleTx_When() {
	db, remove := newCluster() // n1 to n4, of 8 cpus each
	defer remove()
	err := db.Update(func(tx *store.Tx) error {
		for _, hours := range []time.Duration{2, 5} {
			_, err := tx.Place(placer.Request{Select: "2:ncpus=8", Walltime: hours * time.Hour})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	err = db.View(func(tx *store.Tx) error {
		for _, wish := range []string{"2:ncpus=8", "3:ncpus=8"} {
			openings, err := tx.When(placer.Request{Select: wish, Walltime: time.Hour}, tx.Now(), 1)
			if err != nil {
				return err
			}
			fmt.Println(wish, "in", openings[0].Start.Sub(tx.Now()), "on", openings[0].Nodes)
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// 2:ncpus=8 in 2h0m0s on [n1 n2]
	// 3:ncpus=8 in 5h0m0s on [n1 n2 n3]
}

// Everything is a table. AT reads one at another instant, even a future one.
func ExampleDB_Query() {
	db, remove := newCluster() // n1 to n4, of 8 cpus each
	defer remove()
	err := db.Update(func(tx *store.Tx) error {
		_, err := tx.Place(placer.Request{Name: "sort", Select: "2:ncpus=8", Walltime: 90 * time.Minute})
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	rows, err := db.Query(context.Background(), "SELECT name, start, walltime FROM jobs WHERE ncpus >= ?", 8)
	if err != nil {
		log.Fatal(err)
	}
	for rows.Next() {
		var name string
		var start time.Time
		var walltime time.Duration
		if err := rows.Scan(&name, &start, &walltime); err != nil {
			log.Fatal(err)
		}
		fmt.Println(name, "since", start.UTC().Format(time.TimeOnly), "for", walltime)
	}
	if err := rows.Err(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// sort since 09:00:00 for 1h30m0s
}

// All iterates over rows of any columns.
func ExampleRows_All() {
	db, remove := newCluster() // n1 to n4, of 8 cpus each
	defer remove()
	err := db.Update(func(tx *store.Tx) error {
		_, err := tx.Place(placer.Request{Select: "3:ncpus=8", Walltime: time.Hour})
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, at := range []string{"now", "now+2h"} {
		rows, err := db.Query(context.Background(),
			"SELECT state, count(*) FROM nodes AT '"+at+"' GROUP BY state ORDER BY state")
		if err != nil {
			log.Fatal(err)
		}
		for row, err := range rows.All() {
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(at, row[0], row[1])
		}
	}
	// Output:
	// now busy 3
	// now free 1
	// now+2h free 4
}

// Many goroutines ask at once, as in a server: they share commits, and each succeeds or fails alone.
func ExampleDB_Batch() {
	db, remove := newCluster() // n1 to n4, of 8 cpus each
	defer remove()
	var placed, full atomic.Int32
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() {
			err := db.Batch(func(tx *store.Tx) error {
				_, err := tx.Place(placer.Request{Select: "1:ncpus=1", Walltime: time.Hour})
				return err
			})
			switch {
			case err == nil:
				placed.Add(1)
			case errors.Is(err, placer.ErrNotNow):
				full.Add(1)
			default:
				log.Print(err)
			}
		})
	}
	all.Wait()
	fmt.Println(placed.Load(), "placed,", full.Load(), "refused")
	// Output: 32 placed, 8 refused
}

// A change that is bound to a key happens once. After a crash, or an ErrUnknown, repeat it with the
// same key: the answer is that of the first time.
func ExampleDB_UpdateOnce() {
	db, remove := newCluster()
	defer remove()
	submit := func(build string) (id string, repeated bool) {
		request := store.Submission{Request: placer.Request{Name: build, Walltime: time.Hour}}
		once := &store.Once{Key: "build-" + build, Request: fmt.Append(nil, request.Name)}
		err := db.UpdateOnce(once, func(tx *store.Tx) error {
			made, err := tx.Submit(request)
			if err == nil {
				once.Answer = fmt.Append(nil, made.First)
			}
			return err
		})
		if err != nil {
			log.Fatal(err)
		}
		return string(once.Answer), once.Repeated
	}
	fmt.Println(submit("r17"))
	fmt.Println(submit("r17"))
	fmt.Println(submit("r18"))
	// Output:
	// 1 false
	// 1 true
	// 2 false
}

// A reservation keeps nodes for those on its access list. Other jobs go around it.
func ExampleTx_Reserve() {
	db, remove := newCluster() // n1 to n4, of 8 cpus each
	defer remove()
	access, err := placer.ParseAccess("group=course")
	if err != nil {
		log.Fatal(err)
	}
	err = db.Update(func(tx *store.Tx) error {
		ten := tx.Now().Add(time.Hour)
		_, err := tx.Reserve(store.ReserveSpec{Name: "course", Nodes: "n[1-3]", Access: access,
			Start: ten, End: ten.Add(2 * time.Hour)})
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	err = db.View(func(tx *store.Tx) error {
		for _, group := range []string{"physics", "course"} {
			request := placer.Request{Select: "2:ncpus=8", Walltime: 2 * time.Hour, Group: group}
			openings, err := tx.When(request, tx.Now().Add(time.Hour), 1)
			if err != nil {
				return err
			}
			fmt.Println(group, "at", openings[0].Start.UTC().Format(time.TimeOnly), "on", openings[0].Nodes)
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// physics at 12:00:00 on [n1 n2]
	// course at 10:00:00 on [n1 n2]
}

// Check reads the whole file, and reports each finding. Without any, all is well.
func ExampleDB_Check() {
	db, remove := newCluster()
	defer remove()
	findings := 0
	err := db.Check(func(finding string) {
		findings++
		fmt.Println(finding)
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(findings, "findings")
	// Output:
	// 0 findings
}
