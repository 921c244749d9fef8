package process

import (
	"errors"

	"golang.org/x/sys/unix"
)

// tryPoller opens the files of a poller and closes them.
func tryPoller() error {
	poll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return err
	}
	event, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err == nil {
		err = unix.Close(event)
	}
	return errors.Join(err, unix.Close(poll))
}
