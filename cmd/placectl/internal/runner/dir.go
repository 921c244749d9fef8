package runner

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/bytejson"
	"github.com/placectl/placectl/store"
	"golang.org/x/sys/unix"
)

// The files of an attempt's directory.
const (
	journalFile = "journal" // who claims, and which process executes
	resultFile  = "result"  // what came of it
	gaveUpFile  = "gave-up" // the gate has ended without executing anything
	stopFile    = "stop"    // it is to be stopped
	bellFile    = "bell"    // a pipe that wakes the supervisor
	scriptFile  = "script"
	nodesFile   = "nodes"
	devicesFile = "devices"
	signalFile  = "signal" // signals wait for its processes
	tmpDir      = "tmp"

	elsewhereDir = "elsewhere" // a file for each command that was sent to another node
)

// errHeld is a directory that another process has locked.
var errHeld = errors.New("somebody else is at it")

// dir is the directory of an attempt, locked by us. Its files are opened relative to it:
// what its path leads to may be another one by then.
type dir struct {
	Key
	in   *os.Root // the directory of its epoch
	root *os.Root
	lock *os.File
	path string
}

// lockDir locks the directory of an attempt, and makes it where it is to. It fails with
// errHeld, or with fs.ErrNotExist where there is none.
func (s *state) lockDir(k Key, create bool) (*dir, error) {
	for {
		if create {
			if err := s.epoch.Mkdir(k.String(), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
				return nil, err
			}
		}
		d, err := s.tryLock(k)
		if d == nil && err == nil || create && errors.Is(err, fs.ErrNotExist) {
			continue // it was removed in the meantime
		}
		return d, err
	}
}

// tryLock locks a directory. It returns nil where the path leads to another one by now.
func (s *state) tryLock(k Key) (*dir, error) {
	root, err := s.epoch.OpenRoot(k.String())
	if err != nil {
		return nil, err
	}
	d := &dir{Key: k, in: s.epoch, root: root, path: s.path + "/" + k.String()}
	if d.lock, err = root.Open("."); err != nil {
		root.Close()
		return nil, err
	}
	if err = unix.Flock(int(d.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		d.close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = errHeld
		}
		return nil, err
	}
	ours, err := d.lock.Stat()
	var named fs.FileInfo
	if err == nil {
		named, err = s.epoch.Lstat(k.String())
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	case err == nil && os.SameFile(ours, named):
		return d, nil
	case err == nil && !named.IsDir():
		err = &fs.PathError{Op: "open", Path: d.path, Err: unix.ENOTDIR}
	}
	d.close()
	return nil, err
}

// epoch is that of the database under which the attempt was begun.
func (d *dir) epoch() string {
	_, epoch, _ := strings.Cut(filepath.Base(filepath.Dir(d.path)), ".")
	return epoch
}

// result is a result of the attempt.
func (d *dir) result(n store.Nonce, o store.Outcome) *store.Result {
	r := d.Key.result(n, o)
	r.Epoch = d.epoch()
	return r
}

// close gives the lock back.
func (d *dir) close() {
	d.lock.Close()
	d.root.Close()
}

// removed reports whether somebody else has removed the directory.
func (d *dir) removed() bool {
	var s unix.Stat_t
	return unix.Fstat(int(d.lock.Fd()), &s) == nil && s.Nlink == 0
}

// has reports whether a file is there.
func (d *dir) has(name string) bool {
	_, err := d.root.Lstat(name)
	return err == nil
}

// write writes a file anew, as a whole.
func (d *dir) write(name string, content []byte, mode fs.FileMode) error {
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

// remove removes the directory. The result goes before the journal: without a journal
// somebody would begin anew, which only the database prevents then.
func (d *dir) remove() error {
	list, err := fs.ReadDir(d.root.FS(), ".")
	if err != nil {
		return err
	}
	last := []string{resultFile, journalFile}
	for _, e := range list {
		if name := e.Name(); name != resultFile && name != journalFile {
			if err := d.root.RemoveAll(name); err != nil {
				return err
			}
		}
	}
	for _, name := range last {
		if err := d.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return d.in.Remove(d.String())
}

// spool keeps a result until the database has it.
func (d *dir) spool(r *store.Result) error {
	text, err := bytejson.Marshal(r)
	if err != nil {
		return err
	}
	f, err := d.root.OpenFile(resultFile+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return d.root.Rename(resultFile+".new", resultFile)
}

// syncResult has a result outlive a loss of power, as one should that the database does not have.
func (d *dir) syncResult() error {
	f, err := d.root.Open(resultFile)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close(), d.lock.Sync())
}

// spooled is the result that is spooled, nil for none.
func (d *dir) spooled() (*store.Result, error) {
	text, err := d.root.ReadFile(resultFile)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !bytes.HasSuffix(text, []byte("\n")) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := new(store.Result)
	if bytejson.Unmarshal(text, r) != nil || r.Job != d.Job || r.Attempt != d.Number {
		return nil, nil // a loss of power: nobody knows how it ended
	}
	return r, nil
}
