package attend

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Presence tells the cycles of other users on this host that this process executes its user's jobs
// of a database. It is an abstract socket, which the kernel removes when the process ends in any
// way. Package net is not used, because it would link the program to the C library.
type Presence struct {
	name     string
	listener *os.File
}

func presenceName(id, epoch string, uid uint32) string {
	return fmt.Sprintf("@placectl/%s.%s/%d", id, epoch, uid)
}

// Keep makes this process stand for its user, unless another one does already.
func (p *Presence) Keep(id, epoch string) {
	name := presenceName(id, epoch, uint32(os.Getuid()))
	if p.listener != nil && p.name == name {
		return
	}
	p.Close()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return // the next call tries again
	}
	listener := os.NewFile(uintptr(fd), name)
	raw, err := listener.SyscallConn()
	if err != nil || unix.Bind(fd, &unix.SockaddrUnix{Name: name}) != nil || unix.Listen(fd, 16) != nil {
		listener.Close() //nolint:errcheck // another process stands for the user; Keep is called again
		return
	}
	p.name, p.listener = name, listener
	go accept(raw)
}

// accept accepts connections and closes them until the listener is closed. Otherwise they would fill
// the listener's queue.
func accept(raw syscall.RawConn) {
	for {
		var err error
		closed := raw.Read(func(fd uintptr) bool {
			var c int
			if c, _, err = unix.Accept4(int(fd), unix.SOCK_CLOEXEC); err == nil {
				unix.Close(c) //nolint:errcheck // nothing was written
			}
			return err != unix.EAGAIN
		})
		if closed != nil || err != nil && err != unix.EINTR && err != unix.ECONNABORTED && err != unix.EMFILE {
			return
		}
		if err == unix.EMFILE {
			time.Sleep(time.Second)
		}
	}
}

// Close removes the socket.
func (p *Presence) Close() {
	if p.listener != nil {
		p.listener.Close() //nolint:errcheck // it is gone even after an error
		p.listener = nil
	}
}

// Present reports whether a process on this host stands for a user, and is running. A process of
// another user with that name does not count. Nor does a stopped process: the kernel accepts
// connections for it, but nothing closes them.
func Present(id, epoch string, uid uint32, look Look) bool {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	if unix.Connect(fd, &unix.SockaddrUnix{Name: presenceName(id, epoch, uid)}) != nil {
		return false // EAGAIN counts, too: the listener's queue is full
	}
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil || cred.Uid != uid {
		return false
	}
	if closed(fd, soon) {
		return true
	}
	if lives, stopped := look(int(cred.Pid), 0); lives && stopped {
		return false
	}
	return closed(fd, hearWithin) // this machine is busy, or it hides other users' processes
}

// soon is how long a process takes to close a connection on an idle machine.
const soon = 10 * time.Millisecond

// closed reports whether the other side closes a connection within a time.
func closed(fd int, within time.Duration) bool {
	until := time.Now().Add(within)
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}},
			int(max(time.Until(until), 0).Milliseconds()))
		if err != unix.EINTR {
			return n > 0
		}
	}
}
