package members

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// The states of the way to a member.
const (
	Open    = iota
	Slow    // what is sent comes late
	Blocked // what is sent comes when the way is open again
	Deaf    // what is sent comes, and answers come when the way is open again
	Cut     // connections are reset, and none is taken
)

// Pipe is what is between a machine and a member: a network that can be slow, lose what is under way, or let
// nothing pass, while the member itself works.
type Pipe struct {
	Host  string // the address at which the machine reaches the member
	state atomic.Int32

	listener net.Listener

	mu    sync.Mutex
	conns map[net.Conn]bool
}

// NewPipe makes a way to a member, until Close.
func NewPipe(host string) (*Pipe, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w := &Pipe{Host: l.Addr().String(), listener: l, conns: make(map[net.Conn]bool)}
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			go w.carry(from, host)
		}
	}()
	return w, nil
}

// Close ends the way.
func (w *Pipe) Close() {
	_ = w.listener.Close()
	w.Set(Cut)
}

// Set sets the state of the way.
func (w *Pipe) Set(state int32) {
	w.state.Store(state)
	if state != Cut {
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

// carry takes a connection to the member.
func (w *Pipe) carry(from net.Conn, host string) {
	to, err := net.Dial("tcp", host)
	if err != nil || w.state.Load() == Cut {
		from.Close()
		if err == nil {
			to.Close()
		}
		return
	}
	w.mu.Lock()
	w.conns[from], w.conns[to] = true, true
	w.mu.Unlock()
	go w.pass(to, from, Blocked, Blocked)
	w.pass(from, to, Blocked, Deaf)
}

// pass copies bytes in one direction until the connection ends, but for while the way is in one of two states.
func (w *Pipe) pass(to io.WriteCloser, from net.Conn, stop, or int32) {
	defer to.Close()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		for s := w.state.Load(); s == stop || s == or; s = w.state.Load() {
			time.Sleep(5 * time.Millisecond)
		}
		if w.state.Load() == Slow {
			time.Sleep(50 * time.Millisecond)
		}
		if n > 0 {
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
