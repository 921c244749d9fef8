package keeper

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// ending is the end of a process.
type ending struct {
	pid    int
	known  bool // how it ended is known
	status syscall.WaitStatus
	last   bool // no other child is left
}

// shell returns the exit status as in a shell.
func (e ending) shell() int {
	if e.status.Signaled() {
		return 128 + int(e.status.Signal())
	}
	return e.status.ExitStatus()
}

// reap reaps our children until none is left, and reports the end of command. Nothing else may wait
// for children meanwhile.
func reap(command int, ended chan<- ending) {
	defer close(ended)
	var end *ending // sent once it is known whether others are left
	for {
		options := 0
		if end != nil {
			options = unix.WNOHANG
		}
		var status syscall.WaitStatus
		pid, err := unix.Wait4(-1, (*unix.WaitStatus)(&status), options, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil || pid == 0:
			if end != nil {
				end.last = err != nil
				ended <- *end
			}
			if end = nil; err != nil {
				return
			}
		case pid == command:
			end = &ending{pid: pid, known: true, status: status}
		}
	}
}
