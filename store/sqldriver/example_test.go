package sqldriver_test

import (
	"database/sql"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store"
	_ "github.com/placectl/placectl/store/sqldriver"
)

// newHistory returns the path of a database in which a job has been submitted.
func newHistory() (path string, remove func()) {
	dir, err := os.MkdirTemp("", "placectl-")
	if err != nil {
		log.Fatal(err)
	}
	path = filepath.Join(dir, "cluster.db")
	monday := time.Date(2026, time.January, 5, 9, 0, 0, 0, time.UTC)
	opt := &store.Options{Now: func() time.Time { return monday }, Simulation: true}
	err = store.Create(path, opt, func(tx *store.Tx) error {
		_, err := tx.Submit(store.Submission{Request: placer.Request{Name: "sort", User: "ann",
			Walltime: 90 * time.Minute}})
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	return path, func() { os.RemoveAll(dir) }
}

// sql.Open reads a database through database/sql. Instants are scanned into times. Durations are seconds.
func Example() {
	path, remove := newHistory() // ann has submitted a job
	defer remove()
	db, err := sql.Open("placectl", path)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	var name string
	var submit time.Time
	var start sql.NullTime
	var walltime int64
	err = db.QueryRow("SELECT name, submit, start, walltime FROM jobs WHERE user = ?", "ann").
		Scan(&name, &submit, &start, &walltime)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(name, "was submitted at", submit.UTC().Format(time.DateTime)+", and may run",
		time.Duration(walltime)*time.Second)
	fmt.Println("it has started:", start.Valid)
	// Output:
	// sort was submitted at 2026-01-05 09:00:00, and may run 1h30m0s
	// it has started: false
}
