package attend

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/bytejson"
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
	l, _, err := p.try()
	return l, err
}

// try is Try, but also returns the process that holds the lock.
func (p Place) try() (l *Lock, has Holder, err error) {
	if err := p.prepare(); err != nil {
		return nil, has, err
	}
	fd, err := p.descriptor("", os.O_CREATE|os.O_RDWR)
	if err != nil {
		return nil, has, err
	}
	for {
		switch err = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err {
		case nil:
			return &Lock{File: os.NewFile(uintptr(fd), p.name("")), place: p}, has, nil
		case unix.EINTR:
			continue
		case unix.EWOULDBLOCK:
			has, err = holder(fd), nil
		}
		unix.Close(fd) //nolint:errcheck // nothing was written
		return nil, has, err
	}
}

// Inherited returns the lock that this process has inherited as descriptor fd. It returns nil if fd
// is another file, or not open.
func (p Place) Inherited(fd int) *Lock {
	var is unix.Stat_t
	info, err := os.Stat(p.name(""))
	if err != nil || unix.Fstat(fd, &is) != nil || info.Sys().(*syscall.Stat_t).Ino != is.Ino || info.Sys().(*syscall.Stat_t).Dev != is.Dev {
		return nil
	}
	unix.CloseOnExec(fd) // no process started later inherits it
	return &Lock{File: os.NewFile(uintptr(fd), p.name("")), place: p}
}

// Holder is the process that holds a lock. It is the first line of the lock file, as two numbers:
// each command that changes something reads it, and few read the JSON of the second line.
type Holder struct {
	PID  int    `json:"-"`
	Born uint64 `json:"-"` // start time of the process, in clock ticks since the host's start
}

// Record is what the lock file says about its holder, or about one that has failed.
type Record struct {
	Holder
	Since time.Time `json:"since"`

	Failed time.Time     `json:"failed,omitzero"` // when an attendant ended with an error, soon after it began
	Why    string        `json:"why,omitempty"`
	Pause  time.Duration `json:"pause,omitempty"` // before another one is started
}

// Hold records the process that holds the lock. It keeps the record of an earlier failure.
func (l *Lock) Hold(pid int, born uint64, since time.Time) error {
	r := l.read()
	r.PID, r.Born, r.Since = pid, born, since
	return l.write(&r)
}

func (l *Lock) write(r *Record) error {
	text, err := bytejson.Marshal(r)
	if err != nil {
		return err
	}
	text = fmt.Appendf(nil, "%d %d\n%s\n", r.PID, r.Born, text)
	if _, err := l.WriteAt(text, 0); err != nil {
		return err
	}
	return l.Truncate(int64(len(text)))
}

// read is Read for the process that holds the lock.
func (l *Lock) read() Record {
	text, err := io.ReadAll(io.NewSectionReader(l.File, 0, 1<<20))
	return recordOf(text, err)
}

// Read returns the content of the lock file, the zero Record if it is empty.
func (p Place) Read() Record {
	text, err := os.ReadFile(p.name(""))
	return recordOf(text, err)
}

func recordOf(text []byte, err error) (r Record) {
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	if err != nil || bytejson.Unmarshal(bytes.TrimSpace(rest), &r) != nil {
		return Record{}
	}
	r.Holder = holderOf(string(first))
	return r
}

// Holder returns the first line of the lock file.
func (p Place) Holder() Holder {
	fd, err := p.descriptor("", os.O_RDONLY)
	if err != nil {
		return Holder{}
	}
	defer unix.Close(fd)
	return holder(fd)
}

func holder(fd int) Holder {
	var text [64]byte
	n, _ := unix.Read(fd, text[:]) //nolint:errcheck // nothing was read then
	first, _, _ := strings.Cut(string(text[:max(n, 0)]), "\n")
	return holderOf(first)
}

func holderOf(line string) (h Holder) {
	pid, born, _ := strings.Cut(line, " ")
	h.PID, _ = strconv.Atoi(pid)
	h.Born, _ = strconv.ParseUint(born, 10, 64)
	return h
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
	r.Failed, r.Why = now, why.Error()
	return l.write(&r)
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
