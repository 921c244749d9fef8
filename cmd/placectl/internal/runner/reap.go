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
	known  bool // how it ended
	status syscall.WaitStatus
	last   bool // we have no child left
}

// shell is the exit status as a shell has it.
func (e ending) shell() int {
	if e.status.Signaled() {
		return 128 + int(e.status.Signal())
	}
	return e.status.ExitStatus()
}

// reap reaps our children until none is left, and tells of the end of one of them. Nothing
// else waits for children meanwhile.
func reap(command int, ended chan<- ending) {
	defer close(ended)
	var end *ending // to be told, once it is known whether others are left
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

// awaitOther waits for a process that is not our child. How it has ended the kernel says
// from Linux 6.15 on, to a process that had it open as it ended.
func awaitOther(pid int, born uint64) ending {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return ending{pid: pid}
	}
	file := os.NewFile(uintptr(fd), "pidfd")
	defer file.Close()
	if s, err := statOf(pid); err != nil || s.born != born {
		return ending{pid: pid} // the pid is another process's by now
	}
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for {
		if _, err := unix.Poll(poll, -1); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	return exitOf(fd, pid, born)
}

// exitOf is how a process has ended that its parent has reaped, or has still to reap.
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
