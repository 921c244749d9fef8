// Package attend has a queue looked after without a daemon. A command that has changed the
// database leaves a process behind, the attendant, which makes cycles and starts jobs, and
// ends when there is nothing left to do. There is at most one for each host, user and
// database: the one that holds a lock.
//
// No change is overlooked. A command commits, and then tries the lock. If it gets it, it
// starts an attendant, which has the lock from its first instant. If not, it rings the bell
// of the one that has it. An attendant that leaves lets go of the lock, and only then looks
// once more whether anything was committed since it last looked; if so, it tries the lock
// again. So a command whose try was refused had committed before that last look. The model
// in protocol_test.go goes through every interleaving of the steps.
package attend

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/bytejson"
	"golang.org/x/sys/unix"
)

// Place is where the lock, the bell and the log of a database's attendant lie: in a
// directory that is the user's alone.
type Place struct {
	Dir      string
	Database string // its absolute path
	base     string // what the names of the files begin with
	second   bool   // of an attendant beside one that does not go on
}

// At is the place in a directory for a database. Every path that leads to the database gives
// the same.
func At(dir, database string) Place {
	real, err := filepath.EvalSymlinks(database)
	if err != nil {
		real = database
	}
	sum := sha256.Sum256([]byte(real))
	return Place{Dir: dir, Database: database, base: dir + "/attend." + hex.EncodeToString(sum[:8])}
}

// Second is the place of an attendant beside one that is stopped. Two do no harm.
func (p Place) Second() Place {
	p.second = true
	return p
}

// name is the path of one of the files.
func (p Place) name(suffix string) string {
	if p.second {
		suffix = ".second" + suffix
	}
	return p.base + suffix
}

func (p Place) prepare() error {
	info, err := os.Lstat(p.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.Mkdir(p.Dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		info, err = os.Lstat(p.Dir)
	}
	if err != nil {
		return err
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; !info.IsDir() || int(owner) != os.Geteuid() || info.Mode()&0o022 != 0 {
		return fmt.Errorf("%s must be a directory that only its user can write", p.Dir)
	}
	return nil
}

// open opens a file.
func (p Place) open(suffix string, flags int) (*os.File, error) {
	fd, err := p.descriptor(suffix, flags)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), p.name(suffix)), nil
}

// descriptor is an open file that must be closed. It leaves out what os.OpenFile does so that others
// can wait for a file: each command that changes something comes by here.
func (p Place) descriptor(suffix string, flags int) (fd int, err error) {
	for {
		switch fd, err = unix.Open(p.name(suffix), flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600); err {
		case nil:
			return fd, nil
		case unix.EINTR:
		default:
			return -1, &os.PathError{Op: "open", Path: p.name(suffix), Err: err}
		}
	}
}

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

// Leave starts an attendant if there is none, with the lock, and rings the bell of the one
// that is there. A reader does not ring: it has changed nothing. An attendant that is stopped,
// or has not heard its bell for a second, gets another one beside it; one that was killed
// and still has the lock is waited for.
func (p Place) Leave(ring bool, now time.Time, look Look, start func(*Lock) error) error {
	l, is, err := p.try()
	for tries := 0; l == nil; tries++ {
		if err != nil {
			return err
		}
		unheard := p.ring(ring)
		lives, stopped := look(is.PID, is.Born)
		switch {
		case is.PID == 0 || tries == dyingTries:
			return nil
		case lives && !p.second && (unheard || stopped):
			return p.Second().Leave(ring, now, look, start)
		case lives:
			return nil
		}
		time.Sleep(dyingPause)
		l, is, err = p.try()
	}
	defer l.Close() // the attendant holds it
	if last := l.read(); last.Paused(now) > 0 {
		return fmt.Errorf("the last attendant failed: %s; the next one is started in %v", last.Why, last.Paused(now).Round(time.Second))
	}
	return start(l)
}

// Look looks at the process of a pid that began at an instant, 0 for any.
type Look func(pid int, born uint64) (lives, stopped bool)

// The threads of a process that was killed end one by one, and the lock is free behind the last.
const (
	dyingTries = 50
	dyingPause = 2 * time.Millisecond
)

// hearWithin is how long an attendant that goes on takes at most to hear its bell.
const hearWithin = time.Second

// ring wakes the attendant, if it listens, and reports whether it was rung long ago and has
// not heard that. One that does not yet listen has yet to look at the database for the first
// time. A bell that still rings is heard after this change, too.
func (p Place) ring(does bool) (unheard bool) {
	fd, err := p.descriptor(".bell", os.O_WRONLY|unix.O_NONBLOCK)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	if n, err := unix.IoctlGetInt(fd, unix.TIOCINQ); err == nil && n > 0 {
		var bell unix.Stat_t
		return unix.Fstat(fd, &bell) == nil && time.Since(time.Unix(bell.Mtim.Unix())) > hearWithin
	}
	if does {
		unix.Write(fd, []byte{1}) //nolint:errcheck // the attendant has ended
	}
	return false
}

// Listen tells from now on when the bell is rung.
func (l *Lock) Listen() (rung <-chan struct{}, err error) {
	name := l.place.name(".bell")
	if err := unix.Mkfifo(name, 0o600); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, &os.PathError{Op: "mkfifo", Path: name, Err: err}
	}
	f, err := l.place.open(".bell", os.O_RDWR|unix.O_NONBLOCK) // for writing, too: then it never comes to its end
	if err != nil {
		return nil, err
	}
	l.bell = f
	c := make(chan struct{}, 1)
	go func() {
		b := make([]byte, 512)
		for {
			if _, err := f.Read(b); err != nil {
				return
			}
			select {
			case c <- struct{}{}:
			default:
			}
		}
	}()
	return c, nil
}

// Log is a new file for what the attendant says.
func (p Place) Log() (*os.File, error) { return p.open(".log", os.O_CREATE|os.O_WRONLY|os.O_TRUNC) }

// LogName is its path.
func (p Place) LogName() string { return p.name(".log") }

// Steps are what an attendant does between the steps that keep changes from being overlooked.
type Steps[S comparable] struct {
	Begin func(*Lock) error // it has the lock from now on, and is to listen
	State func() S          // of the database; those of two instants differ if something was committed between them
	Act   func()            // looks at the database, and does what it finds to do
	Wait  func() bool       // until something may have happened; false: it is time to leave
}

// Attend attends until it is time to leave and nothing was overlooked, or another process has
// the lock.
func Attend[S comparable](l *Lock, s Steps[S]) error {
	for {
		if err := s.Begin(l); err != nil {
			l.Close()
			return err
		}
		seen := s.stay()
		l.Close()
		if s.State() == seen {
			return nil
		}
		var err error
		if l, err = l.place.Try(); l == nil {
			return err
		}
	}
}

// stay acts until it is time to leave. It returns the state that was acted on last.
func (s Steps[S]) stay() S {
	for {
		seen := s.State()
		s.Act()
		if s.State() == seen && !s.Wait() {
			return seen
		}
	}
}

// agentFile names the socket of the ssh agent that the last command of the user had.
const agentFile = "ssh-agent"

// KeepAgent notes the socket of the user's ssh agent for attendants, which have none of
// their own; "" for none, which changes nothing.
func (p Place) KeepAgent(socket string) {
	path := filepath.Join(p.Dir, agentFile)
	if socket == "" || p.Agent() == socket || p.prepare() != nil {
		return
	}
	if os.WriteFile(path+".new", []byte(socket), 0o600) == nil {
		os.Rename(path+".new", path) //nolint:errcheck // the old one stays
	}
}

// Agent is the socket that was noted last, "" for none.
func (p Place) Agent() string {
	socket, _ := os.ReadFile(filepath.Join(p.Dir, agentFile))
	return string(socket)
}
