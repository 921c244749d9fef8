package memlog

import (
	"os"

	"golang.org/x/sys/windows"
)

// lockWhole waits for a lock of a file, which closing it gives back.
func lockWhole(f *os.File) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, new(windows.Overlapped))
}
