// Package kick has a process started that does what a commit calls for, one at a time. Who
// kicks while one is at it makes it go round once more; who kicks while another is about to
// begin has nothing to do, for that one will find his commit.
//
// Two locks say so. Whoever holds next is about to begin, and waits for run; having that he
// lets go of next, and only then looks at the database. The kernel frees both when a process
// ends, however it does. A third, attended, is shared by those who do the same all the time.
package kick

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// Variable tells a process that it was kicked: it is to wait for its turn.
const Variable = "PLACECTL_KICKED"

// Place is where the locks of a database lie, in a directory that is the user's alone.
type Place struct {
	Dir      string
	Database string // its absolute path
}

func (p Place) open(name string) (*os.File, error) {
	if err := os.Mkdir(p.Dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	info, err := os.Lstat(p.Dir)
	if err != nil {
		return nil, err
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; !info.IsDir() || int(owner) != os.Geteuid() || info.Mode()&0o022 != 0 {
		return nil, fmt.Errorf("%s is not a directory that is ours alone", p.Dir)
	}
	sum := sha256.Sum256([]byte(p.Database))
	path := filepath.Join(p.Dir, "kick."+hex.EncodeToString(sum[:8])+"."+name)
	return os.OpenFile(path, os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
}

// lock takes a lock; nil where it is not to be had at once and how says not to wait.
func (p Place) lock(name string, how int) (*os.File, error) {
	f, err := p.open(name)
	if err != nil {
		return nil, err
	}
	for {
		switch err := unix.Flock(int(f.Fd()), how); err {
		case nil:
			return f, nil
		case unix.EINTR:
		case unix.EWOULDBLOCK:
			return nil, f.Close()
		default:
			f.Close()
			return nil, err
		}
	}
}

// Begin calls start with the lock of who is about to begin, for a process that inherits it
// as its descriptor 3. It does not where one is about to begin already, or somebody attends.
func (p Place) Begin(start func(next *os.File) error) error {
	attended, err := p.lock("attended", unix.LOCK_EX|unix.LOCK_NB)
	if err != nil || attended == nil {
		return err
	}
	attended.Close()
	next, err := p.lock("next", unix.LOCK_EX|unix.LOCK_NB)
	if err != nil || next == nil {
		return err
	}
	defer next.Close()
	return start(next)
}

// Turn waits, in the process that was started, for its turn. It is over with the process, or
// when the file is closed.
func (p Place) Turn() (*os.File, error) {
	run, err := p.lock("run", unix.LOCK_EX)
	unix.Close(3)
	return run, err
}

// Attend says, until the file is closed, that nobody has to be kicked.
func (p Place) Attend() (*os.File, error) { return p.lock("attended", unix.LOCK_SH) }
