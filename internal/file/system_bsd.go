//go:build unix && !linux && !darwin

package file

import (
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Without locks of bytes by open file description, each byte is a file of its own, locked whole:
// the seat the lock file itself, the others files beside it.
var (
	byteFilesMu sync.Mutex
	byteFiles   = map[*os.File]map[int64]*os.File{}
)

// fileOfByte returns the file that stands for a byte.
func fileOfByte(f *os.File, at int64) (*os.File, error) {
	if at == lockSeat {
		return f, nil
	}
	byteFilesMu.Lock()
	defer byteFilesMu.Unlock()
	if is := byteFiles[f][at]; is != nil {
		return is, nil
	}
	is, err := os.OpenFile(fmt.Sprintf("%s-%d", f.Name(), at), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if byteFiles[f] == nil {
		byteFiles[f] = map[int64]*os.File{}
	}
	byteFiles[f][at] = is
	return is, nil
}

func lockByte(f *os.File, how lockHow, at int64, wait bool) error {
	is, err := fileOfByte(f, at)
	if err != nil {
		return err
	}
	cmd := [...]int{unlocked: unix.LOCK_UN, forReading: unix.LOCK_SH, forWriting: unix.LOCK_EX}[how]
	if !wait {
		cmd |= unix.LOCK_NB
	}
	for {
		if err := unix.Flock(int(is.Fd()), cmd); err != unix.EINTR {
			return err
		}
	}
}

func byteLocked(f *os.File, at int64) bool {
	probe, err := os.OpenFile(fmt.Sprintf("%s-%d", f.Name(), at), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return true
	}
	defer probe.Close()
	return lockWhole(probe, forWriting) != nil
}

func unlockBytes(f *os.File) error {
	byteFilesMu.Lock()
	defer byteFilesMu.Unlock()
	for _, is := range byteFiles[f] {
		is.Close()
	}
	delete(byteFiles, f)
	return unlockWhole(f)
}

// renameAs has no rename that fails if the name is taken: callers then use links.
func renameAs(from, to string, how renameHow) error {
	if how != replace {
		return unix.ENOSYS
	}
	return os.Rename(from, to)
}
