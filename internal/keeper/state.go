package keeper

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/placectl/placectl/internal/engine"
)

// DefaultState returns the directory of a user's attempts if the setting state_dir is empty.
func DefaultState(uid int) string { return engine.DefaultState(uid) }

// errState says that a state directory cannot be used. Others says that it belongs to another user,
// which is no fault of the node.
type errState struct {
	err    error
	others bool
}

func (e *errState) Error() string { return e.err.Error() }
func (e *errState) Unwrap() error { return e.err }

// state is the directory STATE, and in it the directory ID.EPOCH of a database.
type state struct {
	top   *os.Root
	epoch *os.Root
	path  string // of ID.EPOCH
}

// openState opens the directories, and makes missing ones. They must be accessible to us alone: a user
// who could write there could make us execute anything.
func openState(path, id, epoch string) (*state, error) {
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, &errState{fmt.Errorf("the state directory: %w", err), errors.Is(err, fs.ErrPermission)}
	}
	top, err := os.OpenRoot(path)
	if err != nil {
		return nil, &errState{fmt.Errorf("the state directory: %w", err), errors.Is(err, fs.ErrPermission)}
	}
	if err := checkState(top, path); err != nil {
		top.Close()
		return nil, err
	}
	name := id + "." + epoch
	s := &state{top: top, path: path + "/" + name}
	if err = top.Mkdir(name, 0o700); err == nil || errors.Is(err, fs.ErrExist) {
		s.epoch, err = top.OpenRoot(name)
	}
	if err != nil {
		top.Close()
		return nil, &errState{fmt.Errorf("the state directory: %w", err), false}
	}
	return s, nil
}

func (s *state) close() {
	s.epoch.Close()
	s.top.Close()
}

// checkState verifies the opened directory, because the path may lead elsewhere by now.
func checkState(top *os.Root, path string) error {
	is, err := top.Stat(".")
	if err != nil {
		return &errState{err, false}
	}
	named, err := os.Lstat(path)
	if err != nil {
		return &errState{err, false}
	}
	owner := is.Sys().(*syscall.Stat_t).Uid
	switch {
	case !os.SameFile(is, named):
		return &errState{fmt.Errorf("%s is a symbolic link and must be a directory", path), true}
	case int(owner) != os.Geteuid():
		return &errState{fmt.Errorf("%s belongs to user %d, not to %d: choose another with the setting state_dir", path,
			owner, os.Geteuid()), true}
	case is.Mode().Perm()&0o077 != 0:
		return &errState{fmt.Errorf("%s has mode %o, and others must not have access: chmod 700 it", path,
			is.Mode().Perm()), true}
	}
	if on := engine.NetworkFileSystem(path); on != "" {
		return &errState{fmt.Errorf("%s is on %s, where locks do not tell hosts apart: choose another with the "+
			"setting state_dir", path, on), false}
	}
	return nil
}

// epochs lists the directories of a database: its present epoch's and older ones.
func (s *state) epochs(id string) ([]string, error) {
	list, err := fs.ReadDir(s.top.FS(), ".")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range list {
		if strings.HasPrefix(e.Name(), id+".") && e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}
