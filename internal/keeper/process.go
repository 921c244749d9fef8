package keeper

import (
	"os"
	"syscall"

	"github.com/placectl/placectl/internal/engine"
)

// Self returns this process, on a host of that name.
func Self(host string) (engine.Process, error) {
	boot, err := bootID()
	if err != nil {
		return engine.Process{}, err
	}
	ns, err := pidSpace()
	if err != nil {
		return engine.Process{}, err
	}
	s, err := statOf(os.Getpid())
	return engine.Process{Host: host, Boot: boot, PIDNS: ns, PID: os.Getpid(), Born: s.born}, err
}

// stat is the content of /proc/PID/stat.
type stat struct {
	state  byte
	parent int
	born   uint64 // in clock ticks since the host was started
	rss    int64  // pages
	exit   syscall.WaitStatus
}

// life says whether a process lives.
type life int

const (
	dead    life = iota
	alive        // it runs
	unknown      // in another process namespace: its pid means nothing here
)

// lifeOf reports whether a process lives, as seen from another one. A zombie does not.
func lifeOf(p, from engine.Process) life {
	switch {
	case p.PID == 0 || p.Boot != from.Boot:
		return dead
	case p.PIDNS != from.PIDNS:
		return unknown
	}
	s, err := statOf(p.PID)
	if err != nil || s.born != p.Born || s.state == 'Z' || s.state == 'X' {
		return dead
	}
	return alive
}
