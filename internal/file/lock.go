package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/placectl/placectl/internal/row"
)

// The lock is a file beside the database. bbolt polls its own lock every 50 ms, but for this
// one processes wait in the kernel. Three bytes of it are locked, by open file description.
// The seat is held through a transaction; readers share it. The door is held while waiting for
// the seat, so that a process that leaves the seat cannot take it again before those that wait
// (door.go). The reservation is held by one writer at a time, also while it works beside
// readers (beside.go).
const (
	lockSeat     = 0
	lockDoor     = 1
	lockReserved = 2
	lockTrial    = 3 // whether locks keep others out (netfs.go)
	lockArchive  = 4 // held by an archive, which takes many transactions
)

// lockMode is a way to hold the lock.
type lockMode int

const (
	sharing lockMode = iota // the seat, shared with other readers
	alone                   // the seat alone, for changes on which no writer beside readers relies
	writing                 // the seat alone, and the reservation
)

// fileLock is a held lock. f is nil for a reader without a lock.
type fileLock struct {
	f        *os.File
	path     string // of the lock file
	readOnly bool   // it can only be locked for reading, and not written
	atDoor   bool   // the door could not be released: it is held while the file is open
	info     fs.FileInfo
	turns    *turns
}

// lockPath returns the lock file of a database.
func lockPath(db string) string { return db + ".lock" }

// acquire waits for the lock, for at most timeout. A reader that may neither make nor write
// the lock file shares it read-only, and reads without a lock if there is none. bbolt's own
// lock still applies.
func acquire(ctx context.Context, db string, want lockMode, timeout time.Duration) (*fileLock, error) {
	l, err := openLock(db, want != sharing)
	if err != nil || l.f == nil {
		return l, err
	}
	if err := l.lock(ctx, want, timeout); err != nil {
		return nil, err
	}
	return l, nil
}

// lock takes the lock of a lock file that is open. If it fails, it closes the file.
func (l *fileLock) lock(ctx context.Context, want lockMode, timeout time.Duration) error {
	began := time.Now()
	if want == writing {
		if err := l.take(ctx, lockReserved, timeout); err != nil {
			return err
		}
	}
	how := forReading
	if want != sharing {
		how = forWriting
	}
	if err := l.wait(ctx, how, began, timeout); err != nil {
		return err
	}
	if want != sharing {
		l.sign()
	}
	return nil
}

// same reports whether the lock file is still the one of its name.
func (l *fileLock) same() bool {
	named, err := os.Lstat(l.path)
	return err == nil && os.SameFile(l.info, named) && statusOf(named).links == 1
}

// pause releases the lock, and keeps the lock file open.
func (l *fileLock) pause() error {
	l.atDoor = false
	return calls.Do(Operation{Kind: "lock", Path: l.path}, func() error { return unlockBytes(l.f) })
}

// take waits until no other process has a byte.
func (l *fileLock) take(ctx context.Context, at int64, timeout time.Duration) error {
	if l.free(at) && tryByte(l.f, forWriting, at) == nil {
		return nil
	}
	late := time.NewTimer(timeout)
	defer late.Stop()
	next, err := l.enter(ctx, at, late, timeout)
	if err != nil {
		return err
	}
	defer next()
	return l.await(ctx, at, forWriting, late, timeout)
}

// Archiving waits until no other process archives the database. The caller must call release.
func Archiving(db string, timeout time.Duration) (release func(), err error) {
	l, err := openLock(db, true)
	if err != nil {
		return nil, err
	}
	if err := l.take(context.Background(), lockArchive, timeout); err != nil {
		return nil, err
	}
	return func() { l.release() }, nil //nolint:errcheck // its close releases it
}

// openLock opens the lock file, and makes it if there is none.
func openLock(db string, write bool) (*fileLock, error) {
	l := &fileLock{path: lockPath(db), turns: turnsOf(lockPath(db))}
	err := l.open(os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		err = l.make(db)
	}
	if refused := errors.Is(err, fs.ErrPermission) || isReadOnly(err); refused && !write {
		l.readOnly = true
		if err = l.open(os.O_RDONLY); errors.Is(err, fs.ErrNotExist) {
			return l, nil
		}
	}
	if err != nil {
		return nil, lockError(err)
	}
	return l, l.sound()
}

func lockError(err error) error {
	switch {
	case errors.Is(err, row.ErrNotFound):
		return err
	case isLoop(err):
		return fmt.Errorf("%w: the lock file is a symbolic link: %w", ErrUnsafe, err)
	}
	return fmt.Errorf("lock file: %w", err)
}

func (l *fileLock) open(flags int) (err error) {
	l.f, err = openFile(l.path, flags)
	return err
}

// make makes the lock file, with the owner and mode of the database. If we may not set them,
// the file is ours.
func (l *fileLock) make(db string) error {
	info, err := os.Stat(db)
	if errors.Is(err, fs.ErrNotExist) {
		return noDatabase(db)
	} else if err != nil {
		return err
	}
	err = l.open(os.O_RDWR | os.O_CREATE)
	l.follow(info)
	return err
}

// follow gives the lock file the owner, group and mode of the database, as far as permitted.
func (l *fileLock) follow(db fs.FileInfo) {
	ours, err := l.f.Stat()
	if err != nil { // there is no lock file
		return
	}
	is, to := statusOf(ours), statusOf(db)
	if is.uid != to.uid || is.gid != to.gid {
		if l.f.Chown(to.uid, to.gid) != nil {
			_ = l.f.Chown(-1, to.gid)
		}
	}
	if mode := db.Mode().Perm(); mode != ours.Mode().Perm() {
		_ = l.f.Chmod(mode)
	}
}

// sound refuses a lock file that leads elsewhere, because holders write into it.
func (l *fileLock) sound() error {
	info, err := l.f.Stat()
	if err != nil {
		l.f.Close()
		return lockError(err)
	}
	switch {
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%w: %s is not a regular file", ErrUnsafe, l.path)
	case statusOf(info).links > 1:
		err = fmt.Errorf("%w: %s is a hard link to a file that has other names; remove it", ErrUnsafe, l.path)
	default:
		l.info = info
		return nil
	}
	l.f.Close()
	return err
}

// lockHow says how a byte of the lock file is locked.
type lockHow int

const (
	unlocked lockHow = iota
	forReading
	forWriting
)

// tryByte locks or unlocks a byte of the lock file, and awaitByte waits until it can.
func tryByte(f *os.File, how lockHow, at int64) error   { return onByte(f, how, at, false) }
func awaitByte(f *os.File, how lockHow, at int64) error { return onByte(f, how, at, true) }

func onByte(f *os.File, how lockHow, at int64, wait bool) error {
	return calls.Do(Operation{Kind: "lock", Path: f.Name(), At: at}, func() error { return lockByte(f, how, at, wait) })
}

// wait takes the seat; the timeout counts from when the wait for the lock began. If it fails, it closes
// the lock file, and the error names the process that has the seat.
func (l *fileLock) wait(ctx context.Context, how lockHow, began time.Time, timeout time.Duration) error {
	if l.free(lockSeat) && l.now(how) {
		return nil
	}
	late := time.NewTimer(timeout - time.Since(began))
	defer late.Stop()
	next, err := l.enter(ctx, lockSeat, late, timeout)
	if err != nil {
		return err
	}
	defer next()
	leave := l.door(ctx, timeout-time.Since(began))
	defer leave()
	if tryByte(l.f, how, lockSeat) == nil {
		return nil
	}
	return l.await(ctx, lockSeat, how, late, timeout)
}

// await waits for a byte of the lock file until the deadline. If it fails, it closes the lock file,
// and the error names the process that has the byte.
func (l *fileLock) await(ctx context.Context, at int64, how lockHow, late *time.Timer, timeout time.Duration) (
	err error) {
	w := l.turns[at].await(l.f, how, at)
	select {
	case err := <-w.came:
		if err != nil {
			l.f.Close()
			return lockError(err)
		}
		return nil
	case <-late.C:
		err = l.gaveUp(at, timeout)
	case <-ctx.Done():
		err = l.cancelled(ctx)
	}
	tryByte(l.f, unlocked, lockReserved) //nolint:errcheck // others wait longer then
	w.leave()
	return err
}

// now takes the seat if it is free and no one waits.
func (l *fileLock) now(how lockHow) bool {
	if l.readOnly {
		return tryByte(l.f, how, lockSeat) == nil
	}
	if tryByte(l.f, forWriting, lockDoor) != nil {
		return false
	}
	ok := tryByte(l.f, how, lockSeat) == nil
	l.atDoor = tryByte(l.f, unlocked, lockDoor) != nil
	return ok
}

// release releases the lock. An error means that this may have failed. Closing the file would not
// release it at once while the program forks: until it executes another program, the child has the
// file open, too.
func (l *fileLock) release() error {
	if l == nil || l.f == nil {
		return nil
	}
	unlockBytes(l.f) //nolint:errcheck // closing it follows
	err := l.f.Close()
	l.f = nil
	return err
}
