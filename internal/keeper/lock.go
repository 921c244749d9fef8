package keeper

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// keeperName returns the name of the file that a host's keeper locks.
func keeperName(host string) string { return "keeper." + host }

// tryLock locks the file that has a name. It returns nil if another process holds the lock.
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

// inherits returns f if it is the file of that name, otherwise nil.
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
