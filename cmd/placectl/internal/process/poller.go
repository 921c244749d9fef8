package process

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// spareFiles is how many files the process may open before the runtime needs two for its
// poller: the database, its lock, copies, pipes.
const spareFiles = 16

// CheckPoller fails if the Go runtime could not make the poller for its timers and pipes. The runtime
// makes it when it first needs one. If the process can open no more files by then, it ends, perhaps in
// the middle of something. So if files are short, CheckPoller makes the poller now.
func CheckPoller() error {
	if canOpen(spareFiles) {
		return nil
	}
	if err := tryPoller(); err != nil {
		return fmt.Errorf("waiting for files: %w", err)
	}
	time.AfterFunc(time.Hour, func() {}).Stop()
	return nil
}

// canOpen reports whether n more files can be open at the same time.
func canOpen(n int) bool {
	var files []int
	defer func() {
		for _, fd := range files {
			_ = unix.Close(fd) // a duplicate that is never written to
		}
	}()
	root, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	for err == nil {
		files = append(files, root)
		if len(files) == n {
			return true
		}
		root, err = unix.FcntlInt(uintptr(root), unix.F_DUPFD_CLOEXEC, 0)
	}
	return false
}
