// Package file keeps a database file: its locks, what is looked at before it is opened,
// its format, and its rows. It is the only one that knows bbolt.
//
// A File is opened for each transaction, under a lock of our own, or stays open where it
// is private. A transaction is handed a Recorder, through which all rows are read and
// all that writes goes: what a commit changed is a ChangeSet, table by table. A reader
// may see the file through a ChangeSet of its own.
//
// The package knows tables and keys, and not what rows mean: those are payloads here,
// see package row.
package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"
	"golang.org/x/sys/unix"
)

// Options are how a file is opened.
type Options struct {
	LockTimeout time.Duration // how long a transaction waits for the file
	Private     bool          // it stays open and locked from the first transaction to Close
	Warn        func(string)  // is told what does not stop work; nil: nobody is
}

// File is a handle on a database file. Its methods may be called from several
// goroutines.
type File struct {
	// Committed is told what each commit changed, before the next; nil for nobody.
	Committed func(*ChangeSet)

	path string
	opt  Options

	mu       sync.Mutex // one transaction at a time through a private handle
	bolt     *bbolt.DB  // private handles only
	lock     *fileLock  // private handles only
	poisoned atomic.Pointer[error]
	warned   sync.Once
}

// openTimeout bounds bbolt's own lock, which is free unless another program
// than placectl has the file.
const openTimeout = 2 * time.Second

// Open makes a handle on an existing file and checks that it is a database.
func Open(path string, opt Options) (*File, error) {
	f := &File{path: path, opt: opt}
	warning, err := preflight(path)
	if err != nil {
		return nil, err
	}
	f.warn(warning)
	return f, nil
}

// Create makes a new, empty database and lets fill work on it: beside the name, synced,
// then renamed, so that a file of that name is whole or not there. It fails with
// ErrExists when there is one, and never replaces it.
func Create(path string, fill func(path string) error) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s: %w", path, ErrExists)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".new-*")
	if err != nil {
		return notMade(path, err)
	}
	defer os.Remove(tmp.Name())
	defer os.Remove(lockPath(tmp.Name()))
	tmp.Close()
	if err := layOut(tmp.Name()); err != nil {
		return err
	}
	if err := fill(tmp.Name()); err != nil {
		return err
	}
	err = unix.Renameat2(unix.AT_FDCWD, tmp.Name(), unix.AT_FDCWD, path, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		err = os.Link(tmp.Name(), path) // the file system cannot do the former
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s: %w", path, ErrExists)
	case err != nil:
		return err
	}
	return syncDir(filepath.Dir(path))
}

// notMade says of a file, and not of the one that was to become it, that its
// folder does not take it.
func notMade(path string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("%s cannot be made in folder %s: %w", path, filepath.Dir(path), err)
}

// layOut makes the tables of an empty file.
func layOut(path string) error {
	b, err := bbolt.Open(path, 0o600, boltOptions(false))
	if err != nil {
		return err
	}
	return errors.Join(b.Update(createTables), b.Close())
}

func boltOptions(readOnly bool) *bbolt.Options {
	return &bbolt.Options{Timeout: openTimeout, ReadOnly: readOnly, NoStatistics: true}
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func (f *File) warn(text string) {
	if text != "" && f.opt.Warn != nil {
		f.opt.Warn(text)
	}
}

// Path is the file's name as given.
func (f *File) Path() string { return f.path }

// View runs fn on a snapshot of the file.
func (f *File) View(fn func(*Recorder) error) error {
	return f.run(false, func(b *bbolt.DB) error {
		return b.View(func(tx *bbolt.Tx) error {
			r, err := f.begin(tx)
			if err != nil {
				return err
			}
			return fn(r)
		})
	})
}

// Update runs fn and commits what it changed, all or nothing, if it says to keep it. It
// returns nil once the change is durable. ErrUnknown means that the commit failed on its
// way to disk: the change may or may not be there, and the handle is of no further use.
func (f *File) Update(fn func(*Recorder) (keep bool, err error)) error {
	if poison := f.poisoned.Load(); poison != nil {
		return *poison
	}
	return f.run(true, func(b *bbolt.DB) error {
		tx, err := b.Begin(true)
		if err != nil {
			return err
		}
		defer tx.Rollback() //nolint:errcheck // after a commit it only says so
		r, err := f.begin(tx)
		if err != nil {
			return err
		}
		if keep, err := fn(r); err != nil || !keep {
			return err
		}
		return f.commit(r)
	})
}

// commit makes a transaction durable. A full disk is found while the file grows
// or data pages are written, before the meta page makes them count: that is a
// clean failure. After any other nobody knows.
func (f *File) commit(r *Recorder) error {
	if err := r.writeSums(); err != nil {
		return err
	}
	err := r.bolt.Commit()
	switch {
	case err == nil:
		if f.Committed != nil {
			f.Committed(r.changes)
		}
		return nil
	case beforeMeta(err):
		return fmt.Errorf("nothing was changed: %w", err)
	}
	err = fmt.Errorf("%w: the commit failed: %v; look whether it was done before it is tried again", ErrUnknown, err)
	f.poisoned.Store(&err)
	return err
}

// beforeMeta recognises failures of a commit before its meta page is written.
// bbolt loses the cause of one that happens while the file grows.
func beforeMeta(err error) bool {
	for _, cause := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		if errors.Is(err, cause) {
			return true
		}
	}
	return strings.HasPrefix(err.Error(), "file resize error") || strings.HasPrefix(err.Error(), "mmap allocate error")
}

// run opens and locks the file around fn, or uses the private handle.
func (f *File) run(write bool, fn func(*bbolt.DB) error) error {
	if f.opt.Private {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.bolt == nil {
			var err error
			if f.bolt, f.lock, err = f.open(true); err != nil {
				return err
			}
		}
		return guard(func() error { return fn(f.bolt) })
	}
	b, lock, err := f.open(write)
	if err != nil {
		return err
	}
	defer lock.release()
	err = guard(func() error { return fn(b) })
	var damage *fault
	if errors.As(err, &damage) {
		return err // closing could wait for what the fault left locked
	}
	return errors.Join(err, b.Close())
}

// open takes the lock and opens the file.
func (f *File) open(write bool) (b *bbolt.DB, lock *fileLock, err error) {
	f.warned.Do(func() {
		if fsName := networkFileSystem(f.path); fsName != "" {
			f.warn(fmt.Sprintf("%s is on %s: file locks may not exclude other machines there", f.path, fsName))
		}
	})
	if lock, err = acquire(f.path, write, f.opt.LockTimeout); err != nil {
		return nil, nil, err
	}
	err = guard(func() error {
		if _, err := preflight(f.path); err != nil {
			return err
		}
		b, err = bbolt.Open(f.path, 0o600, boltOptions(!write))
		return openError(f.path, err)
	})
	if err != nil {
		lock.release()
		return nil, nil, err
	}
	return b, lock, nil
}

func openError(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, bbolterrors.ErrTimeout):
		return fmt.Errorf("%w by a program that is not placectl", ErrLocked)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return err
	}
	return fmt.Errorf("%w: %s: %v", ErrNotOurs, path, err)
}

// Close gives a private handle's file back.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.bolt == nil {
		return nil
	}
	err := f.bolt.Close()
	f.lock.release()
	f.bolt, f.lock = nil, nil
	return err
}
