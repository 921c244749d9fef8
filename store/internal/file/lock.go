package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/placectl/placectl/store/internal/row"
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
}

// lockPath returns the lock file of a database.
func lockPath(db string) string { return db + ".lock" }

// acquire waits for the lock, for at most timeout. A reader that may neither make nor write
// the lock file shares it read-only, and reads without a lock if there is none. bbolt's own
// lock still applies.
func acquire(db string, want lockMode, timeout time.Duration) (*fileLock, error) {
	l, err := openLock(db, want != sharing)
	if err != nil || l.f == nil {
		return l, err
	}
	began := time.Now()
	if want == writing {
		if err := l.reserve(timeout); err != nil {
			return nil, err
		}
	}
	how := forReading
	if want != sharing {
		how = forWriting
	}
	if err := l.wait(how, timeout-time.Since(began)); err != nil {
		return nil, err
	}
	if want != sharing {
		l.sign()
	}
	return l, nil
}

// reserve waits until no other process writes or prepares a write.
func (l *fileLock) reserve(timeout time.Duration) error {
	if tryByte(l.f, forWriting, lockReserved) == nil {
		return nil
	}
	late := time.NewTimer(timeout)
	defer late.Stop()
	return l.await(lockReserved, forWriting, late, timeout)
}

// Archiving waits until no other process archives the database. The caller must call release.
func Archiving(db string, timeout time.Duration) (release func(), err error) {
	l, err := openLock(db, true)
	if err != nil {
		return nil, err
	}
	if tryByte(l.f, forWriting, lockArchive) != nil {
		late := time.NewTimer(timeout)
		defer late.Stop()
		if err := l.await(lockArchive, forWriting, late, timeout); err != nil {
			return nil, err
		}
	}
	return func() { l.release() }, nil //nolint:errcheck // its close releases it
}

// openLock opens the lock file, and makes it if there is none.
func openLock(db string, write bool) (*fileLock, error) {
	l := &fileLock{path: lockPath(db)}
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
	if err == nil {
		l.follow(info)
	}
	return err
}

// follow gives the lock file the owner, group and mode of the database, as far as permitted.
func (l *fileLock) follow(db fs.FileInfo) {
	ours, err := l.f.Stat()
	if l.f == nil || err != nil {
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

// wait takes the seat. If it fails, it closes the lock file, and the error names the process that
// has the seat.
func (l *fileLock) wait(how lockHow, timeout time.Duration) error {
	if l.now(how) {
		return nil
	}
	late := time.NewTimer(timeout)
	defer late.Stop()
	leave := l.door(timeout)
	defer leave()
	if tryByte(l.f, how, lockSeat) == nil {
		return nil
	}
	return l.await(lockSeat, how, late, timeout)
}

// await waits for a byte of the lock file until the deadline. If it fails, it closes the lock file,
// and the error names the process that has the byte.
func (l *fileLock) await(at int64, how lockHow, late *time.Timer, timeout time.Duration) error {
	came := make(chan error, 1)
	go func() { came <- awaitByte(l.f, how, at) }()
	select {
	case err := <-came:
		if err != nil {
			l.f.Close()
			return lockError(err)
		}
		return nil
	case <-late.C:
		holder := l.holders(at)
		go func() { // the wait cannot be cancelled, so release the lock when it comes
			<-came
			unlockBytes(l.f)
			l.f.Close()
		}()
		return fmt.Errorf("%w%s; gave up after %v", ErrLocked, holder, timeout.Round(time.Millisecond))
	}
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
	unlockBytes(l.f)
	err := l.f.Close()
	l.f = nil
	return err
}
