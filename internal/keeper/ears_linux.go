package keeper

import (
	"os"
	"strings"
	"sync"

	"github.com/placectl/placectl/internal/gate"
	"golang.org/x/sys/unix"
)

// ears hear what all wardens report, in one goroutine. Each warden has a pipe, and there may be
// thousands.
type ears struct {
	fd    int // an epoll descriptor
	poll  *os.File
	over  chan struct{} // closed when nothing listens there
	mu    sync.Mutex
	pipes map[int]*attendance
}

// newEars starts to listen.
func newEars() (*ears, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	unix.SetNonblock(fd, true) //nolint:errcheck // fd is valid; Go's poller needs it so
	e := &ears{fd: fd, poll: os.NewFile(uintptr(fd), "ears"), over: make(chan struct{}),
		pipes: make(map[int]*attendance)}
	go e.listen()
	return e, nil
}

// close closes the pipes as well, whose writers may go on.
func (e *ears) close() {
	e.poll.Close()
	<-e.over
	e.mu.Lock()
	defer e.mu.Unlock()
	for pipe := range e.pipes {
		unix.Close(pipe) //nolint:errcheck // it was only read
	}
}

// add listens to a pipe for an attendance. The pipe is closed once its writers are gone.
func (e *ears) add(pipe int, a *attendance) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pipes[pipe] = a
	err := unix.EpollCtl(e.fd, unix.EPOLL_CTL_ADD, pipe, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(pipe)})
	if err != nil { // the user's limit of watches is reached
		unix.SetNonblock(pipe, false) //nolint:errcheck // the pipe is valid
		delete(e.pipes, pipe)
		go func() {
			for text := make([]byte, 4096); e.read(pipe, a, text); {
			}
		}()
	}
}

// listen passes on what wardens report until the ears are closed.
func (e *ears) listen() {
	defer close(e.over)
	raw, err := e.poll.SyscallConn()
	if err != nil {
		return
	}
	var ready [64]unix.EpollEvent
	var text [4096]byte
	for {
		n := 0
		if raw.Read(func(poll uintptr) bool {
			n, _ = unix.EpollWait(int(poll), ready[:], 0) //nolint:errcheck // then the loop asks again
			return n > 0
		}) != nil {
			return
		}
		for _, pipe := range ready[:n] {
			e.mu.Lock()
			a := e.pipes[int(pipe.Fd)]
			e.mu.Unlock()
			e.read(int(pipe.Fd), a, text[:])
		}
	}
}

// read reads a pipe, and reports whether more may come. Each line was written in one write.
func (e *ears) read(pipe int, a *attendance, text []byte) (more bool) {
	n, err := unix.Read(pipe, text)
	if err == unix.EAGAIN || err == unix.EINTR {
		return true
	}
	if n <= 0 {
		e.mu.Lock()
		delete(e.pipes, pipe)
		e.mu.Unlock()
		//nolint:errcheck // a gate just forked may still have the pipe open
		unix.EpollCtl(e.fd, unix.EPOLL_CTL_DEL, pipe, nil)
		unix.Close(pipe) //nolint:errcheck // it was only read
		a.hear(func(n *news) { n.gone = true })
		return false
	}
	var said []gate.Said
	for line := range strings.Lines(string(text[:n])) {
		if line, whole := gate.Unsealed(strings.TrimSuffix(line, "\n")); whole {
			if s, ok := a.launched.Heard(line); ok {
				said = append(said, s)
			}
		}
	}
	if said != nil {
		a.hear(func(n *news) { n.said = append(n.said, said...) })
	}
	return true
}
