package store

import (
	"errors"
	"path/filepath"
	"sync"
	"testing"
)

// TestNested: a transaction inside another one of the same goroutine is refused at once,
// unless both only read and share the file. Others take their turn meanwhile.
func TestNested(t *testing.T) {
	t.Parallel()
	nothing := func(*Tx) error { return nil }
	update := func(db *DB, fn func(*Tx) error) error { return db.Update(fn) }
	type begin func(*DB, func(*Tx) error) error
	for _, private := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "n.db")
		if err := Create(path, nil, nil); err != nil {
			t.Fatal(err)
		}
		db, err := Open(path, &Options{Private: private})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name         string
			outer, inner begin
			fine         bool
		}{
			{"Update in Update", update, update, false},
			{"Update in View", (*DB).View, update, false},
			{"View in Update", update, (*DB).View, false},
			{"DryRun in Update", update, (*DB).DryRun, false},
			{"View in View", (*DB).View, (*DB).View, !private},
		} {
			err := c.outer(db, func(*Tx) error { return c.inner(db, nothing) })
			if c.fine && err != nil || !c.fine && !errors.Is(err, ErrNested) {
				t.Errorf("%s, private %v: %v", c.name, private, err)
			}
			if err := c.inner(db, nothing); err != nil {
				t.Errorf("%s, private %v: afterwards %v", c.name, private, err)
			}
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
}
