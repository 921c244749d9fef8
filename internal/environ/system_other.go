//go:build unix && !linux

package environ

import (
	"errors"

	"golang.org/x/sys/unix"
)

// limitOf reads a limit of this process, whose number here is 0. The limits of others are unknown.
func limitOf(pid, id int, is *unix.Rlimit) error {
	if pid != 0 {
		return errors.ErrUnsupported
	}
	return unix.Getrlimit(id, is)
}

// Umask returns this process's umask, which for a moment is a strict one.
func Umask() uint32 {
	mask := unix.Umask(0o077)
	unix.Umask(mask)
	return uint32(mask)
}
