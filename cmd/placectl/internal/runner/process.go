package runner

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/placectl/placectl/store"
	"golang.org/x/sys/unix"
)

// Self returns this process, on a host of that name.
func Self(host string) (store.Process, error) {
	boot, err := bootID()
	if err != nil {
		return store.Process{}, err
	}
	var ns unix.Stat_t
	if err := unix.Stat("/proc/self/ns/pid", &ns); err != nil {
		return store.Process{}, &os.PathError{Op: "stat", Path: "/proc/self/ns/pid", Err: err}
	}
	s, err := statOf(os.Getpid())
	return store.Process{Host: host, Boot: boot, PIDNS: ns.Ino, PID: os.Getpid(), Born: s.born}, err
}

// bootID identifies the present boot of this host.
func bootID() (string, error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text)), err
}

// stat is the content of /proc/PID/stat.
type stat struct {
	state  byte
	parent int
	born   uint64 // in clock ticks since the host was started
	rss    int64  // pages
	exit   syscall.WaitStatus
}

// statOf reads a process. It fails with fs.ErrNotExist or ESRCH if there is none.
func statOf(pid int) (s stat, err error) {
	text, err := readProc("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return s, err
	}
	// The program's name stands in parentheses, and may contain parentheses itself.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 50 {
		return s, errors.New("/proc: a stat line is too short")
	}
	s.state = fields[0][0]
	s.parent, _ = strconv.Atoi(string(fields[1]))
	s.born, _ = strconv.ParseUint(string(fields[19]), 10, 64)
	s.rss, _ = strconv.ParseInt(string(fields[21]), 10, 64)
	exit, _ := strconv.ParseUint(string(fields[49]), 10, 32)
	s.exit = syscall.WaitStatus(exit)
	return s, nil
}

// readProc reads a file of /proc that fits into a page. It skips what os.ReadFile does for files that
// can be waited for, because each command that changes something looks at a process.
func readProc(path string) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	text := make([]byte, 4096)
	n, err := unix.Read(fd, text)
	if err != nil {
		return nil, &os.PathError{Op: "read", Path: path, Err: err}
	}
	return text[:n], nil
}

// life says whether a process lives.
type life int

const (
	dead    life = iota
	alive        // it runs
	unknown      // in another process namespace: its pid means nothing here
)

// lifeOf reports whether a process lives, as seen from another one. A zombie does not.
func lifeOf(p, from store.Process) life {
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
