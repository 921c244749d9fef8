package file

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/placectl/placectl/internal/row"
)

// told is a system that notes the calls, and makes some of them fail.
type told struct {
	mu    sync.Mutex
	asked []string // kind and file
	fail  func(Operation) error
}

func (s *told) Do(op Operation, fn func() error) error {
	s.mu.Lock()
	s.asked = append(s.asked, op.Kind+" "+op.Path[strings.LastIndexByte(op.Path, '.')+1:])
	s.mu.Unlock()
	if s.fail != nil {
		if err := s.fail(op); err != nil {
			return err
		}
	}
	return fn()
}

// listen replaces the real system. The test must not be parallel.
func listen(t *testing.T, fail func(Operation) error) *told {
	s := &told{fail: fail}
	calls = s
	t.Cleanup(func() { calls = direct{} })
	return s
}

func look(f *File) error { return f.View(func(*Recorder) error { return nil }) }

func change(f *File) error {
	return f.Update(func(r *Recorder) (bool, error) { return true, r.Put(row.Jobs, []byte("k"), []byte("v")) })
}

func TestMark(t *testing.T) {
	f := newFile(t)
	if err := errors.Join(look(f), change(f)); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(lockPath(f.Path()))
	if err != nil || len(content) != markLine+signLength || !strings.HasPrefix(string(content), string(unmarked)) {
		t.Fatalf("%q %v", content, err)
	}
	mends := func(write bool) bool {
		s := listen(t, nil)
		var err error
		if write {
			err = change(f)
		} else {
			err = look(f)
		}
		if err != nil {
			t.Fatal(err)
		}
		return slices.Contains(s.asked, "sync db")
	}
	if mends(false) || mends(true) {
		t.Error("a file that is as it should be was mended")
	}
	for what, spoil := range map[string]func() error{
		"marked": func() error {
			l := &fileLock{path: lockPath(f.Path())}
			return errors.Join(l.open(os.O_RDWR), l.mark(7))
		},
		"without a lock": func() error { return os.Remove(lockPath(f.Path())) },
		"an older lock": func() error {
			return os.WriteFile(lockPath(f.Path()), []byte("1234 placectl place\n"), 0o600)
		},
		"an empty lock":   func() error { return os.WriteFile(lockPath(f.Path()), nil, 0o600) },
		"a cut off clean": func() error { return os.WriteFile(lockPath(f.Path()), unmarked[:20], 0o600) },
	} {
		for _, write := range []bool{false, true} {
			if err := spoil(); err != nil {
				t.Fatal(err)
			}
			if !mends(write) {
				t.Errorf("%s, write %v: not mended", what, write)
			}
			if mends(false) {
				t.Errorf("%s, write %v: mended twice", what, write)
			}
		}
	}
}

// A file that cannot be mended is neither read nor written, and is mended as soon as possible.
func TestMendFails(t *testing.T) {
	f := newFile(t)
	for _, kind := range []string{"read", "write", "sync"} {
		for _, do := range []func(*File) error{look, change} {
			if err := os.Remove(lockPath(f.Path())); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			listen(t, func(op Operation) error {
				if op.Kind == kind && strings.HasSuffix(op.Path, ".db") {
					return syscall.EIO
				}
				return nil
			})
			if err := do(f); !errors.Is(err, syscall.EIO) || errors.Is(err, ErrNotOurs) ||
				errors.Is(err, row.ErrDamaged) || errors.Is(err, ErrUnknown) {
				t.Errorf("%s fails: %v", kind, err)
			}
			s := listen(t, nil)
			if err := do(f); err != nil || !slices.Contains(s.asked, "sync db") {
				t.Errorf("after %s: %v %v", kind, err, s.asked)
			}
		}
	}
}

// A reader that may not write the lock file shares it for reading, and does not ignore a mark.
// One that finds none, and may not make one, reads without it.
func TestMarkForReaders(t *testing.T) {
	f := newFile(t)
	if err := change(f); err != nil {
		t.Fatal(err)
	}
	may := func(opens int) error { // the first few attempts to open the lock file are refused
		listen(t, func(op Operation) error {
			if op.Kind == "open" && strings.HasSuffix(op.Path, ".lock") {
				if opens--; opens >= 0 {
					return fmt.Errorf("open: %w", os.ErrPermission)
				}
			}
			return nil
		})
		return look(f)
	}
	if err := may(1); err != nil {
		t.Error(err)
	}
	if err := may(2); !errors.Is(err, os.ErrPermission) {
		t.Errorf("it is unknown whether the file is marked: %v", err)
	}
	if err := os.WriteFile(lockPath(f.Path()), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := may(1); !errors.Is(err, os.ErrPermission) || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("went past a mark: %v", err)
	}
	if err := os.Remove(lockPath(f.Path())); err != nil {
		t.Fatal(err)
	}
	calls = refusing{}
	if err := look(f); err != nil {
		t.Errorf("without a lock file: %v", err)
	}
	if err := change(f); !errors.Is(err, os.ErrPermission) {
		t.Errorf("wrote without a lock file: %v", err)
	}
}

// refusing is a system that makes no lock file.
type refusing struct{}

func (refusing) Do(op Operation, fn func() error) error {
	err := fn()
	if op.Kind == "open" && strings.HasSuffix(op.Path, ".lock") && err == nil {
		os.Remove(op.Path)
		return fmt.Errorf("open: %w", os.ErrPermission)
	}
	return err
}
