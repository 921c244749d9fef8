//go:build unix

package memlog

import (
	"os"
	"syscall"
)

// lockWhole waits for a lock of a file, which closing it gives back.
func lockWhole(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX) }
