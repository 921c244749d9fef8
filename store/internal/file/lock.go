package file

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The lock is a file beside the database. bbolt's own lock is polled for every
// 50 ms; this one is waited for in the kernel. Two bytes of it are locked, by
// open file description: the seat, held through a transaction (readers share
// it), and the door, held while waiting for the seat, so that whoever leaves
// the seat cannot take it again before those who wait.
const (
	lockSeat = 0
	lockDoor = 1
)

// fileLock is a held lock.
type fileLock struct{ f *os.File }

// lockPath is the lock file of a database.
func lockPath(db string) string { return db + ".lock" }

// acquire waits for the lock, at most for timeout; write locks exclude all
// others. A reader that may not create the lock file goes without: bbolt's own
// lock still holds.
func acquire(db string, write bool, timeout time.Duration) (*fileLock, error) {
	f, err := os.OpenFile(lockPath(db), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		if !write && (errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.EROFS)) {
			return &fileLock{}, nil
		}
		return nil, fmt.Errorf("lock file: %w", err)
	}
	how := int16(unix.F_RDLCK)
	if write {
		how = unix.F_WRLCK
	}
	if lockNow(f, how) {
		return held(f, write), nil
	}
	result := make(chan error, 1)
	go func() { result <- lockWait(f, how) }()
	select {
	case err := <-result:
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("lock file: %w", err)
		}
		return held(f, write), nil
	case <-time.After(timeout):
		holder := readHolder(db)
		go func() { // the wait cannot be called off; drop the lock when it comes
			<-result
			f.Close()
		}()
		return nil, fmt.Errorf("%w%s; gave up after %v", ErrLocked, holder, timeout)
	}
}

func fcntl(f *os.File, cmd int, how int16, at int64) error {
	for {
		err := unix.FcntlFlock(f.Fd(), cmd, &unix.Flock_t{Type: how, Whence: io.SeekStart, Start: at, Len: 1})
		if err != unix.EINTR {
			return err
		}
	}
}

// lockNow takes the seat if nobody waits and it is free.
func lockNow(f *os.File, how int16) bool {
	if fcntl(f, unix.F_OFD_SETLK, unix.F_WRLCK, lockDoor) != nil {
		return false
	}
	ok := fcntl(f, unix.F_OFD_SETLK, how, lockSeat) == nil
	return fcntl(f, unix.F_OFD_SETLK, unix.F_UNLCK, lockDoor) == nil && ok
}

// lockWait queues at the door, then for the seat.
func lockWait(f *os.File, how int16) error {
	if err := fcntl(f, unix.F_OFD_SETLKW, unix.F_WRLCK, lockDoor); err != nil {
		return err
	}
	if err := fcntl(f, unix.F_OFD_SETLKW, how, lockSeat); err != nil {
		return err
	}
	return fcntl(f, unix.F_OFD_SETLK, unix.F_UNLCK, lockDoor)
}

// held writes into the lock file who holds it, for the message of those who
// wait in vain. Readers, who are many, leave it alone.
func held(f *os.File, write bool) *fileLock {
	if write {
		text := fmt.Sprintf("%d %s\n", os.Getpid(), commandLine())
		if _, err := f.WriteAt([]byte(text), 0); err == nil {
			_ = f.Truncate(int64(len(text)))
		}
	}
	return &fileLock{f}
}

func commandLine() string {
	words := append([]string{filepath.Base(os.Args[0])}, os.Args[1:]...)
	line := strings.Join(words, " ")
	if len(line) > 200 {
		line = line[:200] + "..."
	}
	return line
}

// readHolder describes the last writer, if it still runs.
func readHolder(db string) string {
	b, err := os.ReadFile(lockPath(db))
	if err != nil {
		return ""
	}
	pid, command, _ := strings.Cut(strings.TrimSpace(string(b)), " ")
	n, err := strconv.Atoi(pid)
	if err != nil || n <= 0 || syscall.Kill(n, 0) == syscall.ESRCH {
		return " by a reader, or a process on another machine"
	}
	return fmt.Sprintf(" by process %d (%s)", n, strconv.Quote(command))
}

func (l *fileLock) release() {
	if l != nil && l.f != nil {
		l.f.Close()
		l.f = nil
	}
}
