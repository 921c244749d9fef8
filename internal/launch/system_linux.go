package launch

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// Itself returns a path of the file that this process was executed from, whatever has its name by now.
func Itself() string { return "/proc/self/exe" }

// Dup makes to a copy of fd that a program executed by this process inherits.
func Dup(fd, to int) error { return unix.Dup3(fd, to, 0) }

// KeepOpen keeps inherited descriptors to this process. Otherwise they would stay open for as long
// as the processes that we start.
func KeepOpen() {
	unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC) //nolint:errcheck // older kernels cannot
}

// endsWithUs has the kernel end a child when the thread that starts it ends.
func endsWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// UseAllCores lets this process run on every core.
func UseAllCores() {
	var all unix.CPUSet
	all.Fill()
	unix.SchedSetaffinity(0, &all) //nolint:errcheck // it keeps the cores it has
}
