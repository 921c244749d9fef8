package attend

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

// Place is where the lock, the bell and the log of a database's attendant lie: in a
// directory that is the user's alone.
type Place struct {
	Dir      string
	Database string // its absolute path
	base     string // the start of the files' names
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

// Log is a new file for what the attendant says.
func (p Place) Log() (*os.File, error) { return p.open(".log", os.O_CREATE|os.O_WRONLY|os.O_TRUNC) }

// LogName is its path.
func (p Place) LogName() string { return p.name(".log") }

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
