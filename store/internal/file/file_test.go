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

// A file is not ours whatever its name is; only a lock that is not had in time is one.
func TestOpenErrorIsNotInTheName(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "timeout.db")
	if err := openError(path, fmt.Errorf("open %s: %w", path, bbolterrors.ErrInvalid)); errors.Is(err, ErrLocked) || !errors.Is(err, ErrNotOurs) {
		t.Error(err)
	}
	if err := openError(path, errors.New("madvise: cannot allocate memory")); errors.Is(err, ErrLocked) || errors.Is(err, ErrNotOurs) { // bbolt's words for an errno
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
