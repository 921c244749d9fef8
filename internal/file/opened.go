package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"
)

// opened is a database file that is open, with its lock.
type opened struct {
	bolt  *bbolt.DB
	data  *os.File // the file that bolt has, and closes
	lock  *fileLock
	where *whereabouts // of a private copy: of the file that was copied
	free  sync.Once    // releases the locks
	// spent is set after a failed commit, because bbolt's memory may then differ from the
	// file.
	spent bool

	// For handle.go.
	write bool
	left  bool // the mapping is that of a copy
	kind  fileSystem
	last  seen      // the state that bbolt's memory is of; zero after a commit, and if the file was never kept
	apart *byte     // the mapping that children do not get
	head  []byte    // room for the meta pages
	since time.Time // when the last transaction ended
}

// openTimeout limits the wait for bbolt's own lock, which is free unless a program other than
// placectl has the file. A killed process may have it, too, while it closes one file after the other.
const openTimeout = 10 * time.Second

// sayLocks warns if the locks of the file may not keep others out.
func (f *File) sayLocks() {
	locks := LocksOf(f.Path())
	say := f.opt.Warn
	if locks.Fail && f.opt.LocksFail != nil {
		say = f.opt.LocksFail
	}
	if text := locks.Warning(f.Path()); text != "" && say != nil {
		say(text)
	}
}

// open takes the lock and opens the file.
func (f *File) open(ctx context.Context, want lockMode) (*opened, error) {
	f.warned.Do(func() {
		if !f.opt.Scratch && (f.opt.Warn != nil || f.opt.LocksFail != nil) {
			f.sayLocks()
		}
	})
	path := f.Path()
	o := f.take(want, path)
	lock, err := f.lock(ctx, o, path, want)
	if o != nil {
		right := false
		if err == nil && Guard(func() error { right = f.right(o); return nil }) == nil && right {
			o.lock = lock
			return o, nil
		}
		f.closed(errors.Join(unlockWhole(o.data), o.bolt.Close()))
	}
	if err != nil {
		return nil, err
	}
	o = &opened{lock: lock, write: want != sharing}
	if err := Guard(func() error { return o.open(path, want != sharing, f.opt.Scratch) }); err != nil {
		lock.release() //nolint:errcheck // the other error says more
		return nil, err
	}
	o.bolt.NoSync = f.opt.Scratch || f.opt.Replica
	o.bolt.NoGrowSync = o.bolt.NoSync
	return o, nil
}

// lock takes the lock: that of a file that was kept open, nil for none, if it is still the one of its name.
func (f *File) lock(ctx context.Context, o *opened, path string, want lockMode) (lock *fileLock, err error) {
	if f.opt.Scratch {
		return new(fileLock), nil
	}
	if o != nil {
		if err := o.lock.lock(ctx, want, f.opt.LockTimeout); err != nil {
			return nil, err
		}
		if lock = o.lock; !lock.same() {
			lock.release() //nolint:errcheck // it is no longer of use
			lock = nil
		}
	}
	if lock == nil {
		if lock, err = acquire(ctx, path, want, f.opt.LockTimeout); err != nil {
			return nil, err
		}
	}
	if f.opt.Replica { // it need not be on disk
		return lock, nil
	}
	return lock.mended(path, want, f.opt.LockTimeout)
}

// open opens the file of the lock.
func (o *opened) open(path string, write, scratch bool) (err error) {
	if o.data, err = openData(path, write); err != nil {
		return err
	}
	o.where = &whereabouts{data: o.data}
	info, err := preflightFile(o.data, write)
	if err != nil {
		o.data.Close()
		return err
	}
	if write {
		o.lock.follow(info)
	}
	room := 0
	if scratch {
		room = scratchRoom
	}
	o.bolt, err = openBolt(o.data, write, room)
	return openError(path, err)
}

// scratchRoom is the number of bytes to map at once for a file under construction. If a file
// outgrows its mapping, bbolt copies everything that the transaction has in memory.
const scratchRoom = 256 << 20

// openBolt lets bbolt open a file that is already open, so that it opens the file that was
// checked. bbolt closes it, even if it fails. At least room bytes are mapped.
func openBolt(f *os.File, write bool, room int) (*bbolt.DB, error) {
	given := false
	opt := &bbolt.Options{Timeout: openTimeout, ReadOnly: !write, NoStatistics: true, InitialMmapSize: room}
	opt.OpenFile = func(_ string, flags int, mode os.FileMode) (*os.File, error) {
		if given { // to copy it
			return openAgain(f, flags&^os.O_CREATE, mode)
		}
		given = true
		return f, nil
	}
	return bbolt.Open(f.Name(), 0o600, opt)
}

// contents lists the errors of bbolt that are about the content of a file.
var contents = []error{bbolterrors.ErrInvalid, bbolterrors.ErrInvalidMapping, bbolterrors.ErrVersionMismatch,
	bbolterrors.ErrChecksum}

// openError explains why bbolt could not open a file. An error that is not about the file's
// content is about this machine, such as too little memory. It keeps bbolt's words.
func openError(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, bbolterrors.ErrTimeout):
		return fmt.Errorf("%w%s, not through the lock file", ErrLocked, holders(path))
	case slices.ContainsFunc(contents, func(is error) bool { return errors.Is(err, is) }):
		return fmt.Errorf("%w: %s: %v", ErrNotOurs, path, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// unlock releases the locks while the file stays open.
func (o *opened) unlock() (err error) {
	o.free.Do(func() { err = errors.Join(unlockWhole(o.data), o.lock.release()) })
	return err
}

// close closes the file and releases the lock. Closing does not release bbolt's lock while another
// process has the file from this one by a fork, and bbolt releases only that of writers beforehand.
func (o *opened) close() (err error) {
	if o.bolt.IsReadOnly() {
		err = o.unlock()
	}
	err = errors.Join(err, o.bolt.Close())
	o.free.Do(func() { err = errors.Join(err, o.lock.release()) })
	return err
}

// sameFile verifies that the name of the database still leads to the file that is open.
func (o *opened) sameFile() error {
	ours, err := o.data.Stat()
	if err != nil {
		return err
	}
	named, err := os.Lstat(o.data.Name())
	if err == nil && !os.SameFile(ours, named) {
		err = errors.New("the name leads to another file now")
	}
	return err
}
