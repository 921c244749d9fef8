package store

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

// Options are how a database is opened. The zero value works.
type Options struct {
	// LockTimeout is how long View and Update wait for the file; 30 s when 0.
	LockTimeout time.Duration
	// Now is the clock; time.Now when nil.
	Now func() time.Time
	// Private keeps the file open and locked from the first transaction to
	// Close: fastest, for a process that has the database to itself.
	Private bool
	// Warn is told, once, what does not stop work: that the newest transaction
	// may be missing, or that the file lies on a file system whose locks may not
	// exclude other machines. Nil: nobody is.
	Warn func(string)
	// Local is the policy local: it puts candidates for a request in the order in
	// which they are to be taken, by name; those it leaves out come last, as
	// declared. It is called within a transaction and must not begin another. Nil:
	// nodes are taken as declared, unless the request has a Ranking.
	Local func([]Candidate) []string
}

// DB is a handle on a database file. Its methods may be called from several
// goroutines.
type DB struct {
	path string
	opt  Options

	mu       sync.Mutex // one transaction at a time through a private handle
	bolt     *bbolt.DB  // private handles only
	lock     *fileLock  // private handles only
	poisoned atomic.Pointer[error]
	warned   sync.Once

	committed func(*changeSet) // is told what each commit changed, before the next; nil for nobody
}

// openTimeout bounds bbolt's own lock, which is free unless another program
// than placectl has the file.
const openTimeout = 2 * time.Second

// Open makes a handle on an existing database and checks that it is one. It
// fails with ErrNotFound, ErrNotOurs, ErrUnsafe, ErrNewer, ErrDamaged or ErrLocked.
func Open(path string, opt *Options) (*DB, error) {
	db := &DB{path: path}
	if opt != nil {
		db.opt = *opt
	}
	if db.opt.LockTimeout == 0 {
		db.opt.LockTimeout = 30 * time.Second
	}
	if db.opt.Now == nil {
		db.opt.Now = time.Now
	}
	warning, err := preflight(path)
	if err != nil {
		return nil, err
	}
	db.warn(warning)
	return db, nil
}

// Create makes a new, empty database: written beside the name, synced, then
// renamed, so that a file of that name is whole or not there. It fails with
// ErrExists when there is one, and never replaces it.
func Create(path string, opt *Options, setup func(*Tx) error) error {
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
	if err := layOut(tmp.Name(), opt, setup); err != nil {
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

// layOut fills a new file.
func layOut(path string, opt *Options, setup func(*Tx) error) error {
	b, err := bbolt.Open(path, 0o600, boltOptions(false))
	if err != nil {
		return err
	}
	if err := errors.Join(b.Update(createTables), b.Close()); err != nil {
		return err
	}
	if setup == nil {
		return nil
	}
	db, err := Open(path, opt)
	if err != nil {
		return err
	}
	return errors.Join(db.Update(setup), db.Close())
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

func (db *DB) warn(text string) {
	if text != "" && db.opt.Warn != nil {
		db.opt.Warn(text)
	}
}

// Path is the file's name as given.
func (db *DB) Path() string { return db.path }

// View runs fn on a snapshot of the database. What fn changes is refused with
// ErrReadOnly.
func (db *DB) View(fn func(*Tx) error) error {
	return db.run(false, func(b *bbolt.DB) error {
		return b.View(func(btx *bbolt.Tx) error {
			tx, err := db.begin(btx)
			if err != nil {
				return err
			}
			return fn(tx)
		})
	})
}

// Update runs fn and commits what it changed, all or nothing: when fn fails,
// nothing. It returns nil once the change is durable. ErrUnknown means that the
// commit failed on its way to disk: the change may or may not be there, and the
// handle is of no further use. fn has to bear to be run again when somebody else was
// faster: outside the transaction it changes nothing but what it sets anew as a whole.
func (db *DB) Update(fn func(*Tx) error) error { return db.write(fn, true) }

// DryRun runs fn as Update does and then forgets what it changed.
func (db *DB) DryRun(fn func(*Tx) error) error { return db.write(fn, false) }

func (db *DB) write(fn func(*Tx) error, keep bool) error {
	if poison := db.poisoned.Load(); poison != nil {
		return *poison
	}
	return db.run(true, func(b *bbolt.DB) error {
		btx, err := b.Begin(true)
		if err != nil {
			return err
		}
		defer btx.Rollback() //nolint:errcheck // after a commit it only says so
		tx, err := db.begin(btx)
		if err != nil {
			return err
		}
		if err := fn(tx); err != nil {
			return err
		}
		if err := tx.flush(); err != nil || !keep || !tx.dirty {
			return err
		}
		return db.commit(tx)
	})
}

// commit makes a transaction durable. A full disk is found while the file grows
// or data pages are written, before the meta page makes them count: that is a
// clean failure. After any other nobody knows.
func (db *DB) commit(tx *Tx) error {
	err := tx.file.bolt.Commit()
	switch {
	case err == nil:
		if db.committed != nil {
			db.committed(tx.file.changes)
		}
		return nil
	case beforeMeta(err):
		return fmt.Errorf("nothing was changed: %w", err)
	}
	err = fmt.Errorf("%w: the commit failed: %v; look whether it was done before it is tried again", ErrUnknown, err)
	db.poisoned.Store(&err)
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
func (db *DB) run(write bool, fn func(*bbolt.DB) error) error {
	if db.opt.Private {
		db.mu.Lock()
		defer db.mu.Unlock()
		if db.bolt == nil {
			var err error
			if db.bolt, db.lock, err = db.open(true); err != nil {
				return err
			}
		}
		return guard(func() error { return fn(db.bolt) })
	}
	b, lock, err := db.open(write)
	if err != nil {
		return err
	}
	defer lock.release()
	err = guard(func() error { return fn(b) })
	var f *fault
	if errors.As(err, &f) {
		return err // closing could wait for what the fault left locked
	}
	return errors.Join(err, b.Close())
}

// open takes the lock and opens the file.
func (db *DB) open(write bool) (b *bbolt.DB, lock *fileLock, err error) {
	db.warned.Do(func() {
		if fsName := networkFileSystem(db.path); fsName != "" {
			db.warn(fmt.Sprintf("%s is on %s: file locks may not exclude other machines there", db.path, fsName))
		}
	})
	if lock, err = acquire(db.path, write, db.opt.LockTimeout); err != nil {
		return nil, nil, err
	}
	err = guard(func() error {
		if _, err := preflight(db.path); err != nil {
			return err
		}
		b, err = bbolt.Open(db.path, 0o600, boltOptions(!write))
		return openError(db.path, err)
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
func (db *DB) Close() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.bolt == nil {
		return nil
	}
	err := db.bolt.Close()
	db.lock.release()
	db.bolt, db.lock = nil, nil
	return err
}
