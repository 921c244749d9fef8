package engine

import (
	"sync"
	"testing"
	"time"
)

// TestGoroutines shares one handle, and one file, among goroutines.
func TestGoroutines(t *testing.T) {
	for _, beside := range []bool{false, true} {
		db, _ := newDB(t)
		if beside {
			opt := db.opt
			opt.Beside = true
			var err error
			if db, err = Open(db.Path(), &opt); err != nil {
				t.Fatal(err)
			}
		}
		const workers, each = 8, 6
		addNodes(t, db, "n", workers*each, 1)
		var all sync.WaitGroup
		for range workers {
			all.Go(func() {
				for range each {
					if _, _, err := place(db, "1:ncpus=1", time.Hour); err != nil {
						t.Error(err)
					}
					if err := db.View(func(tx *Tx) error { _, err := tx.k.Index(); return err }); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		busy := 0
		err := db.View(func(tx *Tx) error {
			return tx.Jobs().Each(func(j *Job) error { busy += len(j.NodeNumbers()); return nil }, JobRunning)
		})
		if err != nil || busy != workers*each {
			t.Errorf("beside readers %v: %d nodes taken, %v", beside, busy, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		if db, err = Open(db.Path(), &Options{Now: db.opt.Now}); err != nil {
			t.Fatal(err)
		}
		if list := findings(t, db); len(list) > 0 {
			t.Error(list)
		}
	}
}
