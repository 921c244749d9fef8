package engine

import (
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// TestNested: a transaction inside another one of the same handle fails when its time is over, unless the outer
// one only reads: that lets a writer in after a while. The next one works. Those of several goroutines take turns.
func TestNested(t *testing.T) {
	t.Parallel()
	nothing := func(*Tx) error { return nil }
	update := func(db *DB, fn func(*Tx) error) error { return db.Update(fn) }
	type begin func(*DB, func(*Tx) error) error
	const patience = time.Second // a child of another test holds our files open until it executes its program
	path := filepath.Join(t.TempDir(), "n.db")
	if err := Create(path, nil, nil); err != nil {
		t.Fatal(err)
	}
	db, err := Open(path, &Options{LockTimeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name         string
		outer, inner begin
		fine         bool
	}{
		{"Update in Update", update, update, false},
		{"Update in View", (*DB).View, update, true},
		{"View in Update", update, (*DB).View, false},
		{"DryRun in Update", update, (*DB).DryRun, false},
		{"View in View", (*DB).View, (*DB).View, true},
	} {
		err := c.outer(db, func(*Tx) error { return c.inner(db, nothing) })
		if c.fine && err != nil || !c.fine && !(errors.Is(err, ErrNested) && errors.Is(err, ErrLocked)) {
			t.Errorf("%s: %v", c.name, err)
		}
		if err := c.inner(db, nothing); err != nil {
			t.Errorf("%s: afterwards %v", c.name, err)
		}
	}
	other, err := Open(path, &Options{LockTimeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(*Tx) error { return other.Update(nothing) })
	if !errors.Is(err, ErrLocked) || errors.Is(err, ErrNested) {
		t.Errorf("a transaction of another handle: %v", err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := db.Update(nothing); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
