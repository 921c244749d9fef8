package attend

import (
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Presence tells the cycles of other users on this host that a process here executes its
// user's jobs of a database. It is a socket with a name in no directory, which ends with the
// process, whatever ends that: being here is no row that somebody would have to take away.
type Presence struct {
	name     string
	listener net.Listener
}

func presenceName(id, epoch string, uid uint32) string {
	return fmt.Sprintf("@placectl/%s.%s/%d", id, epoch, uid)
}

// Keep makes this process the one that stands for its user, unless another one does.
func (p *Presence) Keep(id, epoch string) {
	name := presenceName(id, epoch, uint32(os.Getuid()))
	if p.listener != nil && p.name == name {
		return
	}
	p.Close()
	l, err := net.Listen("unix", name)
	if err != nil {
		return // another process stands for the user; Keep is called again
	}
	p.name, p.listener = name, l
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
}

// Close takes it back.
func (p *Presence) Close() {
	if p.listener != nil {
		p.listener.Close() //nolint:errcheck // it is gone then as well
		p.listener = nil
	}
}

// Present reports whether a process of a user does so on this host. A process of another user
// that has taken the name does not count.
func Present(id, epoch string, uid uint32) bool {
	c, err := net.DialTimeout("unix", presenceName(id, epoch, uid), time.Second)
	if err != nil {
		return false
	}
	defer c.Close()
	raw, err := c.(*net.UnixConn).SyscallConn()
	if err != nil {
		return false
	}
	is := false
	err = raw.Control(func(fd uintptr) {
		cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		is = err == nil && cred.Uid == uid
	})
	return err == nil && is
}
