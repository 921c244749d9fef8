//go:build etcd

package etcd

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The states of the way to a member.
const (
	wayOpen    = iota
	waySlow    // what is sent comes late
	wayBlocked // what is sent comes when the way is open again
	wayCut     // connections are reset, and none is taken
)

// way is what is between a machine and a member: a network that can be slow, lose what is
// under way, or let nothing pass, while the member itself works.
type way struct {
	Host  string // the address at which the machine reaches the member
	state atomic.Int32

	mu    sync.Mutex
	conns map[net.Conn]bool
}

// newWay makes a way to a member.
func newWay(t *testing.T, host string) *way {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &way{Host: l.Addr().String(), conns: make(map[net.Conn]bool)}
	t.Cleanup(func() { l.Close(); w.set(wayCut) })
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			go w.carry(from, host)
		}
	}()
	return w
}

// set sets the state of the way.
func (w *way) set(state int32) {
	w.state.Store(state)
	if state != wayCut {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.conns {
		_ = c.(*net.TCPConn).SetLinger(0) // a reset, and what was not sent is lost
		c.Close()
	}
	clear(w.conns)
}

// keep notes a connection, unless the way is cut.
func (w *way) keep(list ...net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range list {
		if w.state.Load() == wayCut {
			c.Close()
			continue
		}
		w.conns[c] = true
	}
	return w.state.Load() != wayCut
}

// carry takes a connection to the member.
func (w *way) carry(from net.Conn, host string) {
	to, err := net.Dial("tcp", host)
	if err != nil {
		from.Close()
		return
	}
	if !w.keep(from, to) {
		from.Close()
		to.Close()
		return
	}
	go w.pass(to, from)
	w.pass(from, to)
}

// pass copies bytes in one direction until the connection ends.
func (w *way) pass(to, from net.Conn) {
	defer to.Close()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		for w.state.Load() == wayBlocked {
			time.Sleep(5 * time.Millisecond)
		}
		if w.state.Load() == waySlow {
			time.Sleep(50 * time.Millisecond)
		}
		if n > 0 {
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
		if err != nil {
			if err != io.EOF {
				from.Close()
			}
			return
		}
	}
}
