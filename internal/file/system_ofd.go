//go:build linux || darwin

package file

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

var lockTypes = [...]int16{unlocked: unix.F_UNLCK, forReading: unix.F_RDLCK, forWriting: unix.F_WRLCK}

// lockByte locks a byte of a lock file, by open file description.
func lockByte(f *os.File, how lockHow, at int64, wait bool) error {
	cmd := ofdSetLk
	if wait {
		cmd = ofdSetLkW
	}
	for {
		err := unix.FcntlFlock(f.Fd(), cmd, &unix.Flock_t{Type: lockTypes[how], Whence: io.SeekStart, Start: at,
			Len: 1})
		if err != unix.EINTR {
			return err
		}
	}
}

// byteLocked reports whether another file description has locked a byte.
func byteLocked(f *os.File, at int64) bool {
	l := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart, Start: at, Len: 1}
	err := unix.FcntlFlock(f.Fd(), ofdGetLk, &l)
	return err != nil || l.Type != unix.F_UNLCK
}

// unlockBytes unlocks all bytes of a lock file.
func unlockBytes(f *os.File) error {
	return unix.FcntlFlock(f.Fd(), ofdSetLk, &unix.Flock_t{Type: unix.F_UNLCK})
}
