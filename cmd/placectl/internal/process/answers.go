package process

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Answers writes the answer of a run. It remembers the first error.
type Answers struct {
	io.Writer
	Err error // the first error, nil for none
}

func (a *Answers) Write(b []byte) (int, error) {
	if len(b) == 0 { // even this fails on a full device
		return 0, nil
	}
	n, err := a.Writer.Write(b)
	if err != nil && a.Err == nil {
		a.Err = err
	}
	return n, err
}

// IsUnread reports whether the answer goes into a pipe that no process reads any more. Err is then as after a write.
func (a *Answers) IsUnread() bool {
	pipe, ok := a.Writer.(*os.File)
	if !ok {
		return false
	}
	poll := []unix.PollFd{{Fd: int32(pipe.Fd())}}
	if n, err := unix.Poll(poll, 0); err != nil || n == 0 || poll[0].Revents&unix.POLLERR == 0 {
		return false
	}
	if a.Err == nil {
		a.Err = unix.EPIPE
	}
	return true
}
