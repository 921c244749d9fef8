package runner

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// keeperName is the file that the keeper of a host has locked.
func keeperName(host string) string { return "keeper." + host }

// tryLock locks a file that is there under its name; nil if another process has it.
func (s *state) tryLock(name string) (*os.File, error) {
	for {
		f, err := s.epoch.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, err
		}
		if err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			f.Close()
			if errors.Is(err, unix.EWOULDBLOCK) {
				err = nil
			}
			return nil, err
		}
		ours, err := f.Stat()
		named, missing := s.epoch.Lstat(name)
		if err == nil && missing == nil && os.SameFile(ours, named) {
			return f, nil
		}
		f.Close()
		if err = errors.Join(err, missing); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
}

// inherits is a file if it is the one of a name; else nil.
func (s *state) inherits(f *os.File, name string) *os.File {
	if f == nil {
		return nil
	}
	ours, err := f.Stat()
	named, missing := s.epoch.Lstat(name)
	if err != nil || missing != nil || !os.SameFile(ours, named) {
		f.Close()
		return nil
	}
	return f
}
