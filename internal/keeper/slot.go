package keeper

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/internal/engine"
	"golang.org/x/sys/unix"
)

// The files of a slot.
const (
	journalFile = "journal" // the state of the attempt in the slot
	toldFile    = "told"    // a pipe that carries the warden's lines, which it also writes into the journal
	scriptFile  = "script"
	nodesFile   = "nodes"
	devicesFile = "devices"
	tmpDir      = "tmp"

	elsewhereDir = "elsewhere" // a file for each command sent to another node
)

// slotPrefix begins the names of slots. Hosts that share the directory have separate slots.
const slotPrefix = "slot."

// slot is a directory that attempts use one after the other. Each keeps it from its claim until the
// database knows how it ended. A slot is free if its journal is empty.
type slot struct {
	Key    // of the attempt in the slot
	nonce  engine.Nonce
	name   string
	path   string
	root   *os.Root
	in     *os.Root          // the directory of its epoch
	lines  *os.File          // the journal, open for writing
	wrote  map[string]string // the contents of our own files
	broken bool              // it cannot be emptied
}

// openSlot opens a slot, or makes a new one.
func (s *state) openSlot(name string) (*slot, error) {
	if err := s.epoch.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	root, err := s.epoch.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	sl := &slot{name: name, path: s.path + "/" + name, root: root, in: s.epoch, wrote: make(map[string]string)}
	for _, dir := range []string{tmpDir, elsewhereDir} {
		if err = root.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			root.Close()
			return nil, err
		}
	}
	if sl.lines, err = root.OpenFile(journalFile, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
		root.Close()
		return nil, err
	}
	if err = unix.Mkfifo(sl.path+"/"+toldFile, 0o600); err != nil && !errors.Is(err, fs.ErrExist) {
		sl.close()
		return nil, &os.PathError{Op: "mkfifo", Path: sl.path + "/" + toldFile, Err: err}
	}
	return sl, nil
}

func (sl *slot) close() {
	sl.lines.Close()
	sl.root.Close()
}

// epoch returns the database's epoch in which the attempt was begun.
func (sl *slot) epoch() string {
	_, epoch, _ := strings.Cut(filepath.Base(filepath.Dir(sl.path)), ".")
	return epoch
}

// result returns a result of the attempt.
func (sl *slot) result(o engine.Outcome) *engine.Result {
	r := sl.Key.result(sl.nonce, o)
	r.Epoch = sl.epoch()
	return r
}

// give gives the slot to an attempt that is about to be claimed.
func (sl *slot) give(k Key, i intent) error {
	sl.Key, sl.nonce = k, i.Nonce
	i.Attempt = k.String()
	return sl.add(&line{Intent: &i})
}

// free frees the slot.
func (sl *slot) free() error {
	sl.Key, sl.nonce = Key{}, engine.Nonce{}
	left := emptyDir(sl.root, sl.path, tmpDir, elsewhereDir)
	sl.broken = sl.broken || left != nil // the next attempt would see what this one left
	cut := sl.lines.Truncate(0)
	return errors.Join(left, cut)
}

// isRemoved reports whether another process has removed the slot.
func (sl *slot) isRemoved() bool {
	var s unix.Stat_t
	return unix.Fstat(int(sl.lines.Fd()), &s) == nil && s.Nlink == 0
}

// write rewrites a file unless it already has that content.
func (sl *slot) write(name, content string, mode fs.FileMode) error {
	if was, ok := sl.wrote[name]; ok && was == content {
		return nil
	}
	delete(sl.wrote, name)
	if err := sl.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err := sl.root.WriteFile(name, []byte(content), mode)
	if err == nil {
		sl.wrote[name] = content
	}
	return err
}

// emptyDir removes the contents of the named directories of a root, or of the root itself. A command
// may have left directories that even their owner cannot write to.
func emptyDir(root *os.Root, path string, names ...string) error {
	if len(names) == 0 {
		names = []string{"."}
	}
	var failed []error
	for _, name := range names {
		list, err := fs.ReadDir(root.FS(), name)
		if errors.Is(err, fs.ErrNotExist) {
			err = root.Mkdir(name, 0o700)
		}
		failed = append(failed, err)
		for _, e := range list {
			is := filepath.Join(name, e.Name())
			if err := root.RemoveAll(is); err != nil {
				//nolint:errcheck // the caller tries again
				filepath.WalkDir(path+"/"+is, func(at string, d fs.DirEntry, err error) error {
					if d != nil && d.IsDir() {
						unix.Fchmodat(unix.AT_FDCWD, at, 0o700, unix.AT_SYMLINK_NOFOLLOW) //nolint:errcheck // as before
					}
					return nil
				})
				failed = append(failed, root.RemoveAll(is))
			}
		}
	}
	return errors.Join(failed...)
}

// slots lists a host's slots in an epoch.
func (s *state) slots(host string) (names []string, err error) {
	list, err := fs.ReadDir(s.epoch.FS(), ".")
	if err != nil {
		return nil, err
	}
	for _, e := range list {
		if _, ours := slotNumber(host, e.Name()); ours && e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// removeFree removes a host's free slots, and lists the others.
func (s *state) removeFree(host string) (taken []string, err error) {
	names, err := s.slots(host)
	for _, name := range names {
		if s.isTaken(name) {
			taken = append(taken, name)
		} else {
			s.epoch.RemoveAll(name) //nolint:errcheck // the slot is reused then
		}
	}
	return taken, err
}

// isTaken reports whether an attempt has a slot.
func (s *state) isTaken(name string) bool {
	info, err := s.epoch.Stat(name + "/" + journalFile)
	return err == nil && info.Size() > 0
}

// slotsOf returns the prefix of the names of a host's slots.
func slotsOf(host string) string { return slotPrefix + host + "-" }

func slotName(host string, n int) string { return slotsOf(host) + strconv.Itoa(n) }

// slotNumber returns the number of a host's slot, false for any other name.
func slotNumber(host, name string) (n int, ok bool) {
	text, ok := strings.CutPrefix(name, slotsOf(host))
	n, err := strconv.Atoi(text)
	return n, ok && err == nil && n >= 0 && n < maxSlots
}

// maxSlots bounds the numbers of slots.
const maxSlots = 1 << 20

// bootClock returns the time since the host was started, including suspends. It cannot be set.
func bootClock() time.Duration {
	var t unix.Timespec
	unix.ClockGettime(sinceBoot, &t) //nolint:errcheck // the system has this clock
	return time.Duration(t.Nano())
}

// listen opens the pipe to which an attempt's warden writes.
func (a *attendance) listen() (err error) {
	path := a.slot.path + "/" + toldFile
	if a.told, err = unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0); err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	return nil
}

// endPipe makes a pipe that is open for reading end once it has no writer, even if the last one had left
// before: a process that is being killed may leave the pipe first and the lock of the journal later.
func (sl *slot) endPipe() {
	if fd, err := unix.Open(sl.path+"/"+toldFile, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC,
		0); err == nil {
		unix.Close(fd) //nolint:errcheck // nothing was written
	}
}
