package environ

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// limitOf reads a limit of a process of this user; 0 is this process.
func limitOf(pid, id int, is *unix.Rlimit) error { return unix.Prlimit(pid, id, nil, is) }

// Umask returns this process's umask.
func Umask() uint32 {
	status, _ := os.ReadFile("/proc/self/status") // the system call would change it for a moment
	_, text, _ := strings.Cut(string(status), "\nUmask:")
	text, _, _ = strings.Cut(text, "\n")
	mask, err := strconv.ParseUint(strings.TrimSpace(text), 8, 32)
	if err != nil {
		return 0o077
	}
	return uint32(mask)
}
