package file

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/placectl/placectl/internal/row"
	"go.etcd.io/bbolt"
)

// A panic counts as damage if it comes from bbolt, whatever its text; one of ours continues,
// with its value and stack.
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
		own:                  blame,
		"index out of range": func() { _ = list[len(what0)] },
		"nil pointer":        func() { _ = (*fault)(nil).what },
	} {
		func() {
			defer func() {
				p := recover()
				if stack := string(debug.Stack()); !strings.Contains(fmt.Sprint(p), what) ||
					what == own && (p != any(own) || !strings.Contains(stack, "file.blame(")) {
					t.Errorf("%s: %T %v\n%s", what, p, p, stack)
				}
			}()
			err := f.View(func(*Recorder) error { fn(); return nil })
			t.Errorf("%s: the panic is gone: %v", what, err)
		}()
	}
}

// TestMappedAfterPanic: a function that panics or ends its goroutine leaves the file neither locked nor mapped.
func TestMappedAfterPanic(t *testing.T) {
	t.Parallel()
	f := newFile(t)
	for _, leave := range []func(){func() { panic("no") }, runtime.Goexit} {
		keep := func(*Recorder) (bool, error) { leave(); return true, nil }
		for _, run := range []func() error{
			func() error { return f.View(func(*Recorder) error { leave(); return nil }) },
			func() error { return f.Update(keep) },
			func() error { return f.UpdateBeside(keep) },
		} {
			over := make(chan any)
			go func() {
				defer func() { over <- recover() }()
				t.Errorf("it returned: %v", run())
			}()
			<-over
			if err := errors.Join(look(f), change(f)); err != nil {
				t.Error(err)
			}
		}
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	maps, _ := os.ReadFile("/proc/self/maps")
	if n := strings.Count(string(maps), f.Path()+"\n"); n > 0 {
		t.Errorf("%d mappings are left", n)
	}
}

// own is the value of a panic of ours.
const own = "page 3: not damage"

func blame() { panic(own) }

var what0 = "longer than the list"
