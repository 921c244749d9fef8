package storetest_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store"
	"github.com/placectl/placectl/store/storetest"
)

// A test gets a database of its own, and moves its clock instead of waiting.
func Example() {
	t := beginTest() // the parameter of a test, a *testing.T
	defer t.end()
	db, clock := storetest.New(t, func(tx *store.Tx) error {
		defs, err := tx.Resources()
		if err != nil {
			return err
		}
		node := &index.Node{Name: "n1"}
		if err := node.SetAmount(defs, "ncpus", "8"); err != nil {
			return err
		}
		_, err = tx.PutNode(node)
		if err != nil {
			return err
		}
		return tx.Set(store.Setting{Name: "overdue", Value: "finish"})
	})
	err := db.Update(func(tx *store.Tx) error {
		_, err := tx.Place(placer.Request{Select: "1:ncpus=8", Walltime: time.Hour})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	clock.Advance(time.Hour)
	var report *store.CycleReport
	err = db.Update(func(tx *store.Tx) (err error) {
		report, err = tx.Cycle(context.Background(), store.CycleOptions{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, job := range report.Finished {
		fmt.Println("job", job.ID, "has ended at", job.End.UTC().Format(time.TimeOnly))
	}
	// Output:
	// job 1 has ended at 10:00:00
}

// exampleT is as much of a test as an example has.
type exampleT struct {
	testing.TB
	dir   string
	after []func()
}

func beginTest() *exampleT {
	dir, err := os.MkdirTemp("", "placectl-")
	if err != nil {
		log.Fatal(err)
	}
	return &exampleT{dir: dir}
}

func (t *exampleT) Helper()           {}
func (t *exampleT) TempDir() string   { return t.dir }
func (t *exampleT) Cleanup(fn func()) { t.after = append(t.after, fn) }
func (t *exampleT) Fatal(args ...any) { log.Fatal(args...) }

func (t *exampleT) end() {
	for _, fn := range t.after {
		fn()
	}
	os.RemoveAll(t.dir)
}
