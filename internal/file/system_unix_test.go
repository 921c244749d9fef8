//go:build unix

package file

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/bbolt"
	"golang.org/x/sys/unix"
)

// TestForking: a lock is free once it is released, even if a child that is being forked has its file open.
func TestForking(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := acquire(context.Background(), path, writing, 0)
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
	if l, err = acquire(context.Background(), path, writing, 0); err != nil {
		t.Fatal(err)
	}
	l.release()
}

// TestForkedReader: a reader releases its locks also while another process has its file open.
func TestForkedReader(t *testing.T) {
	t.Parallel()
	f := newFile(t)
	copied := -1
	err := f.View(func(*Recorder) error {
		files, _ := filepath.Glob("/proc/self/fd/*")
		for _, name := range files {
			if to, _ := os.Readlink(name); to == f.Path() {
				fd, err := strconv.Atoi(filepath.Base(name))
				if err != nil {
					return err
				}
				copied, err = unix.Dup(fd)
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if copied < 0 {
		t.Skip("/proc does not show the files that are open")
	}
	defer unix.Close(copied)
	b, err := bbolt.Open(f.Path(), 0o600, &bbolt.Options{Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	b.Close()
}
