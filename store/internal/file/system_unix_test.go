//go:build unix

package file

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestForking: a lock is free once it is released, even if a child that is being forked has its file open.
func TestForking(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := acquire(path, writing, 0)
	if err != nil {
		t.Fatal(err)
	}
	child, err := syscall.Dup(int(l.f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(child)
	if err := l.release(); err != nil {
		t.Fatal(err)
	}
	if l, err = acquire(path, writing, 0); err != nil {
		t.Fatal(err)
	}
	l.release()
}
