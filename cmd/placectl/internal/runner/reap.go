package runner

import (
	"errors"
	"os"
	"syscall"
	"unsafe"

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

// awaitOther waits for a process that is not our child. From Linux 6.15 on, the kernel tells how it has
// ended to a process that had a pidfd for it at that time.
func awaitOther(pid int, born uint64) ending {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return ending{pid: pid}
	}
	file := os.NewFile(uintptr(fd), "pidfd")
	defer file.Close()
	if s, err := statOf(pid); err != nil || s.born != born {
		return ending{pid: pid} // the pid belongs to another process by now
	}
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for {
		if _, err := unix.Poll(poll, -1); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	return exitOf(fd, pid, born)
}

// exitOf returns how a process has ended, whether or not its parent has reaped it yet.
func exitOf(fd, pid int, born uint64) ending {
	e := ending{pid: pid}
	for wait := 0; wait < 50; wait++ {
		// The layout of the kernel's struct pidfd_info.
		var info struct {
			mask, cgroup uint64
			ids          [11]uint32
			exit         int32
			coredump     uint32
			_            uint32
			_            [8]uint64
		}
		const wantExit, getInfo = 1 << 3, 3<<30 | 64<<16 | 0xFF<<8 | 11
		info.mask = wantExit
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), getInfo, uintptr(unsafe.Pointer(&info)))
		if errno == 0 && info.mask&wantExit != 0 {
			e.known, e.status = true, syscall.WaitStatus(uint32(info.exit))
			return e
		}
		if s, err := statOf(pid); err == nil && s.born == born && s.state == 'Z' {
			e.known, e.status = true, s.exit
			return e
		}
		unix.Poll(nil, 10) //nolint:errcheck // a pause: its parent is about to reap it
	}
	return e
}
