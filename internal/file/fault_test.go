package file

import (
	"errors"
	"strings"
	"testing"

	"github.com/placectl/placectl/internal/row"
	"go.etcd.io/bbolt"
)

// A panic counts as damage if it comes from bbolt, whatever its text; one of ours continues,
// with its stack.
func TestGuard(t *testing.T) {
	t.Parallel()
	f := newFile(t)
	err := f.run(writing, func(o *opened) error {
		return Guard(func() error {
			return o.bolt.View(func(tx *bbolt.Tx) error { return tx.Commit() }) // it asserts that this is not done
		})
	})
	if !errors.Is(err, row.ErrDamaged) {
		t.Errorf("%v", err)
	}
	var list []int
	for what, fn := range map[string]func(){
		"page 3: not damage": func() { panic("page 3: not damage") },
		"index out of range": func() { _ = list[len(what0)] },
		"nil pointer":        func() { _ = (*fault)(nil).what },
	} {
		func() {
			defer func() {
				p, ok := recover().(*Panic)
				if !ok || !strings.Contains(p.Error(), what) || !strings.Contains(string(p.Stack()), "TestGuard") {
					t.Errorf("%s: %v", what, p)
				}
			}()
			err := f.View(func(*Recorder) error { fn(); return nil })
			t.Errorf("%s: the panic is gone: %v", what, err)
		}()
	}
}

var what0 = "longer than the list"
