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

// Lock is held by the attendant. It is an open file: a process that inherits it holds it, too.
type Lock struct {
	*os.File
	place Place
	bell  *os.File // nil until Listen
}

// Close lets go of the lock. The bell is taken down first: one that hangs on would swallow
// what is meant for the next attendant.
func (l *Lock) Close() error {
	if l.bell != nil {
		l.bell.Close() //nolint:errcheck // it has nothing to write
	}
	return l.File.Close()
}

// Try takes the lock; nil if another process has it.
func (p Place) Try() (*Lock, error) {
	l, _, err := p.try()
	return l, err
}

// try is Try. It returns the process that has the lock, too.
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

// Inherited is the lock that this process was started with, as a descriptor; nil if that
// is another file, or none.
func (p Place) Inherited(fd int) *Lock {
	var is unix.Stat_t
	info, err := os.Stat(p.name(""))
	if err != nil || unix.Fstat(fd, &is) != nil || info.Sys().(*syscall.Stat_t).Ino != is.Ino || info.Sys().(*syscall.Stat_t).Dev != is.Dev {
		return nil
	}
	unix.CloseOnExec(fd) // nothing that is started later holds it
	return &Lock{File: os.NewFile(uintptr(fd), p.name("")), place: p}
}

// Holder is the process that has a lock. It stands in the first line of the lock file, as two
// numbers: each command that changes something reads it, and few read the JSON of the second.
type Holder struct {
	PID  int    `json:"-"`
	Born uint64 `json:"-"` // start of the process, in clock ticks since the host's
}

// Record is what the lock file says of its holder, or of one that has failed.
type Record struct {
	Holder
	Since time.Time `json:"since"`

	Failed time.Time     `json:"failed,omitzero"` // it ended with an error, soon after it began
	Why    string        `json:"why,omitempty"`
	Pause  time.Duration `json:"pause,omitempty"` // before another one is started
}

// Hold notes the process that has the lock. A failure of the one before stays noted.
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

// read is Read for the process that has the lock.
func (l *Lock) read() Record {
	text, err := io.ReadAll(io.NewSectionReader(l.File, 0, 1<<20))
	return recordOf(text, err)
}

// Read is what the lock file says; the zero Record if it says nothing.
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

// Holder is the first line of the lock file alone.
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

// Pauses between attendants that fail at once.
const (
	firstPause = 10 * time.Second
	mostPause  = 5 * time.Minute
)

// Fail notes that an attendant could not do its work. The next one is started after a pause,
// which doubles from one failure to the next.
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

// Paused is how much longer no attendant is started, because the last one failed.
func (r *Record) Paused(now time.Time) time.Duration {
	if r.Failed.IsZero() || now.Before(r.Failed) { // or the clock was set back
		return 0
	}
	return max(r.Failed.Add(r.Pause).Sub(now), 0)
}

// IsSecond reports whether it is the lock of an attendant beside one that is stopped.
func (l *Lock) IsSecond() bool { return l.place.second }
