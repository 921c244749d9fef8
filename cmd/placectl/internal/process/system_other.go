//go:build unix && !linux

package process

import (
	"errors"

	"golang.org/x/sys/unix"
)

// tryPoller opens the files of a poller and closes them: a queue of the kernel, and a pipe to wake it.
func tryPoller() error {
	queue, err := unix.Kqueue()
	if err != nil {
		return err
	}
	var pipe [2]int
	if err = unix.Pipe(pipe[:]); err == nil {
		err = errors.Join(unix.Close(pipe[0]), unix.Close(pipe[1]))
	}
	return errors.Join(err, unix.Close(queue))
}
