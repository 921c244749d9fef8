package attend

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Place says where the lock, the bell and the log of a database's attendant are: in a directory
// that only the user can access.
type Place struct {
	Dir      string
	Database string // its absolute path
	base     string // the start of the files' names
	second   bool   // of an attendant beside a stopped one
}

// At returns the place in a directory for a database. It is the same for every path that leads to
// the database.
func At(dir, database string) Place {
	real, err := filepath.EvalSymlinks(database)
	if err != nil {
		real = database
	}
	sum := sha256.Sum256([]byte(real))
	return Place{Dir: dir, Database: database, base: dir + "/attend." + hex.EncodeToString(sum[:8])}
}

// Second returns the place of an attendant beside a stopped one. Two attendants do no harm.
func (p Place) Second() Place {
	p.second = true
	return p
}

// name returns the path of one of the files.
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
	if owner := info.Sys().(*syscall.Stat_t).Uid; !info.IsDir() || int(owner) != os.Geteuid() ||
		info.Mode()&0o022 != 0 {
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

// descriptor opens a file, which the caller must close. It skips what os.OpenFile does for files that
// can be waited for, because each command that changes something calls it.
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

// File returns the path of another file of this user and database, in a folder that it makes.
func (p Place) File(folder, name string) (string, error) {
	if err := p.prepare(); err != nil {
		return "", err
	}
	dir := filepath.Join(p.Dir, folder)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return filepath.Join(dir, strings.TrimPrefix(filepath.Ext(p.base), ".")+"."+name), nil
}

// Log opens a new file for the attendant's output.
func (p Place) Log() (*os.File, error) { return p.open(".log", os.O_CREATE|os.O_WRONLY|os.O_TRUNC) }

// agentFile holds the path of the ssh agent's socket, as the user's last command had it.
const agentFile = "ssh-agent"

// KeepAgent saves the socket of the user's ssh agent for attendants, which have none of their own.
// An empty socket changes nothing.
func (p Place) KeepAgent(socket string) {
	path := filepath.Join(p.Dir, agentFile)
	if socket == "" || p.Agent() == socket || p.prepare() != nil {
		return
	}
	if os.WriteFile(path+".new", []byte(socket), 0o600) == nil {
		os.Rename(path+".new", path) //nolint:errcheck // then the old one stays
	}
}

// Agent returns the socket saved last, "" for none.
func (p Place) Agent() string {
	socket, _ := os.ReadFile(filepath.Join(p.Dir, agentFile))
	return string(socket)
}
