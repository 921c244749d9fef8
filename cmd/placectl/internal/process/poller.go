package process

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// MakePoller lets the Go runtime make what its timers and pipes wait with. It does that
// when it is first needed, and ends the process where no file can be opened any more,
// perhaps in the middle of something: so it is tried before anything is begun.
func MakePoller() error {
	poll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return fmt.Errorf("waiting for files: %w", err)
	}
	event, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err == nil {
		err = unix.Close(event)
	}
	if err = errors.Join(err, unix.Close(poll)); err != nil {
		return fmt.Errorf("waiting for files: %w", err)
	}
	time.AfterFunc(time.Hour, func() {}).Stop()
	return nil
}
