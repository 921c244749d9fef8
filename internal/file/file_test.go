package file

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"
)

// Which error opening a file gives does not depend on its name: a file that is not a database
// is not ours, and only a lock that is not available in time is a lock error.
func TestOpenErrorIsNotInTheName(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "timeout.db")
	if err := openError(path, fmt.Errorf("open %s: %w", path, bbolterrors.ErrInvalid)); errors.Is(err, ErrLocked) ||
		!errors.Is(err, ErrNotOurs) {
		t.Error(err)
	}
	// bbolt's words for an errno
	if err := openError(path, errors.New("madvise: cannot allocate memory")); errors.Is(err, ErrLocked) ||
		errors.Is(err, ErrNotOurs) {
		t.Error(err)
	}
	f := newFile(t)
	b, err := bbolt.Open(f.Path(), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	_, err = bbolt.Open(f.Path(), 0o600, &bbolt.Options{Timeout: time.Millisecond})
	if err := openError(f.Path(), err); !errors.Is(err, ErrLocked) {
		t.Error(err)
	}
}

// TestSlowToDie: a killed process may close the lock file first, and the database some seconds later.
func TestSlowToDie(t *testing.T) {
	t.Parallel()
	f := newFile(t)
	b, err := bbolt.Open(f.Path(), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(3*time.Second, func() { b.Close() })
	if err := f.Update(func(*Recorder) (bool, error) { return false, nil }); err != nil {
		t.Error(err)
	}
}
