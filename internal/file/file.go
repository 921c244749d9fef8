// Package file keeps a database file: its locks, the checks before it is opened, its format,
// and its rows. It is the only package that uses bbolt.
//
// A File is locked for each transaction, and stays open between them (handle.go). A
// transaction gets a Recorder, through which all reads and writes of rows go. The changes of a
// commit are a ChangeSet, table by table. A reader may see the file through its own ChangeSet.
//
// The package knows tables and keys, but not what rows mean: here they are payloads. See
// package row.
package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
)

// Options configure how a file is opened.
type Options struct {
	LockTimeout time.Duration // how long a transaction waits for the file
	Replica     bool          // a copy of data stored elsewhere: commits are not synced, and their changes are recorded
	// no other process knows it yet: it stays open, without a lock, commits are not synced, and tables are filled in
	// order
	Scratch   bool
	Warn      func(string) // receives warnings; may be nil
	LocksFail func(string) // receives the warning that locks were tried and do not keep others out; nil: Warn does
	Detail    func(string) // receives details for debugging; may be nil
}

// File is a handle on a database file. Its methods may be called from several
// goroutines.
type File struct {
	// Committed receives what each commit changed, before the next one; it may be nil.
	Committed func(*ChangeSet)

	path string   // as given
	full string   // absolute, as of Open
	id   [16]byte // the database, zero if it is not known
	opt  Options

	mu     sync.RWMutex // one writer at a time of a scratch file, or several readers
	shut   atomic.Bool
	last   atomic.Uint64 // the last transaction that this handle committed
	own    *opened       // a scratch file
	copied *opened       // the private copy that the handle reads; nil for none
	warned sync.Once
	kept   kept
}

// Open makes a handle on an existing file and checks that it is a database.
func Open(path string, opt Options) (*File, error) {
	f := &File{path: path, opt: opt}
	var err error
	if f.full, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	warning, err := preflight(path)
	if err != nil {
		return nil, err
	}
	f.warn(warning)
	if !opt.Scratch && !opt.Replica {
		if id, err := identityAt(path); err == nil {
			f.id = id.ID
		}
	}
	return f, nil
}

// Create makes a new, empty database, and runs fill on it before it gets its name, as Fresh
// does.
func Create(path string, fill func(path string) error) error { return Fresh(path, empty(fill)) }

// CreateTrial makes a database as Create does, and discards it.
func CreateTrial(path string, fill func(path string) error) error { return Trial(path, empty(fill)) }

// empty makes the tables of a file, and then runs fill on it.
func empty(fill func(path string) error) func(tmp string) error {
	return func(tmp string) error {
		if err := layOut(tmp); err != nil {
			return err
		}
		return fill(tmp)
	}
}

// layOut makes the tables of an empty file.
func layOut(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	b, err := openBolt(f, true, 0)
	if err != nil {
		return err
	}
	return errors.Join(b.Update(createTables), b.Close())
}

func syncDir(dir string) error {
	return calls.Do(Operation{Kind: "sync", Path: dir}, func() error { return syncFolder(dir) })
}

func (f *File) warn(text string) {
	if text != "" && f.opt.Warn != nil {
		f.opt.Warn(text)
	}
}

func (f *File) detail(text string) {
	if f.opt.Detail != nil {
		f.opt.Detail(text)
	}
}

// Last returns the last transaction that this handle committed.
func (f *File) Last() uint64 { return f.last.Load() }

// Path returns the file's name: as given, or absolute if the working directory has changed since Open.
func (f *File) Path() string {
	if full, err := filepath.Abs(f.path); f.full != "" && (err != nil || full != f.full) {
		return f.full
	}
	return f.path
}

// View runs fn on a snapshot of the file.
func (f *File) View(fn func(*Recorder) error) error { return f.ViewContext(context.Background(), fn) }

// ViewContext is View, and stops waiting for the file when the context ends.
func (f *File) ViewContext(ctx context.Context, fn func(*Recorder) error) error {
	return f.runContext(ctx, sharing, func(o *opened) error {
		return f.read(o, shortTime, longTime, func(tx *bbolt.Tx) error {
			r, err := f.begin(o, tx)
			if err != nil {
				return err
			}
			return fn(r)
		})
	})
}

// read runs fn on a snapshot. The read releases the file to others after a time, or after latest if
// no one waits.
func (f *File) read(o *opened, after, latest time.Duration, fn func(*bbolt.Tx) error) error {
	return o.bolt.View(func(tx *bbolt.Tx) error {
		if f.copied == nil && !f.opt.Scratch {
			defer f.leave(o, tx, after, latest).end()
		}
		return fn(tx)
	})
}

// readPages runs fn on a snapshot, with the file that holds the pages of the snapshot. That is
// the copy with which the read continues, because others write to the database once it has
// left.
func (f *File) readPages(o *opened, fn func(tx *bbolt.Tx, pages *os.File) error) error {
	return o.bolt.View(func(tx *bbolt.Tx) error {
		pages := o.data
		if f.copied == nil && !f.opt.Scratch {
			d := f.leave(o, tx, 0, 0)
			defer d.end()
			if <-d.done; d.copied != nil {
				pages = d.copied
			}
		}
		return fn(tx, pages)
	})
}

// Update runs fn, and commits its changes, all or nothing, if fn returns keep. It returns nil
// once the change is durable. ErrUnknown means that the commit failed on its way to disk: the
// change may or may not be there. Any other error means that nothing was changed.
func (f *File) Update(fn func(*Recorder) (keep bool, err error)) error {
	return f.UpdateContext(context.Background(), false, fn)
}

// UpdateContext is Update, or UpdateBeside, and stops waiting for the file when the context ends.
func (f *File) UpdateContext(ctx context.Context, beside bool, fn func(*Recorder) (keep bool, err error)) error {
	if beside {
		return f.updateBeside(ctx, fn)
	}
	return f.runContext(ctx, writing, func(o *opened) error { return f.update(o, fn) })
}

// update is Update on a file that is open.
func (f *File) update(o *opened, fn func(*Recorder) (keep bool, err error)) error {
	tx, err := o.bolt.Begin(true)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit it only says so
	r, err := f.begin(o, tx)
	if err != nil {
		return err
	}
	if keep, err := fn(r); err != nil || !keep {
		return err
	}
	return f.commit(o, r)
}

// run opens and locks the file around fn, or uses that of a scratch file.
func (f *File) run(want lockMode, fn func(*opened) error) error {
	return f.runContext(context.Background(), want, fn)
}

func (f *File) runContext(ctx context.Context, want lockMode, fn func(*opened) error) (err error) {
	if f.shut.Load() {
		return ErrClosed
	}
	if f.opt.Scratch {
		if want == sharing && f.mayShare() { // readers do not exclude each other
			defer f.mu.RUnlock()
			return Guard(func() error { return fn(f.own) })
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.shut.Load() {
			return ErrClosed
		}
		if f.own == nil {
			if f.own, err = f.open(ctx, writing); err != nil {
				return err
			}
		}
		err := Guard(func() error { return fn(f.own) })
		if f.own.spent {
			f.closed(f.own.close())
			f.own = nil
		}
		return err
	}
	if f.copied != nil {
		if want != sharing {
			return ErrReadOnly
		}
		f.mu.RLock()
		defer f.mu.RUnlock()
		if f.shut.Load() {
			return ErrClosed
		}
		return Guard(func() error { return fn(f.copied) })
	}
	o, err := f.open(ctx, want)
	if err != nil {
		return err
	}
	returned := false // otherwise fn panics, or ends its goroutine, maybe in a commit
	defer func() {
		var damage *fault
		if errors.As(err, &damage) { // closing could wait for a lock that bbolt still holds
			o.unlock() //nolint:errcheck // the other error says more
			return
		}
		o.spent = o.spent || !returned
		f.closed(f.give(o))
	}()
	err = Guard(func() error { return fn(o) })
	returned = true
	return err
}

// mayShare takes a scratch file for a reader, if it is open.
func (f *File) mayShare() bool {
	f.mu.RLock()
	if f.own == nil {
		f.mu.RUnlock()
		return false
	}
	return true
}

// closed reports as a detail that a file could not be closed, or its lock not be released. The
// transaction is not affected.
func (f *File) closed(err error) {
	if err != nil {
		f.warn(fmt.Sprintf("%s: giving the file back failed: %v", f.Path(), err))
	}
}

// Close closes files that are open, and deletes a copy.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.shut.Swap(true) {
		return nil
	}
	for _, o := range []*opened{f.own, f.copied} {
		if o != nil {
			f.closed(o.close())
		}
	}
	f.own = nil
	f.closeIdle(0)
	return nil
}
