package engine

import (
	"errors"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
)

// TestBeside: with Options.Beside, readers continue while a writer computes, and see nothing
// of its change until it commits. Without it they wait. A dry run blocks no one.
func TestBeside(t *testing.T) {
	t.Parallel()
	plain, _ := newDB(t)
	handle := func(beside bool, timeout time.Duration) *DB {
		opt := plain.opt
		opt.Beside, opt.LockTimeout = beside, timeout
		db, err := Open(plain.file.Path(), &opt)
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	reader := handle(false, 300*time.Millisecond)
	sees := func(want bool) error {
		return reader.View(func(tx *Tx) error {
			_, err := tx.Nodes().Get("n1")
			if got := err == nil; got != want {
				t.Errorf("the node is there: %v, want %v", got, want)
			}
			return nil
		})
	}
	add := func(tx *Tx) error {
		_, err := tx.Nodes().Put(&index.Node{Name: "n1"})
		return errors.Join(err, sees(false))
	}
	if err := handle(true, time.Minute).DryRun(add); err != nil {
		t.Error(err)
	}
	if err := handle(false, time.Minute).Update(add); !errors.Is(err, ErrLocked) {
		t.Errorf("with the file to himself: %v", err)
	}
	if err := handle(true, time.Minute).Update(add); err != nil {
		t.Error(err)
	}
	if err := sees(true); err != nil {
		t.Error(err)
	}
	if err := plain.Check(func(finding string) { t.Error(finding) }); err != nil {
		t.Error(err)
	}
}
