package attend

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Lock is held by the attendant. It is an open file, so a process that inherits it also holds it.
type Lock struct {
	*os.File
	place Place
	bell  *os.File // nil until Listen
}

// Close removes the bell and then releases the lock. A bell left behind would swallow rings for the
// next attendant.
func (l *Lock) Close() error {
	if l.bell != nil {
		l.bell.Close() //nolint:errcheck // there is nothing to write
	}
	return l.File.Close()
}

// Try takes the lock. It returns nil if another process holds it.
func (p Place) Try() (*Lock, error) {
	l, err := p.openLock()
	if err != nil {
		return nil, err
	}
	if got, err := l.take(); !got {
		l.File.Close() //nolint:errcheck // nothing was written
		return nil, err
	}
	return l, nil
}

// openLock opens the lock, which any process may hold.
func (p Place) openLock() (*Lock, error) {
	if err := p.prepare(); err != nil {
		return nil, err
	}
	fd, err := p.descriptor("", os.O_CREATE|os.O_RDWR)
	if err != nil {
		return nil, err
	}
	return &Lock{File: os.NewFile(uintptr(fd), p.name("")), place: p}, nil
}

// take reports whether this process holds the lock from now on.
func (l *Lock) take() (got bool, err error) {
	for {
		switch err = unix.Flock(int(l.Fd()), unix.LOCK_EX|unix.LOCK_NB); err {
		case unix.EINTR:
			continue
		case unix.EWOULDBLOCK:
			return false, nil
		}
		return err == nil, err
	}
}

// Inherited returns the lock that this process has inherited as descriptor fd. It returns nil if fd
// is another file, or not open.
func (p Place) Inherited(fd int) *Lock {
	var is unix.Stat_t
	info, err := os.Stat(p.name(""))
	if err != nil || unix.Fstat(fd, &is) != nil || info.Sys().(*syscall.Stat_t).Ino != is.Ino ||
		info.Sys().(*syscall.Stat_t).Dev != is.Dev {
		return nil
	}
	unix.CloseOnExec(fd) // no process started later inherits it
	return &Lock{File: os.NewFile(uintptr(fd), p.name("")), place: p}
}

// Record is what the lock file says about its holder, or about one that has failed. It is one line of
// five numbers and a text, because each command that changes something reads it.
type Record struct {
	PID   int
	Born  uint64 // start time of the process, in clock ticks since the host's start
	Since time.Time
	Stays bool // it is placectl work --cycle, which works until it is stopped

	Failed time.Time     // when an attendant ended with an error, soon after it began
	Pause  time.Duration // before another one is started
	Why    string
}

// Hold records the process that holds the lock. It keeps the record of an earlier failure.
func (l *Lock) Hold(pid int, born uint64, since time.Time) error {
	return l.note(Record{PID: pid, Born: born, Since: since})
}

// Stay is Hold for a process that works until it is stopped, and is not asked to leave.
func (l *Lock) Stay(pid int, born uint64, since time.Time) error {
	return l.note(Record{PID: pid, Born: born, Since: since, Stays: true})
}

func (l *Lock) note(r Record) error {
	_, err := l.WriteAt(r.holder(), 0)
	return err
}

// staysMark follows the start time of a process that stays.
const staysMark = "w"

// holder returns the start of the line, which always has the same length.
func (r *Record) holder() []byte {
	born := strconv.FormatUint(r.Born, 10)
	if r.Stays {
		born += staysMark
	}
	return fmt.Appendf(nil, "%-10d %-20s %-19d ", r.PID, born, r.Since.UnixNano())
}

func (l *Lock) read() Record { return read(int(l.Fd())) }

// Read returns the content of the lock file, the zero Record if it is empty.
func (p Place) Read() Record {
	fd, err := p.descriptor("", os.O_RDONLY)
	if err != nil {
		return Record{}
	}
	defer unix.Close(fd)
	return read(fd)
}

// read is Read for an open file. It understands an incomplete line.
func read(fd int) (r Record) {
	var text [4096]byte
	n, _ := unix.Pread(fd, text[:], 0) //nolint:errcheck // nothing was read then
	var words [5]string
	rest := string(text[:max(n, 0)])
	for i := range words {
		words[i], rest, _ = strings.Cut(strings.TrimLeft(rest, " "), " ")
	}
	r.PID, _ = strconv.Atoi(words[0])
	words[1], r.Stays = strings.CutSuffix(words[1], staysMark)
	r.Born, _ = strconv.ParseUint(words[1], 10, 64)
	since, _ := strconv.ParseInt(words[2], 10, 64)
	r.Since = time.Unix(0, since)
	if failed, err := strconv.ParseInt(words[3], 10, 64); err == nil {
		pause, _ := strconv.ParseInt(words[4], 10, 64)
		r.Failed, r.Pause, r.Why = time.Unix(0, failed), time.Duration(pause), strings.TrimSuffix(rest, "\n")
	}
	return r
}

// Pauses after attendants that fail soon after their start.
const (
	firstPause = 10 * time.Second
	mostPause  = 5 * time.Minute
)

// Fail records that an attendant could not do its work. The next one starts after a pause, which
// doubles with each failure.
func (l *Lock) Fail(why error, now time.Time) error {
	r := l.read()
	if again := now.Sub(r.Failed); r.Pause > 0 && again < 2*r.Pause {
		r.Pause = min(2*r.Pause, mostPause)
	} else {
		r.Pause = firstPause
	}
	text := fmt.Appendf(r.holder(), "%d %d %v\n", now.UnixNano(), r.Pause, why)
	if _, err := l.WriteAt(text, 0); err != nil {
		return err
	}
	return l.Truncate(int64(len(text)))
}

// Paused returns for how much longer no attendant starts because the last one failed.
func (r *Record) Paused(now time.Time) time.Duration {
	if r.Failed.IsZero() || now.Before(r.Failed) { // or the clock was set back
		return 0
	}
	return max(r.Failed.Add(r.Pause).Sub(now), 0)
}

// IsSecond reports whether the lock belongs to an attendant beside a stopped one.
func (l *Lock) IsSecond() bool { return l.place.second }
