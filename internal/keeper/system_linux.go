package keeper

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/environ"
	"github.com/placectl/placectl/internal/gate"
	"github.com/placectl/placectl/internal/launch"
	"golang.org/x/sys/unix"
)

const (
	inPipe    = unix.TIOCINQ        // asks how many bytes wait in a pipe
	sinceBoot = unix.CLOCK_BOOTTIME // the clock that counts suspends
)

// ownUmask gives this thread a umask of its own. If it cannot, the thread shares that of the process.
func ownUmask() { unix.Unshare(unix.CLONE_FS) } //nolint:errcheck // as said

// bootID identifies the present boot of this host.
func bootID() (string, error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text)), err
}

// pidSpace identifies the space of process numbers that this process is in.
func pidSpace() (uint64, error) {
	var ns unix.Stat_t
	if err := unix.Stat("/proc/self/ns/pid", &ns); err != nil {
		return 0, &os.PathError{Op: "stat", Path: "/proc/self/ns/pid", Err: err}
	}
	return ns.Ino, nil
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

// limits returns the resource limits of the kernel. A limit above what this host allows is lowered.
func (p *plan) limits() (list []gate.Limit, err error) {
	if !slices.ContainsFunc(p.Limits, func(l engine.ResourceLimit) bool { return l.Name == "nofile" }) {
		var is unix.Rlimit
		// as it was when the keeper started
		if soft, err := launch.OpenFiles(); err == nil && unix.Getrlimit(unix.RLIMIT_NOFILE, &is) == nil {
			is.Cur = min(soft, is.Max)
			list = append(list, gate.Limit{Name: "nofile", ID: unix.RLIMIT_NOFILE, Rlimit: is})
		}
	}
	for _, l := range p.Limits {
		at := slices.IndexFunc(environ.ResourceLimits, func(r environ.ResourceLimit) bool { return r.Name == l.Name })
		if at < 0 {
			continue
		}
		id := environ.ResourceLimits[at].ID
		var is unix.Rlimit
		if err := unix.Prlimit(0, id, nil, &is); err != nil {
			return nil, fmt.Errorf("the limit %s: %w", l.Name, err)
		}
		want := unix.Rlimit{Cur: kernelLimit(l.Soft), Max: kernelLimit(l.Hard)}
		if os.Geteuid() != 0 {
			want.Max = min(want.Max, is.Max)
		}
		if want.Cur = min(want.Cur, want.Max); want != is { // unless it equals the gate's own limit
			list = append(list, gate.Limit{Name: l.Name, ID: id, Rlimit: want})
		}
	}
	return list, nil
}

// kernelLimit converts a limit for the kernel.
func kernelLimit(n uint64) uint64 {
	if n == engine.NoLimit {
		return unix.RLIM_INFINITY
	}
	return n
}
